package decision

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// names are algorithms for tests: three of each operation.
func library(family, version string) *Library {
	l := &Library{Family: family, Version: version, Algorithms: map[string][]string{}}
	for _, operation := range tuned {
		l.Algorithms[operation] = []string{"ignore", "one", "two", "three"}
	}
	if family == "mpich" {
		for _, operation := range tuned {
			name := strings.TrimPrefix(Function(operation), "MPI_")
			l.Algorithms[operation] = []string{"MPIR_" + name + "_intra_one", "MPIR_" + name + "_intra_two", "MPIR_" + name + "_allcomm_nb"}
		}
	}
	return l
}

func read(t *testing.T, l *Library, file string) *Table {
	t.Helper()
	table, err := Read([]byte(file), l)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func problems(table *Table) string {
	var all []string
	for _, p := range table.Problems {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n")
}

// What is wrong with a file, with its line.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		version, file, want string
		rejected            bool
	}{
		{"4.1.4", "1\n2\n1\n4\n1\n0 1 0 0\n", "", false},
		{"4.1.4", "0x1 2 01 4 1 0 3 0 010", "", false},
		{"4.1.4", "", "line 1: end of the file, expected the number of collectives (0 to 22)", true},
		{"4.1.4", "1\n22\n", "line 2: 22, expected the number of the next collective, as line 1 announces 1 (0 to 21)", true},
		{"4.1.4", "1\n2\n1\n4\n2\n0 1 0 0\n", "line 6: end of the file, expected a size of messages for MPI_Allreduce, as line 5 announces 2 rules", true},
		{"4.1.4", "1\n2\n1\n4\n1\n8 1 0 0\n", "line 6: 8, expected 0: the first rule must be for messages of 0 bytes and more", true},
		{"4.1.4", "1\n2\n1\n4\n1\n0 -1 0 0\n", "line 6: -1, expected the number of an algorithm of MPI_Allreduce", true},
		{"4.1.4", "1 # one\n2\n1\nabout 4\n1\n0 1 0 0 0\n", "line 4: the text \"about\" is skipped, but numbers in it are read; comments start with #\n" +
			"line 6: the library does not read this and what follows: line 1 announces 1 collective", false},
		{"4.1.4", "1\n10\n1\n4\n1\n0 1 0 0\n", "line 2: coll tuned has no algorithms of MPI_Gatherv: these rules have no effect", false},
		{"4.1.4", "rule-file-version-2\n0\n", "line 1: the version line is not known to Open MPI 4.1.4, which reads it as a negative number\n" +
			"line 1: the text \"rule-file-version-2\" is skipped, but numbers in it are read; comments start with #\n" +
			"line 1: -2, expected the number of collectives (0 to 22)", true},
		{"5.0.7", "rule-file-version-2\n1 2 1 4 1\n0 1 0 0 7\n", "", false},
		{"5.0.7", "#\nrule-file-version-2\n0\n", "line 2: the version line must be the first text of the file: it is read as a negative number\n" +
			"line 2: the text \"rule-file-version-2\" is skipped, but numbers in it are read; comments start with #\n" +
			"line 2: -2, expected the number of collectives (0 to 22)", true},
		{"5.0.7", `{"collectives": {}}`, "line 1: Open MPI 5.0.7 reads rules in JSON from 6.0 on; it takes the numbers in the file for the classic form", true},
		{"6.0.0", "1 2 2\n4 1\n0 1 0 0\n8 1 0 2 0 0\n", "line 2: Open MPI 6.0.0 serves communicators of 0 to 3 ranks with these lines; releases before 6.0 serve 0 to 7\n" +
			"line 4: Open MPI 6.0.0 serves communicators of 4 and more ranks with these lines; releases before 6.0 serve 8 and more", false},
		{"6.0.0", "{}", `line 1: expected {"collectives": {…}}`, true},
		{"6.0.0", "{\"collectives\":\n{\"Allreduce\": []}}", `line 2: "Allreduce", expected a collective in lower case, such as "allreduce"`, true},
		{"6.0.0", "{\"collectives\":\n{\"allreduce\": [\n{\"comm_size_min\": 2.5}]}}", "line 3: comm_size_min: expected a whole number or \"inf\"\nline 3: expected a list \"rules\"", true},
		{"6.0.0", "{\"collectives\": {\"allreduce\": [{\"rules\": [\n{\"alg\": \"four\"},\n{\"alg\": 1, \"size\": 2}]}]}}",
			"line 2: Open MPI 6.0.0 has no algorithm four of MPI_Allreduce, expected 0 to 3 or one, two, three: it ignores the rule\n" +
				`line 3: "size" is not read, expected one of msg_size_min, msg_size_max, faninout, seg_size, reqs, alg`, false},
		{"6.0.0", "{\"collectives\": {\"alltoallw\": [{\"rules\": [\n{\"alg\": 1}]}]}}", `line 2: "alg" of MPI_Alltoallw crashes MPI_Init: coll tuned has no algorithms of it`, true},
	} {
		table := read(t, library("openmpi", c.version), c.file)
		if got := problems(table); got != c.want || table.Rejected() != c.rejected {
			t.Errorf("%s, %q: rejected %t\n%s\nwant\n%s", c.version, c.file, table.Rejected(), got, c.want)
		}
	}
}

