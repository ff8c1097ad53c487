package advice

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/recording/algorithm"
	"mpitx/recording/paths"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// subject is a run with a library that was read from a snapshot.
func subject(t *testing.T, family, snapshot string, run *profile.Profile) *Subject {
	t.Helper()
	c, err := catalog.Load("../../fixtures/snapshots/" + snapshot + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return &Subject{Profile: run, Family: family, Catalog: c, Judge: &settings.Judge{Env: &machine.Env{}, Impl: family, Knowledge: tuning.Own()}}
}

// tried are the settings that the rules propose, and the sentences.
func (s *Subject) tried() (names, said string) {
	for _, p := range s.Propose(OwnRules()) {
		said += p.Text + "\n"
		for _, one := range p.Try {
			names += one.Name + "\n"
		}
	}
	return names, said
}

// Up to Open MPI 4.1 a file of rules goes before the algorithm of a function.
func TestRuledByFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules")
	for text, serves := range map[string]bool{"1\n2\n1\n2 1\n0 4 0 0\n": true, "1\n2\n1\n2 2\n0 0 0 0\n1000 4 0 0\n": false, "1\n7\n1\n2 1\n0 4 0 0\n": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := subject(t, machine.OpenMPI, "openmpi-4.1.4", job(4, []string{"a"}, map[string]time.Duration{"MPI_Allreduce": time.Second}))
		settings.Assume(s.Catalog, "coll_tuned_dynamic_rules_filename", catalog.NewText(file))
		v := s.Catalog.Cvar("coll_tuned_use_dynamic_rules")
		on, err := catalog.ParseValue(v, settings.Enums(s.Family, s.Catalog)(v), 1, "true")
		if err != nil {
			t.Fatal(err)
		}
		settings.Assume(s.Catalog, v.Name, on)
		names, said := s.tried()
		if strings.Contains(names, "coll_tuned_allreduce_algorithm=") == serves || strings.Contains(said, "the rules of "+file+" serve MPI_Allreduce, and go before it") != serves || strings.Contains(said, "two_proc") {
			t.Errorf("%q: %s%s", text, names, said)
		}
		if one, _, err := s.Add("coll_tuned_allreduce_algorithm", "ring"); err != nil || (s.Idle(one.Set) != "") != serves {
			t.Errorf("%q: %q, %v", text, s.Idle(one.Set), err)
		}
	}
}

// A composition of MPICH serves calls whatever algorithm is set, which only its parts ask for.
func TestSameAsServed(t *testing.T) {
	for part, left := range map[string][]string{"barrier dissemination": {"smp", "dissemination"}, "reduce binomial": {"smp"}} {
		run := job(4, []string{"a"}, map[string]time.Duration{"MPI_Barrier": time.Second})
		run.Algorithms = []*profile.Algorithm{{Function: "MPI_Barrier", Object: &profile.Object{Size: 4}, Calls: 10, Time: time.Second,
			Served: algorithm.Served{Component: "composition", Only: true, Parts: []string{part, "bcast binomial"}, Functions: []string{"f"}}}}
		s := subject(t, machine.MPICH, "mpich-4.0.2", run)
		if text := run.Algorithms[0].Text(); text != "composition: "+part+" → bcast binomial" {
			t.Fatal(text)
		}
		names, said := s.tried()
		for _, value := range []string{"smp", "dissemination"} {
			if strings.Contains(names, "BARRIER_INTRA_ALGORITHM="+value) == slices.Contains(left, value) {
				t.Errorf("%s: %s%s", part, names, said)
			}
		}
	}
}

// A setting of a transport that carries nothing is warned of.
func TestCarriesNothing(t *testing.T) {
	run := job(4, []string{"a"}, map[string]time.Duration{"MPI_Send": time.Second})
	run.Paths[0].Carriers = []paths.Carrier{{Layer: paths.BTL, Transport: "vader"}}
	s := subject(t, machine.OpenMPI, "openmpi-4.1.4", run)
	for name, warned := range map[string]bool{"btl_tcp_links": true, "btl_vader_eager_limit": false} {
		if one, _, err := s.Add(name, "8192"); err != nil || strings.Contains(s.Idle(one.Set), "but by vader") != warned {
			t.Errorf("%s: %q, %v", name, s.Idle(one.Set), err)
		}
	}
	if why := s.Idle([]settings.NameValue{{Name: "UCX_TLS", Value: "tcp"}}); !strings.HasPrefix(why, "UCX is not in use here") {
		t.Errorf("UCX_TLS: %s", why)
	}
	run.Paths[0].Carriers = nil
	if why := s.idle(settings.NameValue{Name: "btl_tcp_links", Value: "2"}); why != "" {
		t.Errorf("unknown paths: %s", why)
	}
}
