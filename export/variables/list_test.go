package variables

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"mpitx/catalog"
	"mpitx/export"
)

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// No control or format character from a library reaches a terminal in any format, no line exceeds the terminal's width, and nothing
// panics.
func TestTerminalIsSafe(t *testing.T) {
	for _, c := range []*catalog.Catalog{ordinary(), hostile(), {}} {
		for _, width := range []int{0, 1, 2, 3, 5, 8, 13, 20, 40, 80, 300} {
			for bits := range 4 {
				term := export.Terminal{Width: width, IsTTY: true, UTF8: bits&1 != 0, Color: bits&2 != 0}
				for _, f := range export.Formats {
					for _, tree := range []bool{false, true} {
						var b bytes.Buffer
						if err := List(&b, c, ListOptions{Format: f, Terminal: term, Tree: tree}); err != nil {
							t.Fatal(err)
						}
						checkSafe(t, fmt.Sprintf("list %s %+v tree=%v", f, term, tree), b.String(), term, f == export.FormatTable)
					}
					var b bytes.Buffer
					if err := Show(&b, c, everything(c), ShowOptions{Format: f, Terminal: term, HowToSet: howToSet}); err != nil {
						t.Fatal(err)
					}
					checkSafe(t, fmt.Sprintf("show %s %+v", f, term), b.String(), term, false)
				}
			}
		}
	}
}

func checkSafe(t *testing.T, what, s string, term export.Terminal, fits bool) {
	t.Helper()
	s = sgr.ReplaceAllString(s, "")
	for _, r := range s {
		if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("%s writes %U:\n%.2000s", what, r, s)
		}
	}
	if !fits || term.Width < 8 {
		return
	}
	for line := range strings.Lines(s) {
		if line = strings.TrimSuffix(line, "\n"); export.Width(line) > term.Width || strings.HasSuffix(line, " ") {
			t.Fatalf("%s: a line of %d cells: %q", what, export.Width(line), line)
		}
	}
}