func TestSelectionProblems(t *testing.T) {
	leaf := `{"algorithm=MPIR_Allreduce_intra_one": {}}`
	for _, c := range []struct{ version, file, want string }{
		{"4.2.1", `{"collective=allreduce": ` + leaf + `}`, ""},
		{"4.2.1", "{\"collective=allreduce\":\n}", "line 2: not JSON: missing value after object name"},
		{"4.2.1", "[]", `line 1: expected keys such as "collective=allreduce"`},
		{"4.2.1", `{"comm_type=intra": {}}`, `line 1: expected keys such as "collective=allreduce"`},
		{"4.2.1", `{"collective=allreduce": {}}`, `line 1: expected conditions or an algorithm, such as "algorithm=MPIR_…"`},
		{"4.2.1", "{\"collective=allreduce\": {\n\"comm_size<8\": " + leaf + "}}", `line 2: "comm_size<8" must be followed by another condition, such as "comm_size=any"`},
		{"4.2.1", "{\"collective=allreduce\": {\"any\": " + leaf + ",\n\"comm_size<=8\": " + leaf + ",\"any \": " + leaf + "}}", `line 2: nothing may follow "any"`},
		{"4.0.2", "{\"collective=allreduce\": {\"any\": " + leaf + "}}", `line 1: "any", expected a condition, such as "comm_size<=8", or "algorithm=…"`},
		{"4.2.1", "{\"collective=allreduce\": {\"algorithm=MPIR_Allreduce_intra_three\": {}}}", `line 1: MPICH 4.2.1 has no algorithm "MPIR_Allreduce_intra_three" of MPI_Allreduce`},
		{"4.2.1", "{\"collective=allgather\": {\n\"avg_msg_size<=8\": {}}}", "line 2: avg_msg_size is not defined for MPI_Allgather: MPICH aborts in the call; it is for allreduce bcast reduce alltoall"},
		{"4.2.1", "/* { */ {\"comm_type=intra\": {// \"\n\"collective=allreduce\": " + leaf + "}} }", ""},
		{"4.2.1", "{\"collective=allreduce\": " + leaf + ",\n\"comm_type=intra\": {}}", `line 2: "comm_type=intra", expected a collective, such as "collective=allreduce"`},
		{"4.2.1", "{\"is_multi_threaded=yes\": {\"collective=allreduce\": " + leaf + "}}", `line 1: "is_multi_threaded=yes", expected a collective, such as "collective=allreduce"`},
	} {
		table := read(t, library("mpich", c.version), c.file)
		if got := problems(table); got != c.want || table.Rejected() != (c.want != "") {
			t.Errorf("%s, %q:\n%s\nwant\n%s", c.version, c.file, got, c.want)
		}
	}
}

