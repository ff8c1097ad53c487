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
	g := Grid{Cols: []Column{{Header: "A"}, {Header: ""}, {Header: "C"}, {Header: "D", Flex: true}}, Must: 1, Rows: rows}
	p := func() *Printer { return &Printer{Term: color, cut: true, Widths: []int{7, 2, -1, 30}} }
	headers := []string{"A", "", "C", "D"}
	var with, without bytes.Buffer
	if err := p().tablewriter(&with, headers, g.Rows); err != nil {
		t.Fatal(err)
	}
	if err := p().run(&without, headers, g.Rows); err != nil {
		t.Fatal(err)
	}
	if with.String() != without.String() {
		t.Error("tablewriter gives something else")
	}
}

// In a table with columns below the rows, a cell that must be whole is repeated there if it is cut; others are only cut.
func TestWholeBelow(t *testing.T) {
	r := Rows{Columns: []RowColumn{{Name: "name", Header: "NAME", MinWidth: 64}, {Name: "value", Header: "VALUE", Whole: "set"},
		{Name: "set", Header: "SET", AlwaysBelow: true, Label: "set: "}, {Name: "from", Header: "FROM", Below: true, Label: "from: "}},
		Rows: [][]any{{"a_long_name_of_a_variable", "^uct,openib,ofi", "file x:68", "here"}, {"other", "rc_verbs,ud_verbs", "", ""}}}
	for width, want := range map[int]string{
		40: "NAME                       VALUE\na_long_name_of_a_variable  ^uct,openib,…\n      value: ^uct,openib,ofi\n      from: here\n" +
			"      set: file x:68\nother                      rc_verbs,ud_…\n",
		60: "NAME                       VALUE              FROM\na_long_name_of_a_variable  ^uct,openib,ofi    here\n" +
			"      set: file x:68\nother                      rc_verbs,ud_verbs\n",
		0: "NAME                       VALUE              SET        FROM\na_long_name_of_a_variable  ^uct,openib,ofi    file x:68  here\n" +
			"other                      rc_verbs,ud_verbs\n",
	} {
		var b strings.Builder
		if err := r.Write(&b, "", Terminal{Width: width, UTF8: true}); err != nil || b.String() != want {
			t.Errorf("width %d: %v\n%s\nwant\n%s", width, err, b.String(), want)
		}
	}
}

func TestFit(t *testing.T) {
	cols := []Column{{Flex: true, Floor: 20, Soft: 64}, {}, {Flex: true, Floor: 10, Soft: 20}, {}, {Flex: true, Floor: 8}}
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
		if sum += Gap * (n - 1); sum > width && width > 0 {
			t.Fatalf("width %d: %v takes %d", width, widths, sum)
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
