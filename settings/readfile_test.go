package settings

import (
	"fmt"
	"strings"
	"testing"
)

// Parameter lines and scripts are read alike; what is neither is refused with its line.
func TestReadSettings(t *testing.T) {
	for _, test := range []struct{ content, want, failure string }{
		{"# from mpitx\n\ncoll_tuned_use_dynamic_rules = true\n btl = self,tcp \nx = \"a b\"\n", "[{coll_tuned_use_dynamic_rules true} {btl self,tcp} {x a b}] []", ""},
		{"export OMPI_MCA_btl=self,tcp\nexport MPIR_CVAR_NOLOCAL=1\nexport UCX_TLS='tcp self'\n", "[{btl self,tcp} {MPIR_CVAR_NOLOCAL 1}] [UCX_TLS=tcp self]", ""},
		{"MPIR_CVAR_NOLOCAL=1\nUCX_TLS=self\n", "[{MPIR_CVAR_NOLOCAL 1}] [UCX_TLS=self]", ""},
		{"btl = self\nnonsense\n", "", "f:2: must be"},
		{"export OMPI_MCA_btl=$(id)\n", "", "f:1: $(id) is more"},
		{"export PATH=/bin\n", "", "f:1: PATH is not a setting"},
		{"LD_PRELOAD=/x.so\n", "", "f:1: LD_PRELOAD is not a setting"},
		{"", "[] []", ""},
	} {
		set, environ, err := ReadSettings("f", test.content)
		if got := fmt.Sprint(set, environ); test.failure == "" && (err != nil || got != test.want) || test.failure != "" && (err == nil || !strings.HasPrefix(err.Error(), test.failure)) {
			t.Errorf("%q: %s, %v", test.content, got, err)
		}
	}
}

func FuzzReadSettings(f *testing.F) {
	f.Add("btl = self\nexport UCX_TLS='a'\n")
	f.Fuzz(func(t *testing.T, content string) {
		set, environ, err := ReadSettings("f", content)
		if n := strings.Count(content, "\n") + 1; len(set)+len(environ) > n || err != nil && len(set)+len(environ) > 0 {
			t.Errorf("%q: %v %v %v", content, set, environ, err)
		}
	})
}
