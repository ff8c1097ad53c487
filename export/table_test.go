package export

import (
	"bytes"
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
