package export

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
)

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// No control or format character from a library reaches a terminal in any format, no line exceeds the terminal's width, and nothing
// panics.
func TestTerminalIsSafe(t *testing.T) {
	for _, c := range []*catalog.Catalog{ordinary(), hostile(), {}} {
		for _, width := range []int{0, 1, 2, 3, 5, 8, 13, 20, 40, 80, 300} {
			for bits := range 4 {
				term := Terminal{Width: width, IsTTY: true, UTF8: bits&1 != 0, Color: bits&2 != 0}
				for _, f := range Formats {
					for _, tree := range []bool{false, true} {
						var b bytes.Buffer
						if err := List(&b, c, ListOptions{Format: f, Terminal: term, Tree: tree}); err != nil {
							t.Fatal(err)
						}
						checkSafe(t, fmt.Sprintf("list %s %+v tree=%v", f, term, tree), b.String(), term, f == FormatTable)
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

func checkSafe(t *testing.T, what, s string, term Terminal, fits bool) {
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
		if line = strings.TrimSuffix(line, "\n"); Width(line) > term.Width || strings.HasSuffix(line, " ") {
			t.Fatalf("%s: a line of %d cells: %q", what, Width(line), line)
		}
	}
}

func TestDataFormats(t *testing.T) {
	for _, c := range []*catalog.Catalog{ordinary(), hostile(), {}} {
		n := c.Count(catalog.AllKinds)
		for _, fields := range [][]*Field{nil, mustFields(strings.Join(FieldNames(), ","))} {
			write := func(f Format) []byte {
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
			if err := json.Unmarshal(write(FormatJSON), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Schema == "" || doc.Version == 0 || len(doc.Cvars)+len(doc.Pvars)+len(doc.Categories)+len(doc.Enums)+len(doc.Events)+len(doc.Sources) != n {
				t.Errorf("json has %q %d, %d cvars …", doc.Schema, doc.Version, len(doc.Cvars))
			}
			seen := 0
			for line := range bytes.Lines(write(FormatNDJSON)) {
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
			rows, err := csv.NewReader(bytes.NewReader(write(FormatCSV))).ReadAll()
			if err != nil || len(rows) != n+1 || rows[0][0] != "kind" {
				t.Errorf("csv has %d rows for %d things, %v", len(rows), n, err)
			}
			if got := bytes.Count(write(FormatNames), []byte("\n")); got != n {
				t.Errorf("names has %d lines for %d things", got, n)
			}
		}
	}
}

// Kinds that were not requested are left out of a document.
func TestKinds(t *testing.T) {
	var b bytes.Buffer
	if err := List(&b, ordinary(), ListOptions{Format: FormatNames, Kinds: catalog.Pvars | catalog.Enums}); err != nil {
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

func TestParseFormat(t *testing.T) {
	for _, f := range Formats {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s: %v %v", f, got, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "ndjson") {
		t.Error(err)
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

func TestFit(t *testing.T) {
	cols := []column{{flex: true, floor: 20, soft: 64}, {}, {flex: true, floor: 10, soft: 20}, {}, {flex: true, floor: 8}}
	natural := []int{30, 3, 500, 12, 40}
	for width := range 400 {
		widths := fit(cols, natural, 3, width)
		sum, n := 0, 0
		for i, w := range widths {
			if w >= 0 {
				sum += w
				n++
			}
			if w > natural[i] {
				t.Fatalf("width %d: %v is wider than needed", width, widths)
			}
		}
		if sum += gap * (n - 1); sum > width && width > 0 {
			t.Fatalf("width %d: %v takes %d", width, widths, sum)
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
		for _, f := range Formats {
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
		for _, f := range Formats {
			for name, term := range map[string]Terminal{"pipe": {UTF8: true}, "tty": color} {
				if name == "tty" && f != FormatTable {
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
