package catalog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of what is read: beyond any real catalog, and small enough that a hostile file does no harm.
const (
	maxFileSize = 256 << 20 // bytes of a document
	maxDecoded  = 256 << 20 // bytes of all lists in it, as decoded
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
	b, err := marshal(&doc)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	_, err = w.Write(appendLayout(make([]byte, 0, 2*len(b)), b))
	return err
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
	return decode(b.Bytes(), budget)
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

func decode(doc []byte, budget int) (*Catalog, error) {
	text := bytes.TrimPrefix(doc, []byte("\ufeff"))
	fail := func(err error) (*Catalog, error) { return nil, newReadError(doc, len(doc)-len(text), err) }
	if len(bytes.TrimSpace(text)) == 0 {
		return fail(&jsontext.SyntacticError{ByteOffset: int64(len(text)), Err: errEmpty})
	}
	if size := bytes.Count(text, []byte("{"))*int(reflect.TypeFor[Variable]().Size()) + bytes.Count(text, []byte(","))*24; size > budget {
		return fail(errors.New("too many elements: this document would take too much memory"))
	}
	c := new(Catalog)
	err := json.Unmarshal(text, c)
	if err != nil {
		c = new(Catalog)
		err = json.Unmarshal(text, c, unmarshalBytes)
	}
	switch {
	case err == nil:
		err = checkHeader(c.Schema, c.Version)
	case !errors.Is(err, io.ErrUnexpectedEOF): // it may be another document, or a newer one
		var header struct {
			Schema  string `json:"schema"`
			Version int    `json:"version"`
		}
		if json.Unmarshal(text, &header) == nil {
			err = cmp.Or(checkHeader(header.Schema, header.Version), err)
		}
	}
	if err == nil {
		err = c.checkLists()
	}
	if err != nil {
		return fail(err)
	}
	setKind(c.Cvars, Cvar)
	setKind(c.Pvars, Pvar)
	setKind(c.Virtual, Virtual)
	c.sort()
	return c, nil
}

// checkHeader fails for what is not a catalog, and for one that this version would misread.
func checkHeader(schema string, version int) error {
	switch {
	case schema == "":
		return &problem{"", errors.New(`"schema" is missing`)}
	case schema != SchemaName:
		return &problem{"/schema", fmt.Errorf("this is a %q, not a catalog (%q)", clip(schema), SchemaName)}
	case version < 1:
		return &problem{"", errors.New(`"version" is missing`)}
	case version > SchemaVersion:
		return &problem{"/version", fmt.Errorf("version %d was written by a newer mpitx; this one reads up to version %d", version, SchemaVersion)}
	}
	return nil
}

func (c *Catalog) checkLists() error {
	name := func(v *Variable) string { return v.Name }
	for at, err := range map[jsontext.Pointer]error{
		"/cvars":      unique(c.Cvars, name),
		"/pvars":      unique(c.Pvars, func(v *Variable) string { return v.Name + ":" + v.Class.String() }),
		"/virtual":    unique(c.Virtual, name),
		"/categories": unique(c.Categories, func(k *Category) string { return k.Name }),
		"/enums":      unique(c.Enums, func(e *Enum) string { return e.Name }),
		"/job/ranks":  unique(c.Job.Ranks, func(k *Rank) int { return k.Rank }),
	} {
		if err != nil {
			var p *problem
			errors.As(err, &p)
			return &problem{at + p.at, p.err}
		}
	}
	if c.Job.Size < 0 || c.Job.Size > math.MaxInt32 {
		return &problem{"/job/size", fmt.Errorf("%d is out of range", c.Job.Size)}
	}
	return nil
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
