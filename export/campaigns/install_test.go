package campaigns

import (
	"strings"
	"testing"

	"mpitx/machine"
	"mpitx/settings"
	"mpitx/tune"
	"mpitx/tune/campaign"
)

// The environment goes before parameter files, options of the launcher are those of the one that mpitx starts, and the conclusion says that ranks
// shared cores.
func TestInstall(t *testing.T) {
	for name, c := range map[string]struct {
		session tune.Session
		set     settings.NameValue
		want    string
	}{
		"hidden":     {tune.Session{Family: machine.OpenMPI, Settings: map[string]string{"OMPI_MCA_btl": "self,tcp"}}, settings.NameValue{Name: "btl", Value: "self,vader"}, "unset OMPI_MCA_btl,"},
		"same value": {tune.Session{Family: machine.OpenMPI, Settings: map[string]string{"OMPI_MCA_btl": "self"}}, settings.NameValue{Name: "btl", Value: "self"}, "!unset"},
		"not set":    {tune.Session{Family: machine.OpenMPI}, settings.NameValue{Name: "btl", Value: "self,vader"}, "!unset"},
		"a script":   {tune.Session{Family: machine.MPICH, Settings: map[string]string{"MPIR_CVAR_NOLOCAL": "1"}}, settings.NameValue{Name: "MPIR_CVAR_NOLOCAL", Value: "0"}, "!unset"},
		"launcher":   {tune.Session{Family: machine.MPICH, Starter: "mpirun.mpich"}, settings.NameValue{Name: "-bind-to", Value: "core"}, "start the program with mpirun.mpich -bind-to core"},
		"shared":     {tune.Session{Family: machine.OpenMPI, Shortage: "2 ranks on 2 cores: rank 1 waited 66 % of the run for a core"}, settings.NameValue{Name: "btl", Value: "self"}, "were shared when the application was profiled: 2 ranks on 2 cores: rank 1 waited"},
		"not shared": {tune.Session{Family: machine.OpenMPI}, settings.NameValue{Name: "btl", Value: "self"}, "!were shared"},
	} {
		c.session.App, c.session.Ranks = []string{"./app"}, 2
		a := Answer{Session: &c.session, Dir: "d", File: "d/settings", Result: &campaign.Result{Verdict: campaign.Faster, Best: &campaign.Candidate{Set: []settings.NameValue{c.set}}}}
		said := ""
		for _, paragraph := range a.Conclusion() {
			said += strings.Join(paragraph, "\n") + "\n"
		}
		word, not := strings.CutPrefix(c.want, "!")
		if strings.Contains(said, word) == not {
			t.Errorf("%s: %s", name, said)
		}
	}
}
