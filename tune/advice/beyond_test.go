package advice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/machine/layers"
	"mpitx/recording/finding"
	"mpitx/recording/paths"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// ucx answers as a UCX with these variables does.
func ucx(names ...string) func([]string) layers.Known {
	return func(given []string) layers.Known {
		out := "library\tUCX\t1.13.1\n"
		for _, name := range names {
			out += "name\t" + name + "\n"
		}
		for _, kv := range given {
			if name, value, _ := strings.Cut(kv, "="); value == "wrong" {
				out += "wrong\t" + name + "\n"
			}
		}
		return layers.Parse(out + "whole\tUCX\n")
	}
}

// Candidates that are none of control variables are those that the UCX in use and the launcher have, and no others.
func TestBeyond(t *testing.T) {
	const tls, thresh, scheme = "UCX_TLS\tall\tlist", "UCX_RNDV_THRESH\tauto\tmemory units", "UCX_RNDV_SCHEME\tauto\t[auto|get_zcopy|put_zcopy]"
	const shm = "UCX_RNDV_THRESH=16384 UCX_RNDV_THRESH=262144 UCX_RNDV_THRESH=65536"
	for _, c := range []struct {
		name, snapshot string
		layers         func([]string) layers.Known
		options        []string
		change         func(*catalog.Catalog)
		want           string
	}{
		{name: "nothing is known", snapshot: "mpich-4.0.2"},
		{name: "no UCX", snapshot: "mpich-4.0.2", layers: func([]string) layers.Known { return nil }},
		{name: "MPICH with UCX", snapshot: "mpich-4.0.2", layers: ucx(tls, thresh, scheme), want: "UCX_RNDV_SCHEME=get_zcopy UCX_RNDV_SCHEME=put_zcopy " + shm},
		{name: "MPICH with an older UCX", snapshot: "mpich-4.0.2", layers: ucx(tls, thresh), want: shm},
		{name: "MPICH with another device", snapshot: "mpich-4.0.2", layers: ucx(tls, thresh, scheme), change: func(c *catalog.Catalog) {
			c.Library.Text = strings.ReplaceAll(c.Library.Text, "ch4:ucx", "ch4:ofi")
		}},
		{name: "MPICH with a transport that somebody chose", snapshot: "mpich-5.0.2", layers: ucx(tls), want: "UCX_TLS=all", change: func(c *catalog.Catalog) {
			c.Outside = []catalog.Setting{{Name: "UCX_TLS", Reader: "UCX", Origin: catalog.Origin{Kind: catalog.OriginEnvironment, Where: "UCX_TLS", Value: "tcp,self"}}}
		}},
		{name: "MPICH with the transports of UCX", snapshot: "mpich-5.0.2", layers: ucx(tls), change: func(c *catalog.Catalog) {
			c.Outside = []catalog.Setting{{Name: "UCX_TLS", Reader: "UCX", Origin: catalog.Origin{Value: "all"}}, {Name: "UCX_LOG_LEVEL", Reader: "UCX", Origin: catalog.Origin{Value: "info"}}}
		}},
		{name: "Open MPI with pml ob1", snapshot: "openmpi-5.0.7", layers: ucx(tls, thresh, scheme), want: "pml=ucx pml_ucx_tls=any"},
		{name: "Hydra", snapshot: "mpich-4.2.1", options: machine.LaunchOptions(machine.MPI{Impl: machine.MPICH, Launcher: "/r"}), want: "-bind-to=core"},
		{name: "PRRTE", snapshot: "openmpi-6.0.0rc2", options: machine.LaunchOptions(machine.MPI{Impl: machine.OpenMPI, Launcher: "/r"}), want: "--bind-to=core pml=ucx pml_ucx_tls=any"},
		{name: "srun", snapshot: "openmpi-6.0.0rc2", options: machine.LaunchOptions(machine.MPI{Impl: machine.OpenMPI}), want: "pml=ucx pml_ucx_tls=any"},
	} {
		library, err := catalog.Load("../../fixtures/snapshots/" + c.snapshot + ".json")
		if err != nil {
			t.Fatal(err)
		}
		family, _ := tuning.Library(library)
		impl := map[string]string{"openmpi": machine.OpenMPI, "mpich": machine.MPICH}[family]
		if c.change != nil {
			c.change(library)
		}
		run := carried(job(8, []string{"a"}, map[string]time.Duration{"MPI_Send": time.Second}), "sysv")
		run.Paths[0].Carriers[0].Layer = paths.BTL
		s := Subject{Profile: run, Family: impl, Catalog: library, Layers: c.layers, Options: c.options,
			Findings: []finding.Finding{{Kind: "tcp on one node", Share: 1, Text: "tcp"}}, Judge: &settings.Judge{Env: &machine.Env{}, Impl: impl, Elsewhere: true, Knowledge: tuning.Own()}}
		var got []string
		for _, p := range s.Propose(OwnRules()) {
			for _, one := range p.Try {
				if slices.ContainsFunc(one.Set, settings.IsBeyond) || one.Set[0].Name == "pml" {
					got = append(got, one.Name)
				}
			}
		}
		slices.Sort(got)
		if fmt.Sprint(got) != "["+c.want+"]" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// What the user adds is refused if the UCX or the launcher does not have it.
func TestAdd(t *testing.T) {
	library, err := catalog.Load("../../fixtures/snapshots/openmpi-4.1.4.json")
	if err != nil {
		t.Fatal(err)
	}
	s := Subject{Catalog: library, Layers: ucx("UCX_TLS\tall\tlist"), Options: []string{"--bind-to"}, PRRTE: func() map[string]bool { return map[string]bool{"mapby": true} },
		Judge: &settings.Judge{Env: &machine.Env{}, Impl: machine.OpenMPI, Elsewhere: true, Knowledge: tuning.Own()}}
	for _, c := range []struct{ name, value, set, failure string }{
		{"UCX_TLS", "tcp", "[{UCX_TLS tcp}]", ""},
		{"UCX_TLS", "wrong", "", "UCX_TLS: UCX 1.13.1 does not take this value; it takes list"},
		{"UCX_TSL", "tcp", "", "UCX_TSL: UCX 1.13.1 has no variable of this name; did you mean UCX_TLS?"},
		{"--bind-to", "none", "[{--bind-to none}]", ""},
		{"-bind-to", "none", "", "-bind-to: the launcher has no such option that settings may give; it has --bind-to"},
		{"PRTE_MCA_mapby", "node", "[{PRTE_MCA_mapby node}]", ""},
		{"PRTE_MCA_map", "node", "", "PRTE_MCA_map: this launcher has no such parameter, or cannot be asked (prte_info)"},
		{"FI_PROVIDER", "tcp", "", "FI_PROVIDER: libfabric cannot be asked whether it has this variable"},
		{"coll_tuned_bcast_algorithm", "binomial", "[{coll_tuned_use_dynamic_rules true} {coll_tuned_bcast_algorithm binomial}]", ""},
		{"nonsense", "1", "", "nonsense: the library has no such variable"},
		{"btl_vader_eagerlimit", "5", "", "btl_vader_eagerlimit: the library has no such variable; did you mean btl_vader_eager_limit"},
		{"pml_ob1_unexpected_msgq_length", "5", "", "pml_ob1_unexpected_msgq_length: is a performance variable"},
	} {
		one, notes, err := s.Add(c.name, c.value)
		switch {
		case c.failure != "" && (err == nil || !strings.HasPrefix(err.Error(), c.failure)):
			t.Errorf("%s=%s: %v, want %s", c.name, c.value, err, c.failure)
		case c.failure == "" && (err != nil || fmt.Sprint(one.Set) != c.set || len(notes) > 0):
			t.Errorf("%s=%s: %v %v %v, want %s", c.name, c.value, one.Set, notes, err, c.set)
		}
	}
	one, _, _ := s.Add("coll_tuned_bcast_algorithm", "binomial")
	other, _, _ := s.Add("coll_tuned_bcast_algorithm", "6")
	third, _, _ := s.Add("coll_tuned_bcast_algorithm", "5")
	slices.Reverse(other.Set)
	if !s.Same(one.Set, other.Set) || s.Same(one.Set, third.Set) || s.Same(one.Set, one.Set[:1]) {
		t.Errorf("%v, %v, %v", one.Set, other.Set, third.Set)
	}
}
