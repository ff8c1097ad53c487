package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Parameter lines and scripts are read alike; what is neither is refused with its line.
func TestReadSettings(t *testing.T) {
	for _, test := range []struct{ content, want, failure string }{
		{"# from mpitx\n\ncoll_tuned_use_dynamic_rules = true\n btl = self,tcp \nx = \"a b\"\n", "[{coll_tuned_use_dynamic_rules true} {btl self,tcp} {x a b}] [] []", ""},
		{"export OMPI_MCA_btl=self,tcp\nexport MPIR_CVAR_NOLOCAL=1\nexport UCX_TLS='tcp self'\n", "[{btl self,tcp} {MPIR_CVAR_NOLOCAL 1}] [UCX_TLS=tcp self] []", ""},
		{"MPIR_CVAR_NOLOCAL=1\nUCX_TLS=self\n", "[{MPIR_CVAR_NOLOCAL 1}] [UCX_TLS=self] []", ""},
		{"#mpitx --bind-to = core\n#mpitx UCX_TLS = self\n--map-by=numa\n# btl = sm\n", "[] [UCX_TLS=self] [--bind-to core --map-by numa]", ""},
		{"export --bind-to=core\n", "", "f:1: --bind-to is not a setting"},
		{"#mpitx PATH = /bin\n", "[{PATH /bin}] [] []", ""},
		{"btl = self\nnonsense\n", "", "f:2: must be"},
		{"export OMPI_MCA_btl=$(id)\n", "", "f:1: $(id) is more"},
		{"export PATH=/bin\n", "", "f:1: PATH is not a setting"},
		{"LD_PRELOAD=/x.so\n", "", "f:1: LD_PRELOAD is not a setting"},
		{"", "[] [] []", ""},
	} {
		g, err := ReadSettings("f", test.content)
		if got := fmt.Sprint(g.Set, g.Environ, g.Options); test.failure == "" && (err != nil || got != test.want) || test.failure != "" && (err == nil || !strings.HasPrefix(err.Error(), test.failure)) {
			t.Errorf("%q: %s, %v", test.content, got, err)
		}
	}
}

func FuzzReadSettings(f *testing.F) {
	f.Add("btl = self\nexport UCX_TLS='a'\n#mpitx --map-by = core\n")
	f.Fuzz(func(t *testing.T, content string) {
		g, err := ReadSettings("f", content)
		lines := len(g.Set) + len(g.Environ) + len(g.Options)/2
		if n := strings.Count(content, "\n") + 1; lines > n || err != nil && lines > 0 {
			t.Errorf("%q: %+v %v", content, g, err)
		}
	})
}

// What is written for a run is read back, and what a file cannot hold is in comments that mpitx reads and that say how people give it.
func TestBeyondLines(t *testing.T) {
	set := []NameValue{{"btl", " a"}, {"UCX_TLS", "self,sm"}, {"--bind-to", "core"}, {"PRTE_MCA_x_y", `"b"`}}
	all, err := ReadSettings("f", Lines(set))
	if got, want := fmt.Sprint(all), `{[{btl  a}] [UCX_TLS=self,sm PRTE_MCA_x_y="b"] [--bind-to core]}`; err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	for form, want := range map[Form]string{
		File: "# mpitx run --settings also gives these, which this file cannot hold. By hand:\n# mpirun -x UCX_TLS=self,sm --bind-to core --prtemca x_y '\"b\"' ./app\n" +
			"#mpitx UCX_TLS = self,sm\n#mpitx --bind-to = core\n#mpitx PRTE_MCA_x_y = \"\"b\"\"\n",
		Script: "export UCX_TLS=self,sm\nexport PRTE_MCA_x_y='\"b\"'\n# mpitx run --settings also gives these, which this file cannot hold. By hand:\n# mpirun --bind-to core ./app\n#mpitx --bind-to = core\n",
	} {
		lines := BeyondLines("mpirun", form, set)
		all.Set = nil
		slices.Sort(all.Environ)
		read, err := ReadSettings("f", lines)
		slices.Sort(read.Environ)
		if lines != want || err != nil || fmt.Sprint(read) != fmt.Sprint(all) {
			t.Errorf("%v: %s, read as %v (%v)", form, lines, read, err)
		}
	}
	if got := BeyondLines("mpirun.mpich", Script, set[:1]) + ByHand("mpirun.mpich", Script, set[:2]); got != "" {
		t.Error(got)
	}
}

// Control variables are set in the environment of the launcher, and what a file alone can give is in the file.
func TestForLaunch(t *testing.T) {
	environ, rest := ForLaunch([]NameValue{{"btl", "self"}, {"UCX_TLS", "sm"}, {"--bind-to", "core"}, {"MPIR_CVAR_NOLOCAL", "1"}})
	if got, want := fmt.Sprint(environ, rest), "[OMPI_MCA_btl=self MPIR_CVAR_NOLOCAL=1] [{UCX_TLS sm} {--bind-to core}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
