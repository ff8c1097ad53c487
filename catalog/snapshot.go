package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Write writes a catalog as a JSON document (docs/schema.md): indented, in a stable order, ending with a newline. Writing
// and reading give an equal catalog; only empty lists become nil.
//
// It fails where the catalog could not be read back: a name that occurs twice, a time outside of the years 0 to 9999.
func Write(w io.Writer, c *Catalog) error {
	doc := *c
	doc.Schema, doc.Version = SchemaName, SchemaVersion
	doc.sort()
	if err := doc.checkUnique(); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	out := writer{to: w, buf: make([]byte, 0, spillSize+spillSize/4)}
	catalogSchema.write(&out, &doc)
	if out.err != nil {
		return fmt.Errorf("snapshot: %w", out.err)
	}
	out.buf = append(out.buf, '\n')
	out.flush()
	return out.lost
}

// Read reads a document that Write wrote, this version's or an older one's. The error of a damaged, foreign or too new
// document is a *ReadError with the position; of a truncated one errors.Is tells io.ErrUnexpectedEOF. No input makes it
// panic, or use memory without bound.
func Read(in io.Reader) (*Catalog, error) { return readLimited(in, maxFileSize, maxDecoded) }

func readLimited(in io.Reader, size int64, budget int) (*Catalog, error) {
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(in, size+1))
	switch {
	case err != nil:
		return nil, err
	case n > size:
		return nil, &ReadError{Line: 1, Column: 1, Err: fmt.Errorf("the file is larger than %d MiB", size>>20)}
	}
	return decode(b.String(), budget)
}

// Load reads the document in a file. A *ReadError has the file's name.
func Load(path string) (*Catalog, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := Read(f)
	var re *ReadError
	if errors.As(err, &re) {
		re.File = path
	}
	return c, err
}

// errEmpty is a kind of truncation.
var errEmpty error = emptyError{}

type emptyError struct{}

func (emptyError) Error() string { return "the file is empty" }
func (emptyError) Unwrap() error { return io.ErrUnexpectedEOF }

func decode(s string, budget int) (*Catalog, error) {
	r := &reader{s: s, budget: budget, block: &strings.Builder{}}
	if len(s) >= 3 && s[:3] == "\ufeff" {
		r.pos = 3
	}
	if r.peek(); r.pos == len(s) {
		r.fail(len(s), errEmpty)
	}
	c := new(Catalog)
	catalogSchema.read(r, c)
	if r.peek(); r.err == nil && r.pos < len(s) {
		r.failf(r.pos, "more text behind the end of the document")
	}
	if r.err != nil {
		return nil, r.err
	}
	c.sort()
	return c, nil
}

// sort puts everything in the order the model promises. It works on copies where something has to move.
func (c *Catalog) sort() {
	sortBy(&c.Cvars, compareVariables)
	sortBy(&c.Pvars, compareVariables)
	sortBy(&c.Virtual, compareVariables)
	sortBy(&c.Categories, func(a, b *Category) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(&c.Enums, func(a, b *Enum) int { return cmp.Compare(a.Name, b.Name) })
	sortBy(&c.Job.Ranks, func(a, b *Rank) int { return cmp.Compare(a.Rank, b.Rank) })
}

func compareVariables(a, b *Variable) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Class, b.Class))
}

func sortBy[E any](s *[]E, compare func(a, b *E) int) {
	by := func(a, b E) int { return compare(&a, &b) }
	for i := 1; i < len(*s); i++ {
		if compare(&(*s)[i-1], &(*s)[i]) > 0 {
			sorted := slices.Clone(*s)
			slices.SortStableFunc(sorted, by)
			*s = sorted
			return
		}
	}
}

// checkUnique says which name a sorted catalog has twice.
func (c *Catalog) checkUnique() error {
	twice := func(what, name string) error { return fmt.Errorf("there are two %s named %q", what, name) }
	for what, vars := range map[string][]Variable{"control variables": c.Cvars, "performance variables": c.Pvars} {
		for i := 1; i < len(vars); i++ {
			if compareVariables(&vars[i-1], &vars[i]) == 0 {
				return twice(what, vars[i].Name)
			}
		}
	}
	for i := 1; i < len(c.Categories); i++ {
		if c.Categories[i].Name == c.Categories[i-1].Name {
			return twice("categories", c.Categories[i].Name)
		}
	}
	for i := 1; i < len(c.Enums); i++ {
		if c.Enums[i].Name == c.Enums[i-1].Name {
			return twice("enumerations", c.Enums[i].Name)
		}
	}
	for i := 1; i < len(c.Job.Ranks); i++ {
		if c.Job.Ranks[i].Rank == c.Job.Ranks[i-1].Rank {
			return fmt.Errorf("there are two ranks %d", c.Job.Ranks[i].Rank)
		}
	}
	return nil
}
