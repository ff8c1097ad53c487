package advice

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/settings/tuning"
)

// No candidate is a value that the library has already or would refuse, in any release. A setting is named with its place, unless it is the
// default.
func TestCandidates(t *testing.T) {
	files, _ := filepath.Glob("../../fixtures/snapshots/*.json")
	for _, file := range files {
		c, err := catalog.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		family, variable := machine.OpenMPI, "coll_tuned_bcast_algorithm"
		if strings.HasPrefix(name, "mpich") {
			family, variable = machine.MPICH, "MPIR_CVAR_NOLOCAL"
		}
		c.Cvar(variable).Origin = &catalog.Origin{Kind: "file", Where: "/site.conf:3", Value: "1"}
		for _, hosts := range [][]string{{"a"}, {"a", "b"}} {
			s := Subject{Profile: job(2, hosts, map[string]time.Duration{"MPI_Bcast": time.Second, "MPI_Barrier": time.Second, "MPI_Send": time.Second}), Family: family, Catalog: c,
				Judge: &settings.Judge{Env: &machine.Env{}, Impl: family, Elsewhere: true, Knowledge: tuning.Own()}}
			s.Default = func(name string) (string, bool) { return "7", name == variable }
			all := s.Propose(OwnRules())
			seen, placed := 0, false
			if _, why := s.complete([]settings.NameValue{{Name: "btl", Value: "self,nosuch"}}); family == machine.OpenMPI && why != "btl=self,nosuch: the library has no component nosuch" {
				t.Errorf("%s: %q", name, why)
			}
			for btl, release := range map[string]string{"self,vader,tcp": "openmpi-4", "self,sm,tcp": "openmpi-5"} {
				if _, why := s.complete([]settings.NameValue{{Name: "btl", Value: btl}}); strings.HasPrefix(name, release) && why != "" {
					t.Errorf("%s: %s", name, why)
				}
			}
			for _, p := range all {
				placed = placed || p.Subject == variable && strings.Contains(p.Text, "(file /site.conf:3)")
				for _, one := range p.Try {
					seen++
					last := one.Set[len(one.Set)-1]
					for _, set := range one.Set {
						v := c.Cvar(set.Name)
						if err := settings.Takes(family, c, v, set.Value); err != nil {
							t.Errorf("%s: %s: %v", name, one.Name, err)
						}
						if set == last && len(one.Set) == 1 && Value(c, set.Name) == set.Value {
							t.Errorf("%s: %s is there already", name, one.Name)
						}
					}
				}
			}
			if seen == 0 || !placed {
				t.Errorf("%s: %d candidates; the place of the setting is named: %v", name, seen, placed)
			}
			if family == machine.OpenMPI { // the usual value may be empty
				c.Cvar("btl").Origin = &catalog.Origin{Kind: "environment", Where: "OMPI_MCA_btl", Value: "self,tcp"}
				settings.Assume(c, "btl", catalog.NewText("self,tcp"))
				s.Default = func(string) (string, bool) { return "", true }
				if all := s.Propose(OwnRules()); !slices.ContainsFunc(all, func(p Proposal) bool { return p.Subject == "btl" && len(p.Try) == 1 && p.Try[0].Name == "btl=" }) {
					t.Errorf("%s: nothing to try for btl", name)
				}
				c.Cvar("btl").Origin = nil
			}
			now := c.Cvar(variable).Current().Value.String()
			s.Default = func(name string) (string, bool) { return now, name == variable }
			for _, p := range s.Propose(OwnRules()) {
				if p.Subject == variable {
					t.Errorf("%s: %s", name, p.Text)
				}
			}
		}
	}
}
