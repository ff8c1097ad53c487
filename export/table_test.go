package export

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	var b bytes.Buffer
	rows := [][]string{{"libmpi.so.40", "yes", "a long reason that does not fit\x1b[2J"}, {"", "no"}, {"x", "", "", "too many"}, {"y", "no ", "why  "}, {"z", "3.5", "  "}}
	if err := Table(&b, Terminal{Width: 32, IsTTY: true, UTF8: true}, []string{"LIBRARY", "OK", "WHY"}, rows); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"LIBRARY       OK   WHY",
		"libmpi.so.40  yes  a long reaso…",
		"              no",
		"x",
		"y             no   why",
		"z             3.5",
		"",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

// Columns that do not fit next to the others go below the rows, uncut.
func TestBelow(t *testing.T) {
	r := &Rows{Columns: []RowColumn{{Header: "NAME"}, {Header: "SET", Optional: true, Below: true, Label: "set: "}, {Header: "WHAT FOR", Below: true}},
		Rows: [][]any{{"Title:", "", ""}, {"a", "in a file", "what it does, in many words\x1b[2J"}, {"b", "", "little"}}}
	for width, want := range map[int][]string{
		80: {"NAME    SET        WHAT FOR", "Title:", "a       in a file  what it does, in many words\\x1b[2J", "b                  little", ""},
		24: {"NAME", "Title:", "a", "      what it does, in", "      many words\\x1b[2J", "      set: in a file", "b", "      little", ""},
	} {
		var b bytes.Buffer
		if err := r.Write(&b, FormatTable, Terminal{Width: width, IsTTY: true}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(b.String(), "\n"); !slices.Equal(got, want) {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
	}
}

// Long tables, which bypass tablewriter, look like short ones.
func TestManyRows(t *testing.T) {
	rows := make([][]string, manyRows)
	for i := range rows {
		rows[i] = []string{strings.Repeat("x", i%7), "", strings.Repeat("漢 ", i%5), strings.Repeat("long ", i%30)}
	}
	g := grid{cols: []column{{header: "A"}, {header: ""}, {header: "C"}, {header: "D", flex: true}}, must: 1, rows: rows}
	p := func() *printer { return &printer{term: color, cut: true, widths: []int{7, 2, -1, 30}} }
	headers := []string{"A", "", "C", "D"}
	var with, without bytes.Buffer
	if err := p().tablewriter(&with, headers, g.rows); err != nil {
		t.Fatal(err)
	}
	if err := p().run(&without, headers, g.rows); err != nil {
		t.Fatal(err)
	}
	if with.String() != without.String() {
		t.Error("tablewriter gives something else")
	}
}
