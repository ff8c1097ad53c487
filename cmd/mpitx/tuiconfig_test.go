//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// homeOf is the home directory of an environment, and its configuration file.
func homeOf(t *testing.T, environ []string) (home, file string) {
	t.Helper()
	for _, kv := range environ {
		if h, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = h
		}
	}
	if home == "" {
		t.Fatal("no home")
	}
	return home, filepath.Join(home, ".config", "mpitx", "config.toml")
}

// What the user sets in one explorer is there in the next; two at the same time lose nothing.
func TestExplorerConfig(t *testing.T) {
	environ := testEnvironment(t)
	_, file := homeOf(t, environ)
	command := "mpitx tui --from " + snapshotFile(t)
	one, two := onScreen(t, environ, command), onScreen(t, environ, command)
	for s, name := range map[*screen]string{one: "btl_tcp_eager_limit", two: "btl_tcp_links"} {
		s.until("1282 cvars", "allocator")
		s.keys(":", "show "+name, "Enter", "b")
		s.until("bookmarked " + name)
	}
	one.keys(":", "theme high-contrast", "Enter")
	one.until("theme high-contrast")
	two.keys("/", "bcast alg", "Enter")
	two.until("search: bcast alg")
	for _, s := range []*screen{one, two} {
		s.keys("q")
		s.restored("0")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"'btl_tcp_eager_limit'", "'btl_tcp_links'", "theme = 'high-contrast'", "'show btl_tcp_links'", "'show btl_tcp_eager_limit'", "'bcast alg'"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("no %s in\n%s", part, text)
		}
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}

	s := onScreen(t, environ, command)
	s.until("1282 cvars")
	s.keys("B")
	s.until("filter: bookmarked=yes", "btl_tcp_eager_limit", "btl_tcp_links", "of 2")
	s.keys("q")
	s.restored("0")
}

// A broken file is named with its line, and stays as it is. Without a home everything works, and nothing is kept.
func TestExplorerBrokenConfig(t *testing.T) {
	environ := testEnvironment(t)
	_, file := homeOf(t, environ)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	const broken = "# mine\ntheme = 'dark'\npins = [\n"
	if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	s := onScreen(t, environ, "mpitx tui --from "+snapshotFile(t))
	s.until("config.toml:3: ", "; the file is ignored", "allocator")
	s.keys("b")
	s.until("bookmarked")
	s.keys("q")
	s.restored("0")
	if text, err := os.ReadFile(file); err != nil || string(text) != broken {
		t.Errorf("%q, %v", text, err)
	}

	s = onScreen(t, append(environ, "HOME=/dev/null"), "mpitx tui --from "+snapshotFile(t))
	s.until("1282 cvars", "allocator")
	s.keys("b")
	s.until("kept for this session only")
	s.keys("q")
	s.restored("0")
}

// My changes are exported to a script that gives the next run the same values.
func TestExplorerChanges(t *testing.T) {
	environ := testEnvironment(t)
	script := filepath.Join(t.TempDir(), "settings.sh")
	s := onScreen(t, environ, "mpitx tui --mpi demo -n 2")
	s.until("all variables", "2 ranks")
	s.keys(":", "write demo_eager_limit=77", "Enter")
	s.until("new  77", "y yes")
	s.keys("y")
	s.until("reads back 77")
	s.keys("Escape")
	s.until("C my changes")
	s.keys("C")
	s.until("my changes, for the next run", "> demo_eager_limit", "77", "the demo MPI reads its environment only")
	s.keys("Tab")
	s.until("export DEMO_CVAR_DEMO_EAGER_LIMIT=77")
	s.keys("X")
	s.until(":export settings.sh")
	s.keys("C-u", "export "+script, "Enter")
	s.until("saved the environment script to")
	s.keys("u")
	s.until("reads back")
	s.keys("Escape")
	s.until("all changes are undone")
	s.keys("q", "q")
	s.restored("0")

	p := newProcess(environ, t.TempDir(), "sh", "-c", ". "+script+"; mpitx read --mpi demo -o csv demo_eager_limit")
	p.run(hung)
	if p.code != 0 || !strings.Contains(p.output(), "77") {
		t.Errorf("code %d\n%s", p.code, p.output())
	}
}

// With each real library every form of the export gives the next run the edited value.
func TestExplorerChangesReach(t *testing.T) {
	for family, c := range map[string]struct {
		name, value string
		needed      string            // what the export adds
		forms       map[string]string // a file, and how a run uses it
	}{
		"openmpi": {"coll_tuned_bcast_algorithm_segmentsize", "4321", "coll_tuned_use_dynamic_rules,true", map[string]string{
			"options.txt":     "mpirun.openmpi -n 1 --oversubscribe $(cat options.txt) %s",
			"settings.sh":     ". ./settings.sh; %s",
			"mca-params.conf": "OMPI_MCA_mca_base_param_files=$PWD/mca-params.conf %s",
		}},
		"mpich": {"MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE", "4096", "", map[string]string{
			"options.txt": "mpirun.mpich $(cat options.txt) -n 1 %s",
			"settings.sh": ". ./settings.sh; %s",
		}},
	} {
		t.Run(family, func(t *testing.T) {
			if ok, err := have(family); err != nil {
				t.Fatal(err)
			} else if !ok {
				need.Missing(t, "%s is not installed", family)
			}
			environ, dir := testEnvironment(t), t.TempDir()
			s := onScreen(t, environ, "cd "+dir+"; mpitx tui -n 2 --mpi "+family)
			s.until("2 ranks", "all variables")
			s.keys(":", "write "+c.name+"="+c.value, "Enter")
			s.until("new  "+c.value, "y yes")
			s.keys("y")
			s.until("reads back " + c.value)
			s.keys("Escape")
			s.until("!reads back")
			s.keys("C")
			s.until("my changes, for the next run", c.name, c.value)
			for range c.forms {
				s.keys("X")
				s.until(":export ")
				s.keys("Enter")
				s.until("saved the ")
				s.keys("Tab")
				s.until("!saved the ")
			}
			s.keys("q", "q")
			s.restored("0")
			for file, run := range c.forms {
				needed, _, _ := strings.Cut(c.needed, ",")
				read := "mpitx read --mpi " + family + " -o csv --fields name,value " + c.name + " " + needed
				p := newProcess(environ, dir, "sh", "-c", fmt.Sprintf(run, read))
				p.run(hung)
				if p.code != 0 || !strings.Contains(p.output(), c.value) || !strings.Contains(p.output(), c.needed) {
					text, _ := os.ReadFile(filepath.Join(dir, file))
					t.Errorf("%s: code %d\n%s\n%s", file, p.code, p.output(), text)
				}
			}
		})
	}
}
