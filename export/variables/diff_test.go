package variables

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/export"
)

// diffed is a diff with every kind of change, and text that must not act on a terminal or in Markdown.
func diffed(t *testing.T) *diff.Diff {
	t.Helper()
	load := func() *catalog.Catalog {
		c, err := catalog.Load("../../fixtures/snapshots/openmpi-4.1.4.json")
		if err != nil {
			t.Fatal(err)
		}
		keep, err := (&catalog.Filter{Names: []string{"coll_tuned_bcast*", "coll_han_priority", "btl_vader_*limit", "btl_tcp_*buf", "pml_ob1_u*", "coll_monitoring_*"}}).Compile()
		if err != nil {
			t.Fatal(err)
		}
		return keep.Apply(c)
	}
	a, b := load(), load()
	b.Library.Text, b.Library.Standard = "Open MPI v5.0.0, package: x", "3.2"
	han := b.Cvar("coll_han_priority")
	han.Before.Value = catalog.NewValue(catalog.TypeInt, []byte{35, 0, 0, 0})
	han.Scope = catalog.ScopeAll
	b.Cvar("btl_vader_eager_limit").Name = "btl_sm_eager_limit"
	b.Cvar("pml_ob1_use_all_rdma").Name = "zz_`odd`|\x1b[31m*name*"
	b.Cvar("zz_`odd`|\x1b[31m*name*").Description = "nothing in common"
	tcp := b.Cvar("btl_tcp_sndbuf")
	tcp.Origin, tcp.Before.Value = &catalog.Origin{Kind: catalog.OriginEnvironment}, catalog.NewValue(catalog.TypeInt, []byte{1, 0, 0, 0})
	b.Cvar("btl_tcp_rcvbuf").Description = "reworded"
	e := b.Enum("coll_tuned_bcast_algorithms")
	e.Items = append(e.Items, catalog.Item{Value: 10, Name: "new_one"})
	b.Pvars = b.Pvars[1:]
	return diff.Compare(diff.Side{Name: "a.json", Catalog: a}, diff.Side{Name: "b.json", Catalog: b}, diff.Options{})
}

func TestDiffGolden(t *testing.T) {
	d := diffed(t)
	for name, x := range map[string]struct {
		format export.Format
		export.Terminal
	}{
		"diff_pipe": {"", pipe}, "diff_tty": {"", tty}, "diff_ascii": {"", ascii}, "diff_wide": {export.FormatWide, tty},
		"diff_markdown": {FormatMarkdown, pipe}, "diff_csv": {export.FormatCSV, pipe}, "diff_ndjson": {export.FormatNDJSON, pipe}, "diff_json": {export.FormatJSON, pipe},
	} {
		var b bytes.Buffer
		if err := Diff(&b, d, x.format, x.Terminal); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		golden(t, name, b.Bytes())
	}
}

// A value that MPI_Init changed is not a setting if nobody set it.
func TestDiffMarkdownValues(t *testing.T) {
	load := func(name string) diff.Side {
		c, err := catalog.Load("../../fixtures/snapshots/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return diff.Side{Name: name, Catalog: c}
	}
	var b bytes.Buffer
	if err := Diff(&b, diff.Compare(load("mpich-4.0.2.json"), load("mpich-5.0.2.json"), diff.Options{}), FormatMarkdown, pipe); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(b.String(), "## Changed values that nobody set")
	if strings.Contains(b.String(), "## Changed settings") || !strings.Contains(after, "| `MPIR_CVAR_ENABLE_GPU` |") {
		t.Error(b.String())
	}
}

// In a narrow terminal, no name, new value, list or reason is cut, and no line is too long. A new name begins a line.
func TestDiffNarrow(t *testing.T) {
	load := func(name string) diff.Side {
		c, err := catalog.Load("../../fixtures/snapshots/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return diff.Side{Name: name, Catalog: c}
	}
	d := diff.Compare(load("openmpi-4.1.4.json"), load("openmpi-5.0.7.json"), diff.Options{})
	for _, width := range []int{40, 50, 80, 160} {
		var b bytes.Buffer
		if err := Diff(&b, d, "", export.Terminal{Width: width, IsTTY: true, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); export.Width(line) > width {
				t.Errorf("width %d: %s", width, line)
			}
		}
		joined := strings.Join(strings.Fields(text), "")
		for i := range d.Items {
			it := &d.Items[i]
			want := []string{it.Name, it.NewName, it.Reason}
			for _, f := range it.Fields {
				if f.Name != "description" {
					want = append(want, f.B)
				}
				if diff.IsList(f.Name) {
					want = append(want, f.A)
				}
			}
			for _, w := range want {
				if !strings.Contains(joined, strings.Join(strings.Fields(w), "")) {
					t.Errorf("width %d: %s: no %q", width, it.Name, w)
				}
			}
		}
		if !strings.Contains(text, "\n            → io_romio341_") && width < 160 {
			t.Errorf("width %d: the new name does not begin a line", width)
		}
	}
}

// The document is JSON, and equal catalogs are said to be equal in every format.
func TestDiffSame(t *testing.T) {
	d := diffed(t)
	same := diff.Compare(d.Sides[0], d.Sides[0], diff.Options{})
	for _, f := range DiffFormats {
		var b bytes.Buffer
		if err := Diff(&b, same, f, pipe); err != nil {
			t.Fatal(err)
		}
		switch f {
		case export.FormatJSON:
			var x struct {
				Same    bool
				Changes []any
			}
			if err := json.Unmarshal(b.Bytes(), &x); err != nil || !x.Same || len(x.Changes) > 0 {
				t.Errorf("%s: %v\n%s", f, err, b.Bytes())
			}
		case export.FormatTable, export.FormatWide, FormatMarkdown:
			if !bytes.Contains(b.Bytes(), []byte("No differences in ")) {
				t.Errorf("%s:\n%s", f, b.Bytes())
			}
		}
	}
}

// At every width, new values and names are whole, no line is too long, and what both sides share is said once.
func TestDiffFitted(t *testing.T) {
	load := func(text string) *catalog.Catalog {
		c := &catalog.Catalog{Before: catalog.Stage{Read: true}}
		v := catalog.NewText(text)
		c.Cvars = []catalog.Variable{{Kind: catalog.Cvars, Name: "a_variable_with_a_long_name_of_many_words", Origin: &catalog.Origin{Kind: catalog.OriginLauncher},
			Before: &catalog.Reading{Status: catalog.StatusOK, Value: v}}}
		return c
	}
	d := diff.Compare(diff.Side{Catalog: load("a value that is so long that it has to be cut: 1")}, diff.Side{Catalog: load("a value that is so long that it has to be cut: 2")}, diff.Options{})
	for _, width := range []int{60, 80, 100, 240} {
		var b bytes.Buffer
		if err := Diff(&b, d, export.FormatTable, export.Terminal{Width: width, IsTTY: true, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for l := range strings.Lines(text) {
			if export.Width(strings.TrimSuffix(l, "\n")) > width {
				t.Errorf("%d: %q", width, l)
			}
		}
		words := strings.Join(strings.Fields(text), " ")
		if !strings.Contains(words, "a_variable_with_a_long_name_of_many_words") || !strings.Contains(words, "→ a value that is so long that it has to be cut: 2 (set in launcher)") ||
			!strings.Contains(words, ": 1 →") || strings.Count(words, "launcher") != 1 || !strings.Contains(words, d.Items[0].Reason) {
			t.Errorf("%d:\n%s", width, text)
		}
	}
}
