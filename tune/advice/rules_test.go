package advice

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
)

// ofUCX are variables that UCX 1.13 to 1.18 have (ucx_info -c).
var ofUCX = []string{"UCX_TLS", "UCX_RNDV_THRESH", "UCX_RNDV_SCHEME"}

// Each setting that a rule tries is one that at least one release has: a wrong name would never be said.
func TestVariablesOfRules(t *testing.T) {
	files, _ := filepath.Glob("../../fixtures/snapshots/*.json")
	if len(files) < 6 {
		t.Fatal("no snapshots")
	}
	catalogs := map[string]*catalog.Catalog{}
	for _, file := range files {
		c, err := catalog.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		catalogs[filepath.Base(file)] = c
	}
	has := func(family, name string) bool {
		m, err := (&catalog.Filter{Names: []string{name}}).Compile()
		if err != nil {
			t.Fatal(err)
		}
		for file, c := range catalogs {
			if strings.HasPrefix(file, family) {
				for k := range c.Cvars {
					if m.MatchName(c.Cvars[k].Name) {
						return true
					}
				}
			}
		}
		return false
	}
	words := strings.NewReplacer("{operation}", "bcast", "{OPERATION}", "BCAST", "{transport}", "tcp")
	for _, r := range OwnRules() {
		for _, try := range r.Tries {
			for _, name := range []string{try.Name, try.With} {
				if name == "" || strings.Contains(name, "{variable}") {
					continue
				}
				found := false
				for _, family := range r.Families {
					impl := map[string]string{"openmpi": machine.OpenMPI, "mpich": machine.MPICH}[family]
					found = found || slices.Contains(ofUCX, name) || slices.Contains(machine.LaunchOptions(machine.MPI{Impl: impl, Launcher: "/r"}), name)
					found = found || has(map[string]string{machine.OpenMPI: "openmpi", machine.MPICH: "mpich"}[family], words.Replace(name))
				}
				if !found {
					t.Errorf("%s: no release has %s", r.Name, name)
				}
			}
		}
	}
}

func FuzzParseRules(f *testing.F) {
	f.Add(ownRules)
	f.Add("mpich x\n\tif messages 5 %\n\tsay s\n\ttry A=1|2 with B=3\n\twrong w\n\tfrom f\n")
	f.Add("openmpi,mpich y\n if finding tcp\n say\n try = \n try A = each but")
	f.Fuzz(func(t *testing.T, text string) {
		rules, _ := ParseRules("f", text)
		for _, r := range rules {
			if r.Name == "" || r.Source == "" || r.Say == "" || r.Wrong == "" || len(r.Ifs) == 0 {
				t.Errorf("%+v", r)
			}
			for _, try := range r.Tries {
				for _, v := range append(try.Values, try.Also...) {
					if v == "" {
						t.Errorf("%+v: an empty value", try)
					}
				}
			}
		}
	})
}
