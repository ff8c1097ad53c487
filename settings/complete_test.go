package settings

import (
	"fmt"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// given parses NAME=VALUE words for a catalog.
func given(t *testing.T, impl string, c *catalog.Catalog, words string) (all []Assignment) {
	t.Helper()
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		v := c.Cvar(name)
		if v == nil {
			t.Fatalf("no %s", name)
		}
		parsed, err := catalog.ParseValue(v, Enums(impl, c)(v), max(v.Current().Count, 1), value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Assignment{Variable: v, Enum: c.Enum(v.Enum), Value: parsed})
	}
	return all
}

func load(t *testing.T, file string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load("../fixtures/snapshots/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What settings need is added before them, and what the user sets stays.
func TestComplete(t *testing.T) {
	openmpi, mpich := load(t, "openmpi-4.1.4.json"), load(t, "mpich-4.0.2.json")
	for _, c := range []struct{ impl, given, want, doubts string }{
		{machine.OpenMPI, "coll_tuned_bcast_algorithm=binomial",
			"coll_tuned_use_dynamic_rules=true(coll_tuned_bcast_algorithm) coll_tuned_bcast_algorithm=6", ""},
		{machine.OpenMPI, "coll_tuned_use_dynamic_rules=true coll_tuned_bcast_algorithm=binomial",
			"coll_tuned_use_dynamic_rules=true coll_tuned_bcast_algorithm=6", ""},
		{machine.OpenMPI, "btl_vader_eager_limit=4096 coll_tuned_bcast_algorithm=binomial coll_tuned_barrier_algorithm=linear",
			"btl_vader_eager_limit=4096 coll_tuned_use_dynamic_rules=true(coll_tuned_bcast_algorithm,coll_tuned_barrier_algorithm) " +
				"coll_tuned_bcast_algorithm=6 coll_tuned_barrier_algorithm=1", ""},
		// What is needed needs something itself.
		{machine.OpenMPI, "coll_tuned_bcast_algorithm_segmentsize=4096",
			"coll_tuned_use_dynamic_rules=true(coll_tuned_bcast_algorithm_segmentsize,coll_tuned_bcast_algorithm) " +
				"coll_tuned_bcast_algorithm=2(coll_tuned_bcast_algorithm_segmentsize) coll_tuned_bcast_algorithm_segmentsize=4096", ""},
		{machine.OpenMPI, "coll_tuned_bcast_algorithm=knomial coll_tuned_bcast_algorithm_segmentsize=4096",
			"coll_tuned_use_dynamic_rules=true(coll_tuned_bcast_algorithm,coll_tuned_bcast_algorithm_segmentsize) " +
				"coll_tuned_bcast_algorithm=7 coll_tuned_bcast_algorithm_segmentsize=4096", ""},
		// The user's own settings stand against it.
		{machine.OpenMPI, "coll_tuned_bcast_algorithm=6 coll_tuned_use_dynamic_rules=false",
			"coll_tuned_bcast_algorithm=6 coll_tuned_use_dynamic_rules=false", "coll_tuned_bcast_algorithm"},
		{machine.OpenMPI, "coll_tuned_bcast_algorithm=6 coll_tuned_priority=5",
			"coll_tuned_use_dynamic_rules=true(coll_tuned_bcast_algorithm) coll_tuned_bcast_algorithm=6 coll_tuned_priority=5",
			"coll_tuned_use_dynamic_rules coll_tuned_bcast_algorithm"},
		{machine.OpenMPI, "coll_tuned_bcast_algorithm_tree_fanout=2", "coll_tuned_bcast_algorithm_tree_fanout=2", "coll_tuned_bcast_algorithm_tree_fanout"},
		{machine.OpenMPI, "btl_vader_eager_limit=8192", "btl_vader_eager_limit=8192", ""},
		{machine.MPICH, "MPIR_CVAR_CHOP_ERROR_STACK=80", "MPIR_CVAR_CHOP_ERROR_STACK=80", ""},
		{machine.MPICH, "MPIR_CVAR_PRINT_ERROR_STACK=0 MPIR_CVAR_CHOP_ERROR_STACK=80",
			"MPIR_CVAR_PRINT_ERROR_STACK=0 MPIR_CVAR_CHOP_ERROR_STACK=80", "MPIR_CVAR_CHOP_ERROR_STACK"},
		{machine.MPICH, "MPIR_CVAR_ASYNC_PROGRESS=0 MPIR_CVAR_PROGRESS_THREAD_AFFINITY=1",
			"MPIR_CVAR_ASYNC_PROGRESS=0 MPIR_CVAR_PROGRESS_THREAD_AFFINITY=1", "MPIR_CVAR_PROGRESS_THREAD_AFFINITY"},
		{machine.MPICH, "MPIR_CVAR_PROGRESS_THREAD_AFFINITY=1",
			"MPIR_CVAR_ASYNC_PROGRESS=1(MPIR_CVAR_PROGRESS_THREAD_AFFINITY) MPIR_CVAR_PROGRESS_THREAD_AFFINITY=1", ""},
	} {
		library := openmpi
		if c.impl == machine.MPICH {
			library = mpich
		}
		j := &Judge{Env: &machine.Env{}, Impl: c.impl, Elsewhere: true, Knowledge: tuning.Own()}
		before := library.Cvar("coll_tuned_use_dynamic_rules")
		var got, doubts []string
		for _, a := range j.Complete(library, given(t, c.impl, library, c.given)) {
			word := a.Variable.Name + "=" + a.Value.String()
			if a.NeededBy != nil {
				word += "(" + strings.Join(a.NeededBy, ",") + ")"
			}
			if got = append(got, word); a.Notes != nil {
				doubts = append(doubts, a.Variable.Name)
			}
			if library.Cvar(a.Variable.Name) != a.Variable {
				t.Errorf("%s is not the library's", a.Variable.Name)
			}
		}
		if s := strings.Join(got, " "); s != c.want || strings.Join(doubts, " ") != c.doubts {
			t.Errorf("%s:\n%s\ndoubts %s", c.given, s, doubts)
		}
		if before != nil && before.Current().Value.String() != "false" {
			t.Fatal("the library was changed")
		}
	}
}

// What something other than a file of the system sets already is added as well: the next run may start without it.
func TestCompletePresent(t *testing.T) {
	for _, c := range []struct {
		kind         catalog.OriginKind
		where, given string
		want         map[Form]string
	}{
		{catalog.OriginEnvironment, "OMPI_MCA_coll_tuned_use_dynamic_rules", "coll_tuned_bcast_algorithm=binomial", map[Form]string{
			Options: "--mca coll_tuned_use_dynamic_rules true --mca coll_tuned_bcast_algorithm 6",
			File:    "# coll_tuned_bcast_algorithm needs coll_tuned_use_dynamic_rules\ncoll_tuned_use_dynamic_rules = true\ncoll_tuned_bcast_algorithm = 6"}},
		{catalog.OriginLauncher, "mpirun --mca coll_tuned_use_dynamic_rules 1", "coll_tuned_bcast_algorithm=binomial", map[Form]string{
			Script: "# coll_tuned_bcast_algorithm needs coll_tuned_use_dynamic_rules\nexport OMPI_MCA_coll_tuned_use_dynamic_rules=true\nexport OMPI_MCA_coll_tuned_bcast_algorithm=6"}},
		{catalog.OriginFile, "/home/u/.openmpi/mca-params.conf:3", "coll_tuned_bcast_algorithm=binomial", map[Form]string{
			Options: "--mca coll_tuned_use_dynamic_rules true --mca coll_tuned_bcast_algorithm 6"}},
		{catalog.OriginFile, "/etc/openmpi/openmpi-mca-params.conf:3", "coll_tuned_bcast_algorithm=binomial", map[Form]string{Options: "--mca coll_tuned_bcast_algorithm 6"}},
		{"", "", "coll_tuned_bcast_algorithm=binomial", map[Form]string{Options: "--mca coll_tuned_bcast_algorithm 6"}}, // a default
		{catalog.OriginEnvironment, "OMPI_MCA_coll_tuned_use_dynamic_rules", "btl_vader_eager_limit=8192", map[Form]string{Options: "--mca btl_vader_eager_limit 8192"}},
	} {
		library := load(t, "openmpi-4.1.4.json")
		Assume(library, "coll_tuned_use_dynamic_rules", given(t, machine.OpenMPI, library, "coll_tuned_use_dynamic_rules=true")[0].Value)
		if c.where != "" {
			library.Cvar("coll_tuned_use_dynamic_rules").Origin = &catalog.Origin{Kind: c.kind, Where: c.where, Value: "1"}
		}
		j := &Judge{Env: &machine.Env{}, Impl: machine.OpenMPI, Elsewhere: true, Knowledge: tuning.Own()}
		all := j.Complete(library, given(t, machine.OpenMPI, library, c.given))
		for form, want := range c.want {
			words, left, err := Settings(machine.OpenMPI, form, all, text.UTF8)
			if err != nil || left != nil || !strings.HasSuffix("\n"+words, "\n"+want+"\n") {
				t.Errorf("%s %s: %s\nleft %q, %v", c.where, form, words, left, err)
			}
		}
		if o := library.Cvar("coll_tuned_use_dynamic_rules").Origin; (o == nil) != (c.where == "") {
			t.Error("the library was changed")
		}
	}
}

// Lines set several variables at once, and say in comments what was added.
func TestCompleteLines(t *testing.T) {
	c := load(t, "openmpi-4.1.4.json")
	j := &Judge{Env: &machine.Env{}, Impl: machine.OpenMPI, Elsewhere: true, Knowledge: tuning.Own()}
	all := j.Complete(c, given(t, machine.OpenMPI, c, "coll_tuned_bcast_algorithm=binomial"))
	want := "export OMPI_MCA_coll_tuned_use_dynamic_rules=true OMPI_MCA_coll_tuned_bcast_algorithm=6 | " +
		"mpirun --mca coll_tuned_use_dynamic_rules true --mca coll_tuned_bcast_algorithm 6 … | " +
		`printf '%s\n' 'coll_tuned_use_dynamic_rules = true' 'coll_tuned_bcast_algorithm = 6' >> ~/.openmpi/mca-params.conf`
	if got := strings.Join(HowToSet(machine.OpenMPI, "", all, text.UTF8), " | "); got != want {
		t.Error(got)
	}
	words, left, err := Settings(machine.OpenMPI, File, all, text.UTF8)
	if want := "# coll_tuned_bcast_algorithm needs coll_tuned_use_dynamic_rules\ncoll_tuned_use_dynamic_rules = true\ncoll_tuned_bcast_algorithm = 6\n"; err != nil || left != nil || !strings.HasSuffix(words, want) {
		t.Errorf("%s %q %v", words, left, err)
	}
	var environ []string
	for _, a := range all {
		environ = append(environ, a.Environment(machine.OpenMPI))
	}
	if s := fmt.Sprint(environ); s != "[OMPI_MCA_coll_tuned_use_dynamic_rules=true OMPI_MCA_coll_tuned_bcast_algorithm=6]" {
		t.Error(s)
	}
	if HowToSet(machine.OpenMPI, "", nil, text.UTF8) != nil {
		t.Error("lines of nothing")
	}
	constant := Assignment{Variable: &catalog.Variable{Kind: catalog.Cvars, Name: "x", Type: catalog.TypeInt, Scope: catalog.ScopeConstant}}
	if kv := constant.Environment(machine.OpenMPI); kv != "" {
		t.Errorf("a constant is set: %s", kv)
	}
}
