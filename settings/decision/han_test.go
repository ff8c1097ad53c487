package decision

import (
	"fmt"
	"strings"
	"testing"
)

// What is wrong with a file of coll han, with its line.
func TestHanProblems(t *testing.T) {
	for _, c := range []struct {
		version, file, want string
		rejected            bool
	}{
		{"4.1.4", "1\nbcast\n1\n2\n1\n1 2\n0 han\n4096 tuned [1, 2]\n", "line 8: the library does not use lengths of segments; they are for the level intra_node", false},
		{"4.1.4", "1 7 1 0 1 1 1 0 tuned [1024]", "", false},
		{"4.1.4", "0\n# tuned\n1 tuned", "line 1: 0, expected the number of collectives (1 and more)", true},
		{"4.1.4", "1\nbcst\n1\n2 1 1 1 0 tuned", "line 2: \"bcst\", expected a collective in lower case, such as bcast, or its number (0 to 21)", true},
		{"4.1.4", "1\nbcast\n1\n3 1 1 1 0 tuned", "line 4: 3, expected a level for MPI_Bcast (0 to 2)", true},
		{"4.1.4", "1\nbcast\n1\nglobal_communicator\n1\n1 1 0 tuned", "line 4: the text \"global_communicator\" is skipped, but numbers in it are read; comments start with #\n" +
			"line 6: the text \"tuned\" is skipped, but numbers in it are read; comments start with #", false},
		{"5.0.7", "1\nbcast\n1\nglobal_communicator\n1\n1 1 0 tuned", "", false},
		{"5.0.7", "1\nbcast\n1\nglobal\n1\n1 1 0 tuned", "line 4: \"global\", expected a level for MPI_Bcast: intra_node, inter_node, global_communicator, or 0 to 2", true},
		{"4.1.4", "1 bcast 1 2 1\n2 1 0 tuned", "line 2: 2, expected 1: the first rule must be for communicators of 1 rank and more", true},
		{"4.1.4", "1 bcast 1 2 1 1 1\n2 tuned", "line 2: 2, expected 0: the first rule must be for messages of 0 bytes and more", true},
		{"4.1.4", "1 bcast 1 2 1 1 2\n0 tuned\n", "line 3: end of the file, expected a size of messages for MPI_Bcast", true},
		{"4.1.4", "1 bcast 1 2 1 1 1\n0 xhc tuned", "line 2: \"xhc\", expected a component: self, basic, libnbc, tuned, sm, adapt, han", true},
		{"4.1.4", "1 bcast 1 2 1 1 1\n0 tuned\n1", "line 3: the library does not read this and what follows", false},
		{"5.0.7", "1 bcast 1 2 1 1 2\n0 han@simple\n1 han", "line 2: \"han@simple\", expected a component: self, basic, libnbc, tuned, sm, adapt, han", true},
		{"5.0.7", "1 bcast 1 2 1 1 2\n0 han @simple\n1 han @ 3", "line 3: \"3\", expected an algorithm of MPI_Bcast: default, intra, simple, or 0 to 2", true},
		{"5.0.7", "1 allgatherv 1 2 1 1 1\n0 han @simple", "line 2: an algorithm after @ crashes MPI_Init: coll han has no algorithms of MPI_Allgatherv", true},
	} {
		table := read(t, library("openmpi", c.version), c.file)
		if table.Form != Han || problems(table) != c.want || table.Rejected() != c.rejected {
			t.Errorf("%s: %q: %s, %s", c.version, c.file, table.Form, problems(table))
		}
	}
}

// The last rules of a collective and a level count, and of sizes the last that is small enough.
func TestHanServes(t *testing.T) {
	file := `4
bcast 2
 2 2  1 2 0 tuned 100 basic  4 0
 0 1  1 1 0 sm
reduce 1 2 1 1 1 0 tuned
bcast 3
 2 1 1 1 0 basic
 1 1 1 1 0 han
 global_communicator 3
  1 3 0 han @ simple
   4096 tuned
   1000 basic
  8 1 0 tuned
  4 0
alltoallw 1 2 1 1 1 0 tuned
`
	table := read(t, library("openmpi", "5.0.7"), file)
	for _, c := range []struct {
		function           string
		ranks, nodes, size int
		want               string
	}{
		{"MPI_Bcast", 2, 2, 0, "line 10: han"}, {"MPI_Bcast", 2, 2, 999, "line 10: han"}, {"MPI_Bcast", 3, 2, 1000, "line 12: basic"}, {"MPI_Bcast", 2, 2, 1 << 20, "line 12: basic"},
		{"MPI_Bcast", 4, 2, 8, "no line of the file matches"}, {"MPI_Bcast", 8, 2, 8, "no line of the file matches"}, {"MPI_Bcast", 2, 1, 8, "several nodes"}, {"MPI_Reduce", 9, 2, 8, "line 5: tuned"},
		{"MPI_Barrier", 9, 2, 8, "no line of the file matches"},
	} {
		a := table.Serve(Call{Function: c.function, Ranks: c.ranks, Nodes: c.nodes, Bytes: int64(c.size)})
		if !strings.Contains(a.Text, c.want) {
			t.Errorf("%+v: %s", c, a.Text)
		}
	}
	var never []string
	for _, r := range table.Rules {
		if r.Never != "" || r.Note != "" {
			never = append(never, fmt.Sprint(r.Line, ": ", r.Never, r.Note))
		}
	}
	want := `3: line 6 starts the rules of MPI_Bcast again
3: line 6 starts the rules of MPI_Bcast again
4: line 6 starts the rules of MPI_Bcast again
7: line 9 starts the rules of MPI_Bcast on this level again
8: han does not serve its own communicators: another component does
11: the sizes of messages are not in increasing order
13: the sizes of communicators are not in increasing order
15: coll han does not serve MPI_Alltoallw`
	if got := strings.Join(never, "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