// Which line serves a call.
func TestServe(t *testing.T) {
	classic := "4\n" +
		"2 2\n4 2\n0 1 0 0\n1000 2 0 0\n8 1\n0 3 0 0\n" + // lines 4, 5, 7
		"0 1\n2 2\n0 1 0 0\n1000 9 0 0\n" + // lines 10, 11
		"14 1\n0 2\n0 0 0 0\n16 2 0 0\n" + // lines 14, 15
		"4 1\n0 2\n0 1 0 0\n16 2 0 0\n"
	json := `{"collectives": {"allreduce": [
{"comm_size_max": 4, "rules": [
{"msg_size_max": 99, "alg": "two"},
{"msg_size_min": 200, "alg": 3}]},
{"comm_rank_distribution": "one-per-node", "rules": [
{"alg": 1}]}]}}`
	selection := `{"collective=allreduce": {"comm_type=intra": {
"comm_size<=4": {
"avg_msg_size<=100": {
"comm_size<3": {"algorithm=MPIR_Allreduce_intra_one": {}},
"any": {"algorithm=MPIR_Allreduce_intra_two": {}}},
"is_commutative=yes": {"algorithm=MPIR_Allreduce_allcomm_nb": {}}},
"comm_size<8": {"algorithm=MPIR_Allreduce_intra_two": {}},
"any": {"algorithm=MPIR_Bcast_intra_one": {}}}}}`
	for _, c := range []struct {
		version, file string
		call          Call
		want          string
	}{
		{"4.1.4", classic, Call{Function: "MPI_Allreduce", Ranks: 2, Bytes: 999}, "line 4: one (1)"},
		{"4.1.4", classic, Call{Function: "MPI_Allreduce", Ranks: 7, Bytes: 1000}, "line 5: two (2)"},
		{"4.1.4", classic, Call{Function: "MPI_Allreduce", Ranks: 8, Bytes: 0}, "line 7: three (3)"},
		{"6.0.0", classic, Call{Function: "MPI_Allreduce", Ranks: 3, Bytes: 1000}, "line 5: two (2)"},
		{"6.0.0", classic, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 1000}, "line 7: three (3)"},
		{"4.1.4", classic, Call{Function: "MPI_Allgather", Ranks: 4, Bytes: 249}, "line 10: one (1)"},
		{"4.1.4", classic, Call{Function: "MPI_Allgather", Ranks: 4, Bytes: 250}, "line 11: 9: Open MPI 4.1.4 has no algorithm 9 of MPI_Allgather, 1 to 3: the call fails with MPI_ERR_ARG"},
		{"4.1.4", classic, Call{Function: "MPI_Scan", Ranks: 2, Bytes: 8000, Element: 4}, "line 14: linear, as algorithm 0 means here"},
		{"4.1.4", classic, Call{Function: "MPI_Scan", Ranks: 4, Bytes: 8000, Element: 4}, "line 15: two (2)"},
		{"4.1.4", classic, Call{Function: "MPI_Alltoallv", Ranks: 4, Bytes: 8000}, "line 18: one (1)"},
		{"4.1.4", classic, Call{Function: "MPI_Bcast", Ranks: 4, Bytes: 8000}, "the library's own rules: no line of the file matches"},
		{"4.1.4", "1", Call{Function: "MPI_Bcast", Ranks: 4, Bytes: 8000}, "the library's own rules: it rejects the file"},
		{"6.0.0", json, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 99}, "line 3: two (2)"},
		{"6.0.0", json, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 100, Nodes: 4}, "line 2: the library's own rules: no rule below it matches"},
		{"6.0.0", json, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 200}, "line 4: three (3)"},
		{"6.0.0", json, Call{Function: "MPI_Allreduce", Ranks: 5, Bytes: 200, Nodes: 5}, "line 6: one (1)"},
		{"6.0.0", json, Call{Function: "MPI_Allreduce", Ranks: 5, Bytes: 200, Nodes: 2}, "the library's own rules: no line of the file matches"},
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 3, Bytes: 100}, "line 4: MPIR_Allreduce_intra_one"}, // < is read as <= there
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 100}, "line 5: MPIR_Allreduce_intra_two"},
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 101}, "line 6: MPIR_Allreduce_allcomm_nb"},
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 4, Bytes: 101, NotCommutative: true}, "line 6: nothing below it matches, and the library aborts"},
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 7, Bytes: 101}, "line 7: MPIR_Allreduce_intra_two"},
		{"mpich", selection, Call{Function: "MPI_Allreduce", Ranks: 8, Bytes: 101}, "line 8: MPIR_Bcast_intra_one: it is not an algorithm of MPI_Allreduce, so MPICH aborts in the call"},
		{"mpich", selection, Call{Function: "MPI_Bcast", Ranks: 8, Bytes: 101}, "nothing: the file has no bcast, and the library aborts"},
	} {
		l := library("openmpi", c.version)
		if c.version == "mpich" {
			l = library("mpich", "5.0.1")
			l.Algorithms["allreduce"] = append(l.Algorithms["allreduce"], "MPIR_Bcast_intra_one")
			c.file = strings.Replace(c.file, `"is_commutative=yes": {"algorithm=MPIR_Allreduce_allcomm_nb": {}}`, `"comm_size<=9": {"is_commutative=yes": {"algorithm=MPIR_Allreduce_allcomm_nb": {}}}, "any": {"algorithm=MPIR_Allreduce_intra_one": {}}`, 1)
		}
		if got := read(t, l, c.file).Serve(c.call).Text; got != c.want {
			t.Errorf("%s, %+v:\n%s\nwant\n%s", c.version, c.call, got, c.want)
		}
	}
}

