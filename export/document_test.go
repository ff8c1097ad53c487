package export

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// pieces counts what is written to it, and fails from some write on.
type pieces struct {
	bytes.Buffer
	writes, most int
}

var errFull = errors.New("full")

func (p *pieces) Write(b []byte) (int, error) {
	if p.writes++; p.writes > p.most {
		return 0, errFull
	}
	return p.Buffer.Write(b)
}

// A long list is written in pieces, and nothing after an error of the writer.
func TestDocument(t *testing.T) {
	all := slices.Repeat([]string{strings.Repeat("x", 1000)}, 1000)
	write := func(w *pieces) error {
		d := &Document{W: w, B: []byte("{\n  \"version\": 1")}
		AddList(d, "none", []int{})
		AddList(d, "all", all)
		return d.End()
	}
	w := &pieces{most: 1000}
	want := "{\n  \"version\": 1,\n  \"none\": [],\n  \"all\": [\n    \"" + strings.Join(all, "\",\n    \"") + "\"\n  ]\n}\n"
	if err := write(w); err != nil || w.String() != want {
		t.Fatalf("%v; %d bytes, want %d", err, w.Len(), len(want))
	}
	if w.writes < 10 || w.writes > 100 {
		t.Errorf("%d bytes were written in %d pieces", w.Len(), w.writes)
	}
	w = &pieces{most: 3}
	if err := write(w); err != errFull || w.writes != 4 {
		t.Errorf("%v after %d writes", err, w.writes)
	}
}
