package diff

import (
	"slices"
	"strings"
	"unicode"

	"mpitx/catalog"
)

// Words are compared by their hashes.

func hashOf(salt uint64) uint64 { return 14695981039346656037 ^ salt*0x9e3779b97f4a7c15 }

func mix(h, x uint64) uint64 {
	h = (h ^ x) * 1099511628211
	return h ^ h>>29
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := hashOf(0)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mostWords bounds the words of a name. Real names have up to ten.
const mostWords = 40

// wordsOf are the hashes of the words of a text, which consist of letters and digits, in lower case.
func wordsOf(text string) (words []uint64) {
	words = make([]uint64, 0, 1+strings.Count(text, "_")+strings.Count(text, " "))
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words = append(words, hash(w))
	}
	return words
}

// describe notes what the entry says about itself: an enumeration its items.
func (x *entry) describe() {
	text := ""
	switch e := x.Entry.(type) {
	case *catalog.Variable:
		text, x.form = e.Description, int(e.Type)
	case *catalog.Event:
		text, x.form = e.Description, int(e.Bind)
	case *catalog.Source:
		text = e.Description
	case *catalog.Category:
		text = e.Description
	case *catalog.Enum:
		text = strings.Join(items(e), ", ")
	}
	if text == "" {
		return
	}
	x.text = mix(hashOf(4), hash(text))
	x.textWords = wordsOf(text)
	slices.Sort(x.textWords)
	x.textWords = slices.Compact(x.textWords)
}

// groups counts the entries by the first words of their names, such as the component "btl_vader".
type groups struct {
	exists [2]map[uint64]bool // of all entries
	only   [2]map[uint64]int  // of the entries that one side has
	votes  map[[2]uint64]int  // pairs that suggest that a group has a new name
}

func newGroups(only, all [2][]*entry, pairs []pair) *groups {
	g := &groups{votes: map[[2]uint64]int{}}
	for s := range only {
		g.exists[s], g.only[s] = map[uint64]bool{}, map[uint64]int{}
		for _, x := range only[s] {
			for _, group := range groupsOf(x.words) {
				g.only[s][group]++
			}
		}
		for _, x := range all[s] {
			for _, group := range groupsOf(x.words) {
				g.exists[s][group] = true
			}
		}
	}
	for i := range pairs {
		if from, to, ok := replaced(pairs[i].a.words, pairs[i].b.words); ok {
			g.votes[[2]uint64{from, to}]++
		}
	}
	return g
}

// groupsOf are the hashes of the first word of a name, its first two words, and so on, without the whole name.
func groupsOf(words []uint64) []uint64 {
	all := make([]uint64, 0, len(words))
	h := hashOf(5)
	for i := 0; i < len(words)-1; i++ {
		h = mix(h, words[i])
		all = append(all, h)
	}
	return all
}

// replaced returns the groups of two names that differ in one word which is not the last: btl_vader and btl_sm.
func replaced(a, b []uint64) (from, to uint64, ok bool) {
	if len(a) != len(b) {
		return 0, 0, false
	}
	at := -1
	for i := range a {
		if a[i] != b[i] {
			if at >= 0 {
				return 0, 0, false
			}
			at = i
		}
	}
	if at < 0 || at == len(a)-1 {
		return 0, 0, false
	}
	h := hashOf(5)
	for _, w := range a[:at] {
		h = mix(h, w)
	}
	return mix(h, a[at]), mix(h, b[at]), true
}

// score is the likelihood that two entries are the same, 0 to 1, by description, name and type. Exchanging the two changes nothing.
func (g *groups) score(p *pair, alone map[uint64]bool) float64 {
	a, b := p.a, p.b
	if a.name == b.name { // of performance variables, only the class changed
		return 1
	}
	name := inOrder(a.words, b.words)
	if from, to, ok := replaced(a.words, b.words); ok {
		n := g.only[0][from] + g.only[1][to]
		switch {
		case g.exists[0][to] && g.exists[1][from]: // both groups stay, so they are different things
			return 0
		case n > 4: // components have many variables; one that got a new name keeps most of them
			if g.exists[0][to] || g.exists[1][from] { // it still exists, or existed before
				return 0
			}
			support := min(1, 2*float64(g.votes[[2]uint64{from, to}])/float64(n))
			if support < 0.5 {
				return 0
			}
			name = (name + support) / 2
		}
	}
	alike := 0.3
	if a.form == b.form {
		alike = 1
	}
	score := 0.40*name + 0.15*alike
	if score+0.45 < leastConfident {
		return 0
	}
	switch {
	case a.text == 0 && b.text == 0: // nothing is said
		return score + 0.45*0.4
	case a.text == b.text && alone[a.text]:
		return score + 0.45
	case a.text == b.text:
		return score + 0.45*0.75
	}
	return score + 0.45*shared(a.textWords, b.textWords)
}

// shared is the part of the words of two sorted sets that both have.
func shared(a, b []uint64) float64 {
	both, total := 0, len(a)+len(b)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			both++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return float64(both) / float64(max(total-both, 1))
}

// inOrder is the part of the words of two names that both have in the same order.
func inOrder(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	var space [32]int
	row := space[:] // of the longest common subsequence
	if len(b) >= len(row) {
		row = make([]int, len(b)+1)
	}
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return 2 * float64(row[len(b)]) / float64(len(a)+len(b))
}
