package decision

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Write writes rules in a form that the library reads. Rules have ranges of ranks and of bytes, as the library counts them
// ([Library.Counted]; [Total] of MPICH's functions without a size of their own); of rules that match the same call the first counts, and the library
// decides where none does. The file has a comment where the form has comments.
func (l *Library) Write(rules []*Rule, form Form, comment string) ([]byte, error) {
	switch form {
	case Classic:
		return l.writeClassic(rules, comment)
	case JSON:
		return l.writeJSON(rules)
	case Selection:
		return l.writeSelection(rules)
	}
	return nil, fmt.Errorf("no such form: %q", form)
}

// Reads reports whether the library reads files of a form.
func (l *Library) Reads(form Form) bool {
	switch form {
	case Classic:
		return l.Family == "openmpi"
	case JSON:
		return l.Family == "openmpi" && l.since(6)
	}
	return l.Family == "mpich"
}

// cell are the rules of one range of ranks, made disjoint and complete.
type cell struct {
	ranks Range
	rules []*Rule // by bytes; Number 0 between those that were given
}

// cells cuts the rules of a function at each bound that one of them has.
func cells(rules []*Rule, q Quantity) (all []cell) {
	for _, ranks := range cut(rules, Ranks) {
		c := cell{ranks: ranks}
		for _, size := range cut(rules, q) {
			k := slices.IndexFunc(rules, func(r *Rule) bool { return r.Of[Ranks].Has(ranks.Min) && r.Of[q].Has(size.Min) })
			one := newRule(0, rules[0].Function)
			if k >= 0 {
				*one = *rules[k]
			}
			one.Of[q] = size
			if n := len(c.rules); n > 0 && c.rules[n-1].does(one) {
				c.rules[n-1].Of[q].Max = size.Max
				continue
			}
			c.rules = append(c.rules, one)
		}
		if n := len(all); n > 0 && slices.EqualFunc(all[n-1].rules, c.rules, func(a, b *Rule) bool { return a.Of[q] == b.Of[q] && a.does(b) }) {
			all[n-1].ranks.Max = ranks.Max
			continue
		}
		all = append(all, c)
	}
	return all
}

// does reports whether two rules have the same effect.
func (r *Rule) does(o *Rule) bool {
	return r.Number == o.Number && r.Algorithm == o.Algorithm && r.Fanout == o.Fanout && r.Segment == o.Segment && r.Requests == o.Requests &&
		slices.Equal(r.Parameters, o.Parameters)
}

// cut are the ranges between all bounds of the rules.
func cut(rules []*Rule, q Quantity) (ranges []Range) {
	from := []int64{0}
	for _, r := range rules {
		from = append(from, max(r.Of[q].Min, 0))
		if r.Of[q].Max < math.MaxInt64 {
			from = append(from, r.Of[q].Max+1)
		}
	}
	slices.Sort(from)
	from = slices.Compact(from)
	for k, n := range from {
		to := int64(math.MaxInt64)
		if k+1 < len(from) {
			to = from[k+1] - 1
		}
		ranges = append(ranges, Range{n, to})
	}
	return ranges
}

// byFunction are the rules of each function, in the order of the operations' names.
func byFunction(rules []*Rule) (all [][]*Rule) {
	sorted := slices.Clone(rules)
	slices.SortStableFunc(sorted, func(a, b *Rule) int { return cmp.Compare(key(a.Function), key(b.Function)) })
	for _, r := range sorted {
		if n := len(all); n > 0 && all[n-1][0].Function == r.Function {
			all[n-1] = append(all[n-1], r)
			continue
		}
		all = append(all, []*Rule{r})
	}
	return all
}

func checkTuned(rules []*Rule) error {
	for _, r := range rules {
		if !slices.Contains(tuned, key(r.Function)) {
			return fmt.Errorf("coll tuned has no algorithms of %s", r.Function)
		}
		if r.Number < 0 || len(r.Needs) > 0 || r.Of[Bytes].Empty() || r.Of[Ranks].Empty() {
			return fmt.Errorf("a rule of %s cannot be written", r.Function)
		}
	}
	return nil
}