// Lines that serve nothing say so.
func TestNever(t *testing.T) {
	table := read(t, library("openmpi", "4.1.4"), "1 2 2\n8 1\n0 1 0 0\n4 2\n0 2 0 0\n0 3 0 0\n")
	var got []string
	for _, r := range table.Rules {
		got = append(got, fmt.Sprint(r.Line, " ", r.Of[Ranks], " ", r.Of[Bytes], " ", r.Never))
	}
	want := []string{"3 0 to 7 any ", "5 8 and more none the sizes of messages are not in increasing order", "6 8 and more any "}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	table = read(t, library("openmpi", "6.0.0"), `{"collectives": {"bcast": [{"rules": [{"alg": 1},{"alg": 2, "msg_size_min": 9}]}, {"comm_size_min": 4, "rules": [
{"alg": 3}]}]}}`)
	if n := len(table.Rules); n != 5 || table.Rules[1].Never == "" || table.Rules[3].Never != "line 1 serves all calls that it matches" {
		t.Errorf("%d rules", n)
	}
}

// The library reads what is written for it as it was meant.
func TestWrite(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		for _, c := range []struct {
			version string
			form    Form
		}{{"4.1.4", Classic}, {"5.0.7", Classic}, {"6.0.0", Classic}, {"6.0.0", JSON}, {"4.0.2", Selection}, {"5.0.1", Selection}} {
			l := library("openmpi", c.version)
			if c.form == Selection {
				l = library("mpich", c.version)
				l.Default = []byte(`{"collective=bcast":{"algorithm=MPIR_Bcast_intra_one":{}},"collective=allgather":{"comm_type=intra":{"comm_size<4":{"algorithm=MPIR_Allgather_intra_one":{}},
					"comm_size=any":{"algorithm=MPIR_Allgather_intra_two":{}}},"comm_type=inter":{"algorithm=MPIR_Allgather_intra_two":{}}}}`)
			}
			rules := randomRules(random, l, c.form)
			data, err := l.Write(rules, c.form, "by a test\nof two lines")
			if err != nil {
				t.Fatal(err)
			}
			table := read(t, l, string(data))
			if table.Rejected() {
				t.Fatalf("%s: %s\n%s", c.version, problems(table), data)
			}
			for range 30 {
				call := Call{Function: rules[random.IntN(len(rules))].Function, Ranks: 2 + random.IntN(9), Bytes: int64(random.IntN(40))}
				if want, got := meant(rules, l, call), table.Serve(call); got.Rule == nil && want != 0 || got.Rule != nil && number(got.Rule, l) != want {
					t.Fatalf("%s, %s, %+v: %s, want %d\n%s", c.version, c.form, call, got.Text, want, data)
				}
			}
		}
	}
}

