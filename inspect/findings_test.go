package inspect

import (
	"strings"
	"testing"
)

func TestFindings(t *testing.T) {
	var n findings
	for k := range 20 {
		n.at("control variable", 100+2*k, "get_info: MPI_ERR_ARG")
	}
	n.at("control variable", 7, "crashes in get_info (SIGSEGV)")
	n.at("performance variable", 9, "get_info: MPI_ERR_ARG")
	n.at("performance variable", 8, "get_info: MPI_ERR_ARG")
	n.add("control variable %s is listed twice", "x")
	n.add("control variable %s is listed twice", "x")
	const want = "20 control variables: get_info: MPI_ERR_ARG (index 100,102,104,106,108,110,112,114,116,118, …); " +
		"control variable 7: crashes in get_info (SIGSEGV); 2 performance variables: get_info: MPI_ERR_ARG (index 8-9); control variable x is listed twice"
	if got := n.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for k := range 100 {
		n.add("note %d", k)
	}
	if len(n) != maxFindings || strings.Contains(n.String(), "note 99") {
		t.Errorf("%d notes", len(n))
	}
}