func (l *Library) writeClassic(rules []*Rule, comment string) ([]byte, error) {
	if err := checkTuned(rules); err != nil {
		return nil, err
	}
	requests := slices.ContainsFunc(rules, func(r *Rule) bool { return r.Requests > 0 })
	if requests && !l.hasVersionLine() {
		return nil, fmt.Errorf("%s reads no numbers of requests in rules", l.Text())
	}
	var b strings.Builder
	if requests {
		b.WriteString("rule-file-version-2\n")
	}
	for line := range strings.Lines(comment) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	all := byFunction(rules)
	fmt.Fprintf(&b, "%d # collectives\n", len(all))
	for _, of := range all {
		cells := cells(of, Bytes)
		fmt.Fprintf(&b, "%d # %s\n%d # sizes of communicators\n", slices.Index(collectives, key(of[0].Function)), of[0].Function, len(cells))
		for k, c := range cells {
			size := c.ranks.Min
			if l.since(6) && k+1 < len(cells) { // see blocks
				size = c.ranks.Max + 1
			}
			fmt.Fprintf(&b, "%d %d # serves %s ranks; sizes: %s\n", size, len(c.rules), c.ranks, countedAs(key(of[0].Function)))
			for _, r := range c.rules {
				fmt.Fprintf(&b, "%d %d %d %d", r.Of[Bytes].Min, r.Number, r.Fanout, r.Segment)
				if r.Requests > 0 {
					fmt.Fprintf(&b, " %d", r.Requests)
				}
				name := "as without a file"
				if names := l.Algorithms[key(r.Function)]; r.Number > 0 && r.Number < len(names) {
					name = names[r.Number]
				}
				fmt.Fprintf(&b, " # %s\n", name)
			}
		}
	}
	return []byte(b.String()), nil
}

func (l *Library) writeJSON(rules []*Rule) ([]byte, error) {
	if err := checkTuned(rules); err != nil {
		return nil, err
	}
	if !l.Reads(JSON) {
		return nil, fmt.Errorf("%s does not read rules in JSON: Open MPI 6.0 does", l.Text())
	}
	type message struct {
		Min      int64  `json:"msg_size_min"`
		Max      *int64 `json:"msg_size_max,omitempty"`
		Alg      any    `json:"alg"`
		Fanout   int    `json:"faninout,omitempty"`
		Segment  int64  `json:"seg_size,omitempty"`
		Requests int    `json:"reqs,omitempty"`
	}
	type communicator struct {
		Min   int64     `json:"comm_size_min"`
		Max   *int64    `json:"comm_size_max,omitempty"`
		Rules []message `json:"rules"`
	}
	upTo := func(r Range) *int64 {
		if r.Max == math.MaxInt64 {
			return nil
		}
		return &r.Max
	}
	collectives := map[string][]communicator{}
	for _, of := range byFunction(rules) {
		operation := key(of[0].Function)
		for _, c := range cells(of, Bytes) {
			one := communicator{c.ranks.Min, upTo(c.ranks), []message{}}
			for _, r := range c.rules {
				if r.Number == 0 {
					continue
				}
				m := message{r.Of[Bytes].Min, upTo(r.Of[Bytes]), r.Number, r.Fanout, r.Segment, r.Requests}
				if names := l.Algorithms[operation]; r.Number < len(names) {
					m.Alg = names[r.Number]
				}
				one.Rules = append(one.Rules, m)
			}
			if len(one.Rules) > 0 {
				collectives[operation] = append(collectives[operation], one)
			}
		}
	}
	text, err := json.MarshalIndent(map[string]any{"collectives": collectives}, "", "  ")
	return append(text, '\n'), err
}

// SizeOf is the quantity that rules of MPICH compare for a function: avg_msg_size is Bytes, total_msg_size is Total; ok is false if it has none.
func SizeOf(function string) (q Quantity, ok bool) {
	operation := strings.TrimPrefix(key(function), "i")
	switch {
	case slices.Contains(strings.Fields(defined["avg_msg_size"]), operation):
		return Bytes, true
	case slices.Contains(strings.Fields(defined["total_msg_size"]), operation):
		return Total, true
	}
	return Bytes, false
}

