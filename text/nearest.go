package text

import (
	"cmp"
	"slices"
	"strings"
)

// DidYouMean returns the end of a message about a word that is not in names: "; did you mean A, B?". It returns "" if no name is near, for a
// glob, and for a word in names.
func DidYouMean(names []string, word string) string {
	if IsGlob(word) || slices.Contains(names, word) {
		return ""
	}
	if near := Nearest(names, word, 3); near != nil {
		return "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return ""
}

// Nearest returns at most n names similar to want, nearest first, ignoring case: names that contain it, names that are most of
// it, and names within an edit per four letters (a letter added, removed, changed, or two swapped). It returns nil if there are
// none.
func Nearest(names []string, want string, n int) []string {
	want = Lower(want)
	if want == "" || n <= 0 {
		return nil
	}
	var near []candidate
	most := 1 + len(want)/4
	d := distances{want: want}
	for _, name := range names {
		cost, ok := d.cost(Lower(name), most)
		if !ok {
			continue
		}
		c := candidate{name, cost}
		at, known := slices.BinarySearchFunc(near, c, candidate.compare)
		if known || at == n {
			continue
		}
		if len(near) == n {
			near = near[:n-1]
		}
		near = slices.Insert(near, at, c)
		if len(near) == n { // from now on only better names count
			most = min(most, near[n-1].cost/2)
		}
	}
	var out []string
	for _, c := range near {
		out = append(out, c.name)
	}
	return out
}

type candidate struct {
	name string
	cost int
}

func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
}

// distances computes edit distances to one word and reuses its rows.
type distances struct {
	want string
	rows [3][]int
}

// cost ranks a name: two points for an edit; for a part of the name three, and a little for the rest of it.
func (d *distances) cost(name string, most int) (int, bool) {
	if name == d.want {
		return 0, true
	}
	if hasPart(name, d.want) || len(name) >= 6 && 2*len(name) >= len(d.want) && strings.Contains(d.want, name) {
		diff := len(name) - len(d.want)
		return 3 + max(diff, -diff)/16, true
	}
	n, ok := d.edits(name, most)
	return 2 * n, ok
}

// hasPart reports whether a name contains a part. A part of few letters is in many names by chance: it must begin a word, and be a word
// if it has three.
func hasPart(name, part string) bool {
	if len(part) >= 5 || len(part) < 3 {
		return len(part) >= 5 && strings.Contains(name, part)
	}
	edge := func(k int) bool { return k < 0 || k >= len(name) || !isWord(name[k]) }
	for at := 0; ; at++ {
		k := strings.Index(name[at:], part)
		if k < 0 {
			return false
		}
		if at += k; edge(at-1) && (len(part) > 3 || edge(at+len(part))) {
			return true
		}
	}
}

func isWord(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80 }

// edits returns the number of edits between a name and the word, and false if it exceeds most. It computes only the diagonal band
// that can stay below most.
func (d *distances) edits(name string, most int) (int, bool) {
	a, b := name, d.want
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return 0, false
	}
	for i := range d.rows {
		if d.rows[i] == nil {
			d.rows[i] = make([]int, len(b)+1)
		}
	}
	older, old, row := d.rows[0], d.rows[1], d.rows[2]
	for j := range old {
		old[j] = j
	}
	const far = 1 << 20
	for i := 1; i <= len(a); i++ {
		lo, hi := max(1, i-most), min(len(b), i+most)
		row[lo-1] = far
		if lo == 1 {
			row[0] = i
		}
		best := row[lo-1]
		for j := lo; j <= hi; j++ {
			up := far
			if j < i+most {
				up = old[j]
			}
			c := old[j-1]
			if a[i-1] != b[j-1] {
				c = 1 + min(c, up, row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				c = min(c, older[j-2]+1)
			}
			row[j] = c
			best = min(best, c)
		}
		if best > most {
			return 0, false
		}
		older, old, row = old, row, older
	}
	return old[len(b)], old[len(b)] <= most
}
