package tune

import (
	"os"
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/settings"
	"mpitx/tune/advice"
	"mpitx/tune/campaign"
)

// Values of --add have commas, and | between them.
func TestParseAdd(t *testing.T) {
	all, err := parseAdd([]string{"UCX_TLS=self,sm|all", "--bind-to=none", "UCX_TLS=tcp"})
	if want := [][2]string{{"UCX_TLS", "self,sm"}, {"UCX_TLS", "all"}, {"--bind-to", "none"}, {"UCX_TLS", "tcp"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%q, %v", all, err)
	}
	for _, wrong := range []string{"a", "a=", "=1", "a=1||2", "a=1|1"} {
		if _, err := parseAdd([]string{wrong}); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// --only leaves what it is about, and is also about what --add brings, which stays in any case.
func TestChoose(t *testing.T) {
	one := func(name string) campaign.Candidate {
		return campaign.Candidate{Name: name + "=1", Set: []settings.NameValue{{Name: name, Value: "1"}}, Group: name}
	}
	for _, c := range []struct{ only, left, wrong string }{
		{"", "x y", ""}, {"x", "x", ""}, {"own", "", ""}, {"MPI_Bcast", "x y", ""}, {"z", "", "--only z: "},
	} {
		tried := []advice.Proposal{{Rule: &advice.Rule{Name: "rule"}, Subject: "MPI_Bcast", Try: []campaign.Candidate{one("x"), one("y")}}}
		o := &campaigning{options: &options{only: strings.Fields(c.only)}}
		err := o.choose(tried, []campaign.Candidate{one("own")})
		var left []string
		for _, x := range tried[0].Try {
			left = append(left, x.Set[0].Name)
		}
		if got := strings.Join(left, " "); got != c.left && c.wrong == "" || (err != nil) != (c.wrong != "") || err != nil && !strings.HasPrefix(err.Error(), c.wrong) {
			t.Errorf("--only %q leaves %q: %v", c.only, got, err)
		}
	}
}

// Why a run failed is the program's last line, and not what launchers and mpitx say of it.
func TestLastLine(t *testing.T) {
	const openmpi = "--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n--------------------------------------------------------------------------\n"
	const mpich = "\n===================================================================================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n===================================================================================\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Hangup (signal 1)\n"
	for _, c := range []struct{ said, want string }{
		{"start\ncrash: dying\n" + openmpi + "mpitx: rank 1: the process died\nmpitx: --set btl_vader_eager_limit=65536: ok\n", "exit status 3: crash: dying"},
		{"mpitx: --set a=1: ok\ncrash: dying\n" + mpich, "exit status 3: crash: dying"},
		{"mpitx: start ./gone: there is no such file\nmpitx: --set a=1: ok\n", "exit status 3: mpitx: start ./gone: there is no such file"},
		{openmpi, "exit status 3"},
	} {
		if got := lastLine(&cli.RunFailed{How: "exit status 3", Said: c.said}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A directory that cannot be written is to blame for a run that failed.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if err := writable(dir); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Error("a file was left")
	}
	if err := writable(dir + "/gone"); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}