// writeSelection puts the rules before what the library has built in: a file that lacks a collective makes MPICH abort.
func (l *Library) writeSelection(rules []*Rule) ([]byte, error) {
	root, _, ok := parseJSON(l.Default, true)
	if !ok || root.kind != '{' {
		return nil, fmt.Errorf("the selection that is built into %s is unknown, and a file must have all collectives", l.Text())
	}
	for _, of := range byFunction(rules) {
		operation := key(of[0].Function)
		k := slices.Index(root.keys, "collective="+operation)
		if k < 0 {
			return nil, fmt.Errorf("%s selects no algorithms of %s", l.Text(), of[0].Function)
		}
		kinds := root.members[k]
		own := slices.Index(kinds.keys, "comm_type=intra")
		if own < 0 { // the same for all communicators
			kinds = &node{kind: '{', keys: []string{"comm_type=intra", "comm_type=inter"}, members: []*node{kinds, kinds}}
			root.members[k], own = kinds, 0
		}
		q, sized := SizeOf(of[0].Function)
		of, without := slices.Clone(of), kinds.members[own].strict()
		for i, r := range of {
			if r.Algorithm == "" || len(r.Needs) > 0 {
				return nil, fmt.Errorf("a rule of %s cannot be written", r.Function)
			}
			of[i] = &Rule{}
			*of[i] = *r
			if q == Total && r.Of[Total] == All {
				of[i].Of[Total] = r.Of[Bytes]
			}
		}
		var sizes []*node
		var names []string
		for _, c := range cells(of, q) {
			name, below := map[Quantity]string{Bytes: "avg_msg_size", Total: "total_msg_size"}[q], &node{kind: '{'}
			for _, r := range c.rules {
				leaf := without
				if r.Algorithm != "" {
					leaf = &node{kind: '{', keys: []string{"algorithm=" + r.Algorithm}, members: []*node{parametersOf(r)}}
				}
				if !sized || len(c.rules) == 1 {
					below = leaf
					break
				}
				below.keys, below.members = append(below.keys, bound(name, r.Of[q])), append(below.members, leaf)
			}
			names, sizes = append(names, bound("comm_size", c.ranks)), append(sizes, below)
		}
		kinds.members[own] = &node{kind: '{', keys: names, members: sizes}
		if len(names) == 1 {
			kinds.members[own] = sizes[0]
		}
	}
	var b strings.Builder
	root.write(&b, "")
	b.WriteString("\n")
	return []byte(b.String()), nil
}

// strict writes comm_size<N as comm_size<=M, which means the same at each place of a tree (see compare).
func (n *node) strict() *node {
	copied := *n
	copied.keys, copied.members = slices.Clone(n.keys), slices.Clone(n.members)
	for k, name := range n.keys {
		var size int
		if _, err := fmt.Sscanf(squeeze(name), "comm_size<%d", &size); err == nil {
			copied.keys[k] = fmt.Sprint("comm_size<=", size-1)
		}
		copied.members[k] = n.members[k].strict()
	}
	return &copied
}

func parametersOf(r *Rule) *node {
	n := &node{kind: '{'}
	for _, p := range r.Parameters {
		n.keys, n.members = append(n.keys, p), append(n.members, &node{kind: '{'})
	}
	return n
}

func bound(name string, r Range) string {
	if r.Max == math.MaxInt64 {
		return name + "=any"
	}
	return fmt.Sprint(name, "<=", r.Max)
}

// write writes an object of objects.
func (n *node) write(b *strings.Builder, indent string) {
	b.WriteString("{")
	for k, name := range n.keys {
		if k > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n%s  %q: ", indent, name)
		n.members[k].write(b, indent+"  ")
	}
	if len(n.keys) > 0 {
		b.WriteString("\n" + indent)
	}
	b.WriteString("}")
}