func TestDataFormats(t *testing.T) {
	for _, c := range []*catalog.Catalog{ordinary(), hostile(), {}} {
		n := c.Count(catalog.AllKinds)
		for _, fields := range [][]*Field{nil, mustFields(strings.Join(FieldNames(), ","))} {
			write := func(f export.Format) []byte {
				var b bytes.Buffer
				if err := List(&b, c, ListOptions{Format: f, Fields: fields}); err != nil {
					t.Fatal(err)
				}
				return b.Bytes()
			}
			var doc struct {
				Schema                          string
				Version                         int
				Cvars, Pvars, Categories, Enums []map[string]any
				Events, Sources                 []map[string]any
			}
			if err := json.Unmarshal(write(export.FormatJSON), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Schema == "" || doc.Version == 0 || len(doc.Cvars)+len(doc.Pvars)+len(doc.Categories)+len(doc.Enums)+len(doc.Events)+len(doc.Sources) != n {
				t.Errorf("json has %q %d, %d cvars …", doc.Schema, doc.Version, len(doc.Cvars))
			}
			seen := 0
			for line := range bytes.Lines(write(export.FormatNDJSON)) {
				var object map[string]any
				if err := json.Unmarshal(line, &object); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if object["kind"] == nil {
					t.Errorf("no kind in %s", line)
				}
				seen++
			}
			if seen != n {
				t.Errorf("ndjson has %d lines for %d things", seen, n)
			}
			rows, err := csv.NewReader(bytes.NewReader(write(export.FormatCSV))).ReadAll()
			if err != nil || len(rows) != n+1 || rows[0][0] != "kind" {
				t.Errorf("csv has %d rows for %d things, %v", len(rows), n, err)
			}
			if got := bytes.Count(write(export.FormatNames), []byte("\n")); got != n {
				t.Errorf("names has %d lines for %d things", got, n)
			}
		}
	}
}

// Kinds that were not requested are left out of a document.
func TestKinds(t *testing.T) {
	var b bytes.Buffer
	if err := List(&b, ordinary(), ListOptions{Format: export.FormatNames, Kinds: catalog.Pvars | catalog.Enums}); err != nil {
		t.Fatal(err)
	}
	want := "mtl_psm2_rx\nonly_rank3\nosc_put_retry\npml_posted:level\npml_posted:highwatermark\nboolean\nbtl_flags\n"
	if b.String() != want {
		t.Errorf("names %q, want %q", b.String(), want)
	}
	for word, k := range map[string]catalog.Kind{"cvars": catalog.Cvars, "pvars": catalog.Pvars, "categories": catalog.Categories, "enums": catalog.Enums,
		"events": catalog.Events, "Source": catalog.Sources, "CVARS": catalog.Cvars, "pvar": catalog.Pvars, "Category": catalog.Categories} {
		if got, ok := catalog.ParseKind(word); got != k || !ok {
			t.Errorf("ParseKind(%q) = %v, %v", word, got, ok)
		}
	}
	for _, word := range []string{"", "cvarz"} {
		if k, ok := catalog.ParseKind(word); ok {
			t.Errorf("ParseKind(%q): %v", word, k)
		}
	}
}

func TestParseFields(t *testing.T) {
	fields, err := ParseFields(" name, VALUE ,name,,")
	if err != nil || len(fields) != 2 || fields[0].Name != "name" || fields[1].Name != "value" {
		t.Errorf("%v %v", fields, err)
	}
	for in, want := range map[string]string{
		"nmae":  `did you mean name?`,
		"desc":  `did you mean description?`,
		"xyzzy": `unknown field "xyzzy"; use kind, name,`,
		",":     "no fields given",
	} {
		if _, err := ParseFields(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseFields(%q): %v, want %s", in, err, want)
		}
	}
	for _, f := range Fields {
		if f.Header == "" || f.Doc == "" || f.Text == nil {
			t.Errorf("field %s lacks something", f.Name)
		}
	}
}

// Ranks without an answer belong to no group; rank 0 may be alone.
func TestRankGroups(t *testing.T) {
	c := &catalog.Catalog{Job: job(4)}
	c.Job.Ranks[2].Error = "timed out"
	v := cvar("x", catalog.TypeInt, nil, nil)
	if g := c.RankGroups(&v); g != nil {
		t.Errorf("groups of nothing: %v", g)
	}
	v.Ranks = []catalog.RankReading{on(1, ok(ints(catalog.TypeInt, 1))), on(3, ok(ints(catalog.TypeInt, 1)))}
	if got, want := ranksText(c, &v), "r0=does not exist; r1,3=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := differsText(c, &v), "2 of 3: r1,3=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEmptyMessage(t *testing.T) {
	mpich := &catalog.Catalog{Library: catalog.Library{Family: "mpich"}, After: catalog.Stage{Read: true}}
	for want, got := range map[string]string{
		"no performance variables: mpich has none":              EmptyMessage(mpich, catalog.Pvars),
		"no match: the filters exclude all 6 control variables": EmptyMessage(ordinary(), catalog.Cvars),
		"no variables, events, event sources, categories or enumerations: neither stage of this MPI library could be read": EmptyMessage(
			&catalog.Catalog{}, catalog.AllKinds),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// failing fails after some bytes.
type failing struct{ left int }

var errFull = errors.New("full")

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

func TestErrorsAreReturned(t *testing.T) {
	c := many(3000)
	for _, left := range []int{0, 100, 70000} {
		for _, f := range export.Formats {
			for _, tree := range []bool{false, true} {
				if err := List(&failing{left}, c, ListOptions{Format: f, Terminal: tty, Tree: tree}); left < 70000 && !errors.Is(err, errFull) {
					t.Errorf("list %s after %d: %v", f, left, err)
				}
			}
			if err := Show(&failing{left}, c, everything(c)[:50], ShowOptions{Format: f}); left == 0 && !errors.Is(err, errFull) {
				t.Errorf("show %s after %d: %v", f, left, err)
			}
			if err := Outcomes(&failing{}, c, make([]catalog.SameOutcome, 1), f, tty); !errors.Is(err, errFull) {
				t.Errorf("outcomes %s: %v", f, err)
			}
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{1300, 100000} {
		c := many(n)
		for _, f := range export.Formats {
			for name, term := range map[string]export.Terminal{"pipe": {UTF8: true}, "tty": color} {
				if name == "tty" && f != export.FormatTable {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%d", f, name, n), func(b *testing.B) {
					for b.Loop() {
						if err := List(io.Discard, c, ListOptions{Format: f, Kinds: catalog.Cvars, Terminal: term}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// A list of what was set says by what at every width: next to the value, or below the row.
func TestChangedSaysBy(t *testing.T) {
	c, err := catalog.Load("../../fixtures/snapshots/openmpi-4.1.4.json")
	if err != nil {
		t.Fatal(err)
	}
	c.Keep(catalog.AllKinds, func(e catalog.Entry) bool {
		v, ok := e.(*catalog.Variable)
		return ok && v.Origin != nil
	})
	for _, width := range []int{50, 80, 100, 120, 160} {
		var b strings.Builder
		if err := List(&b, c, ListOptions{Kinds: catalog.Cvars, Changed: true, Terminal: export.Terminal{Width: width, IsTTY: true, UTF8: true}}); err != nil {
			t.Fatal(err)
		}
		for i := range c.Cvars {
			for _, want := range []string{c.Cvars[i].Name, shortOrigin(c, &c.Cvars[i]), c.Cvars[i].Current().Value.String()} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("width %d: no %q:\n%s", width, want, b.String())
				}
			}
		}
		if len(c.Cvars) == 0 {
			t.Error("nothing is set")
		}
	}
}
