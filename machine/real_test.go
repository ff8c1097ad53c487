package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mpitx/fixtures/need"
)

// installed are the MPIs of this machine. Without any, the tests on real ones are skipped.
func installed(t *testing.T) []MPI {
	all := System().Find()
	if len(all) == 0 {
		need.Missing(t, "no MPI is installed")
	}
	return all
}

func TestRealLibraries(t *testing.T) {
	for _, m := range installed(t) {
		if m.Family == "" || m.SONAME == "" || m.Prefix == "" || m.Why == "" {
			t.Errorf("%+v", m)
		}
		got, err := System().Choose(m.Lib)
		if err != nil || got.Lib != m.Lib || got.Family != m.Family || got.BuildID != m.BuildID {
			t.Errorf("--mpi %s: %+v, %v", m.Lib, got, err)
		}
	}
}

// Under each MPI's own launcher its library is chosen, although PATH leads to another one for all but one of them.
func TestRealLaunchers(t *testing.T) {
	if os.Getenv("LOCATE_TEST_CHILD") != "" {
		m, err := System().Choose("")
		l := System().Launcher()
		t.Logf("child: %s size %d %s %v %v", m.Lib, l.Size, l.Name, l.PID != 0, err)
		return
	}
	for _, m := range installed(t) {
		if m.Launcher == "" {
			continue
		}
		e := System()
		e.Environ = append(e.Environ, "LOCATE_TEST_CHILD=1")
		if m.Family == ABI { // by default launchers start their native library
			e.Environ = append(e.Environ, "MPITX_MPI=abi")
		}
		argv, environ, err := e.LaunchCommand(m, 2, []string{os.Args[0], "-test.run=TestRealLaunchers", "-test.v"})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Env, cmd.WaitDelay = environ, time.Second
		stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		out, err := cmd.CombinedOutput()
		stop.Stop()
		if n := strings.Count(string(out), "child: "+m.Lib+" size 2 "); err != nil || n != 2 || !strings.Contains(string(out), "true <nil>") {
			t.Errorf("%s: %v\n%s", m.Launcher, err, out)
		}
	}
}

func TestBuildShim(t *testing.T) {
	sources := os.DirFS(filepath.Join("..", "binding", "shim"))
	dir := t.TempDir()
	built := 0
	for _, cc := range []string{"mpicc", "mpicc.openmpi", "mpicc.mpich"} {
		if _, err := exec.LookPath(cc); err != nil {
			continue
		}
		path, family, err := System().BuildShim(cc, sources, dir)
		if err != nil || path != filepath.Join(dir, ShimName(family)) {
			t.Fatalf("%s: %s, %s, %v", cc, path, family, err)
		}
		if i := strings.LastIndexByte(cc, '.'); i > 0 && family != cc[i+1:] {
			t.Errorf("%s: family %s", cc, family)
		}
		built++
	}
	if built == 0 {
		need.Missing(t, "mpicc is not installed")
	}
	for _, m := range installed(t) {
		if p, err := (&Env{}).Shim(m, dir); m.Family != ABI && (err != nil || p == "") {
			t.Errorf("%s: %v", m.Family, err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range left {
		if !strings.HasSuffix(file, ".so") {
			t.Errorf("%s was left", file)
		}
	}
}

func TestBuildShimErrors(t *testing.T) {
	need.Commands(t, "cc")
	for name, c := range map[string]struct{ cc, source, says string }{
		"no command":     {"no-such-mpicc", "", "no such command"},
		"empty":          {" ", "", "no compiler named"},
		"no mpi.h":       {"cc", "#include <mpix-is-not-there.h>\n", "mpix-is-not-there.h"},
		"does not build": {"cc", "#define FAMILY \"openmpi\"\nint x = undeclared;\n", "undeclared"},
		"unknown MPI":    {"cc", "#error mpitx does not know this mpi.h\n", "does not know this mpi.h"},
	} {
		dir := t.TempDir()
		_, _, err := System().BuildShim(c.cc, fstest.MapFS{"shim.c": {Data: []byte(c.source)}}, dir)
		own, ok := err.(*Error)
		if !ok || !strings.Contains(own.Error()+own.Output, c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

func BenchmarkChoose(b *testing.B) {
	for b.Loop() {
		_, _ = System().Choose("")
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		System().Find()
	}
}