func randomRules(random *rand.Rand, l *Library, form Form) (rules []*Rule) {
	for range 1 + random.IntN(6) {
		r := newRule(0, []string{"MPI_Bcast", "MPI_Allgather"}[random.IntN(2)])
		from, size := int64(random.IntN(8)), int64(random.IntN(60))
		r.Of[Ranks], r.Of[Bytes] = Range{from, from + int64(random.IntN(3))}, Range{size, size + int64(random.IntN(50))}
		if random.IntN(3) == 0 {
			r.Of[Ranks].Max = math.MaxInt64
		}
		if random.IntN(3) == 0 {
			r.Of[Bytes].Max = math.MaxInt64
		}
		r.Number = 1 + random.IntN(3)
		if form == Selection {
			r.Algorithm = l.Algorithms[key(r.Function)][r.Number-1]
		} else if l.Version != "4.1.4" && random.IntN(2) == 0 {
			r.Requests = random.IntN(4)
		}
		rules = append(rules, r)
	}
	return rules
}

// meant is the number of the algorithm that rules mean; 0: what the library does without them.
func meant(rules []*Rule, l *Library, c Call) int {
	size := l.Counted(&c)
	if q, _ := SizeOf(c.Function); l.Family == "mpich" && q == Total {
		size = c.Bytes * int64(c.Ranks)
	}
	for _, r := range rules {
		if r.Function == c.Function && r.Of[Ranks].Has(int64(c.Ranks)) && r.Of[Bytes].Has(size) {
			return r.Number
		}
	}
	if l.Family == "mpich" { // Default
		if c.Function == "MPI_Allgather" && c.Ranks >= 4 {
			return 2
		}
		return 1
	}
	return 0
}

func number(r *Rule, l *Library) int {
	if l.Family == "mpich" {
		return slices.Index(l.Algorithms[key(r.Function)], r.Algorithm) + 1
	}
	return r.Number
}

// No file crashes a reader, and what is legal serves each call.
func FuzzRead(f *testing.F) {
	for _, file := range []string{"rule-file-version-2\n1 2 2 0 1 0 1 0 0 3\n8 1\n0 0 0 0", "#\n1 0x2 -", `{"collectives":{"bcast":[{"comm_size_min":2,"rules":[{"alg":"one","msg_size_max":"inf"}]}]}}`,
		`/* " */{"comm_size<3":{"collective=bcast":{"comm_type=intra":{}}}, "comm_type=inter"://`, `{"collective=bcast":{"comm_size<=4":{"algorithm=MPIR_Bcast_intra_one":{"k=2":{}}},"comm_size=any":{"avg_msg_size<3":{"algorithm=MPIR_Bcast_intra_two":{}}}}}`, `{"collective=bcast":{"avg_msg_size<9":{"composition=MPIDI_Bcast_intra_composition_alpha":{}},"avg_msg_size=any":{"composition=MPIDI_Reduce_intra_composition_alpha":{}}}}`, "[[[", "1 2 2147483647 0 1", "2 bcast 1 2 1 1 2 0 han @simple 8 tuned [1,2] 7 1 0 0"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range []*Library{library("openmpi", "4.1.4"), library("openmpi", "5.0.7"), library("openmpi", "6.0.0"), library("openmpi", ""), library("mpich", "4.0.2"), library("mpich", "5.0.1")} {
			table, err := Read(data, l)
			if err != nil {
				continue
			}
			for _, p := range table.Problems {
				if p.Line < 1 || p.Line > 1+strings.Count(string(data), "\n") {
					t.Errorf("%s in %q", p, data)
				}
			}
			for _, function := range []string{"MPI_Allreduce", "MPI_Bcast"} {
				if a := table.Serve(Call{Function: function, Ranks: 3, Bytes: 9}); a.Text == "" {
					t.Errorf("nothing serves %s in %q", function, data)
				}
			}
		}
	})
}
