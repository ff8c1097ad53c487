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

// Limits of documents: far beyond real catalogs, and small enough that a hostile file does no harm.
const (
	MaxFileSize = 256 << 20 // bytes of a document
	maxDecoded  = 256 << 20 // bytes of all its lists when decoded
)

// Write writes a catalog as an indented JSON document (docs/schema.md) in a stable order, ending with a newline. Reading it
// returns an equal catalog, except that empty lists become nil.
//
// It fails if the catalog could not be read back: for a duplicate name, or a time outside of the years 0 to 9999.
func Write(w io.Writer, c *Catalog) error {
	doc := *c
	doc.Schema, doc.Version = SchemaName, SchemaVersion
	doc.sort()
	if err := doc.checkLists(); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	b, err := marshal(&doc)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	_, err = w.Write(appendLayout(make([]byte, 0, 2*len(b)), b))
	return err
}

// Read reads a document written by this or an older version. The error for a damaged, foreign or too new document is a
// *ReadError with the position; for a truncated one errors.Is(err, io.ErrUnexpectedEOF) holds. No input causes a panic or
// unbounded use of memory.
func Read(in io.Reader) (*Catalog, error) { return readLimited(in, MaxFileSize, maxDecoded) }

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

// Load reads a document from a file. A *ReadError has the file's name.
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

// errEmpty is a case of truncation.
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
		return fail(errors.New("too many elements: the document would take too much memory"))
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
	case !errors.Is(err, io.ErrUnexpectedEOF): // it may be another kind of document, or a newer one
		var header struct {
			Schema  string `json:"schema"`
			Version int    `json:"version"`
		}
		if json.Unmarshal(text, &header) == nil {
			err = cmp.Or(checkHeader(header.Schema, header.Version), err)
		}
	}
	if err == nil {
		c.setKinds()
		err = c.checkLists()
	}
	if err != nil {
		return fail(err)
	}
	c.sort()
	return c, nil
}

// checkHeader fails for a document that is not a catalog, and for one that this version would misread.
func checkHeader(schema string, version int) error {
	switch {
	case schema == "":
		return &problem{"", errors.New(`"schema" is missing`)}
	case schema != SchemaName:
		return &problem{"/schema", fmt.Errorf("the document is a %q, not a catalog (%q)", clip(schema), SchemaName)}
	case version < 1:
		return &problem{"", errors.New(`"version" is missing`)}
	case version > SchemaVersion:
		return &problem{"/version", fmt.Errorf("version %d was written by a newer mpitx; this one reads versions up to %d", version, SchemaVersion)}
	}
	return nil
}

func (c *Catalog) checkLists() error {
	for k := range AllKinds.Table() {
		if err := at("/"+k.Word, k.list.repeated(&c.Lists)); err != nil {
			return err
		}
	}
	if c.Job.Size < 0 || c.Job.Size > math.MaxInt32 {
		return &problem{"/job/size", fmt.Errorf("%d is out of range", c.Job.Size)}
	}
	return at("/job/ranks", unique(c.Job.Ranks, func(k *Rank) int { return k.Rank }))
}

// sort sorts the lists as the model promises. It works on copies if the order changes.
func (c *Catalog) sort() {
	for k := range AllKinds.Table() {
		k.list.sort(&c.Lists)
	}
	sortBy(&c.Job.Ranks, func(a, b *Rank) int { return cmp.Compare(a.Rank, b.Rank) })
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
