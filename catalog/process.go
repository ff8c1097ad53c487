package catalog

import (
	"crypto/sha256"
	"slices"
	"unsafe"
)

// Meta is the metadata that one process lists in one stage, which Table 14.1 requires to be equal in all processes. The
// variables have no readings, ranks, conflicts or origin.
type Meta struct {
	Library Library
	Lists
}

// Digest is equal for equal metadata. It excludes the library, whose path may differ between nodes.
func (m *Meta) Digest() [32]byte {
	var c coder
	c.meta(m)
	return sha256.Sum256(c.out)
}

// variable returns the variable of reading i.
func (m *Meta) variable(i int) *Variable {
	if i < len(m.Cvars) {
		return &m.Cvars[i]
	}
	return &m.Pvars[i-len(m.Cvars)]
}

// Process is the answer of one process in one stage.
type Process struct {
	Rank     int
	Host     string
	Error    string // why the answer is missing or partial
	Stage    Stage
	Meta     Meta
	Readings []Reading // of Meta.Cvars, then of Meta.Pvars
}

// Sort sorts the metadata, moves the readings with their variables, and drops duplicate members of categories. Diff and Merge
// require it.
func (p *Process) Sort() {
	n := len(p.Meta.Cvars)
	if len(p.Readings) == n+len(p.Meta.Pvars) {
		sortTogether(p.Meta.Cvars, p.Readings[:n])
		sortTogether(p.Meta.Pvars, p.Readings[n:])
	}
	for i := range p.Meta.Categories {
		k := &p.Meta.Categories[i]
		for _, members := range []*[]string{&k.Cvars, &k.Pvars, &k.Categories, &k.EventTypes} {
			*members = union(nil, *members)
		}
	}
	for k := range (AllKinds &^ Variables).Table() {
		k.list.sort(&p.Meta.Lists)
	}
	p.Meta.setKinds()
}

// sortTogether moves only the variables that change places, as they are large.
func sortTogether(vars []Variable, readings []Reading) {
	from := make([]int, len(vars)) // index of the variable that belongs here
	for i := range from {
		from[i] = i
	}
	slices.SortStableFunc(from, func(a, b int) int { return vars[a].compare(&vars[b]) })
	for start, at := range from {
		if at == start {
			continue
		}
		v, r := vars[start], readings[start]
		i := start
		for ; from[i] != start; i, from[i] = from[i], i {
			vars[i], readings[i] = vars[from[i]], readings[from[i]]
		}
		vars[i], readings[i] = v, r
		from[i] = i
	}
}

// Root is what rank 0 sends to all others, so that they answer with their differences only.
type Root struct {
	Read     bool // whether the root could read this stage
	Digest   [32]byte
	Library  Library
	Readings []Reading
}

// Root returns the message to the other ranks.
func (p *Process) Root() *Root {
	return &Root{Read: p.Stage.Read, Digest: p.Meta.Digest(), Library: p.Meta.Library, Readings: p.Readings}
}

// Delta is a rank's answer to Root: its differences from the root.
type Delta struct {
	Rank    int
	Host    string
	Error   string
	Stage   Stage
	Library *Library // nil: the same as the root's
	Changes []Change // the readings that differ from the root's
	Whole   *Process // set if the metadata differ from the root's; then only Rank is set besides
}

// Change is a reading that differs from the root's.
type Change struct {
	Index int // index in the root's Readings
	Reading
}

// Diff returns the differences of a process from the root.
func (r *Root) Diff(p *Process) *Delta {
	if p.Stage.Read != r.Read || len(p.Readings) != len(r.Readings) || p.Meta.Digest() != r.Digest {
		return &Delta{Rank: p.Rank, Whole: p}
	}
	d := &Delta{Rank: p.Rank, Host: p.Host, Error: p.Error, Stage: p.Stage}
	if p.Meta.Library != r.Library {
		d.Library = &p.Meta.Library
	}
	for i := range p.Readings {
		if p.Readings[i] != r.Readings[i] {
			d.Changes = append(d.Changes, Change{i, p.Readings[i]})
		}
	}
	return d
}

// AppendBinary appends the encoded message to b.
func (r *Root) AppendBinary(b []byte) []byte {
	return encode(b, wireRoot, func(c *coder) { c.root(r) })
}

// DecodeRoot decodes a message of Root.AppendBinary. The error is ErrDamaged. The result shares the memory of b, which must not
// change afterwards.
func DecodeRoot(b []byte) (*Root, error) {
	r := new(Root)
	return r, decodeOne(b, wireRoot, func(c *coder) { c.root(r) })
}

// AppendBinary appends the encoded message to b.
func (p *Process) AppendBinary(b []byte) []byte {
	return encode(b, wireProcess, func(c *coder) { c.process(p) })
}

// DecodeProcess decodes a message of Process.AppendBinary. The error is ErrDamaged. The result shares the memory of b, which must
// not change afterwards.
func DecodeProcess(b []byte) (*Process, error) {
	p := new(Process)
	return p, decodeOne(b, wireProcess, func(c *coder) { c.process(p) })
}

// AppendBinary appends the encoded message to b. Several messages may follow each other.
func (d *Delta) AppendBinary(b []byte) []byte {
	return encode(b, wireDelta, func(c *coder) { c.delta(d) })
}

// DecodeDeltas decodes messages of Delta.AppendBinary. With the error ErrDamaged it returns those before the damage. The result
// shares the memory of b, which must not change afterwards.
func DecodeDeltas(b []byte) ([]*Delta, error) {
	var all []*Delta
	for rest := shared(b); rest != ""; {
		d := new(Delta)
		var err error
		if rest, err = decodeMessage(rest, wireDelta, func(c *coder) { c.delta(d) }); err != nil {
			return all, err
		}
		all = append(all, d)
	}
	return all, nil
}

// shared returns b as a string without copying it.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func decodeOne(b []byte, kind byte, fields func(*coder)) error {
	rest, err := decodeMessage(shared(b), kind, fields)
	if err == nil && rest != "" {
		err = ErrDamaged
	}
	return err
}
