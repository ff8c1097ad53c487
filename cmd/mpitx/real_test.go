//go:build cgo && linux

package main

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
	"mpitx/fixtures/need"
)

var launchers = map[string][]string{
	"openmpi": {"mpirun.openmpi", "--oversubscribe", "-n", "4"},
	"mpich":   {"mpirun.mpich", "-n", "4"},
}

// enumerated is a variable as testdata/enumerate.c sees it.
type enumerated struct{ kind, name, class, status, value string }

func (e enumerated) id() string {
	if e.kind == "pvar" {
		return e.name + ":" + e.class
	}
	return e.name
}

func needs(t *testing.T, family string) {
	t.Helper()
	if ok, err := have(family); err != nil {
		t.Fatal(err)
	} else if !ok {
		need.Missing(t, "%s is not installed", family)
	}
}

// TestRealLibraries compares mpitx with an independent C program, on real libraries.
func TestRealLibraries(t *testing.T) {
	for family, launcher := range launchers {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			needs(t, family)
			environ := testEnvironment(t)
			program := filepath.Join(t.TempDir(), "enumerate")
			if out, err := exec.Command("mpicc."+family, "-std=gnu11", "-O1", "-o", program, "testdata/enumerate.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			compareWithC(t, environ, launcher, program)
		})
	}
}

// TestLostRank lets one rank hang, or die, after MPI_Init.
func TestLostRank(t *testing.T) {
	variable := map[string]string{"openmpi": "mpi_add_procs_cutoff", "mpich": "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE"}
	for family, launcher := range launchers {
		for _, end := range []string{"hang", "die"} {
			t.Run(family+"/"+end, func(t *testing.T) {
				t.Parallel()
				needs(t, family)
				environ := append(testEnvironment(t), "MPITX_MPI=", "BAD_RANK=2", "BAD_END="+end)
				library := filepath.Join(t.TempDir(), "badrank.so")
				if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, "testdata/badrank.c", "-ldl").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				args := append(slices.Clone(launcher), "env", "LD_PRELOAD="+library, "mpitx", "read", variable[family], "-o", "csv", "--fields", "id,ranks", "--timeout", "12s")
				p := newProcess(environ, t.TempDir(), args...)
				p.run(30 * time.Second)
				if p.launcherHung {
					t.Logf("%s hung by itself, and was killed", launcher[0])
				}
				if p.failure != "" || p.code == 0 {
					t.Errorf("exit code %d %s\n%s", p.code, p.failure, p.output())
				}
				if !strings.Contains(p.stderr.String(), "mpitx: rank 2 on ") {
					t.Errorf("rank 2 is not named\n%s", p.output())
				}
				// After a process dies, launchers kill the job before the other ranks can answer.
				if end == "hang" && !strings.Contains(p.stdout.String(), variable[family]+",\"r0-1,3=") {
					t.Errorf("the others have not answered\n%s", p.output())
				}
			})
		}
	}
}

func compareWithC(t *testing.T, environ, launcher []string, program string) {
	before, after := enumerate(t, environ, launcher, program)
	// From here on, only the launcher decides which MPI is used.
	environ = append(environ, "MPITX_MPI=")
	file := filepath.Join(t.TempDir(), "snapshot.json")
	succeed(t, environ, launcher, "mpitx", "snapshot", "--out", file)
	c, err := catalog.Load(file)
	if err != nil {
		t.Fatal(err)
	}

	for _, kind := range []struct {
		word string
		vars []catalog.Variable
	}{{"cvars", c.Cvars}, {"pvars", c.Pvars}} {
		want := union(before, after, strings.TrimSuffix(kind.word, "s"))
		if len(want) == 0 { // mpitx list then warns on standard error
			if len(kind.vars) > 0 {
				t.Errorf("%d %s, where the C program sees none", len(kind.vars), kind.word)
			}
			continue
		}
		got := strings.Fields(succeed(t, environ, launcher, "mpitx", "list", kind.word, "-o", "names"))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (- C program, + mpitx):\n%s", kind.word, d)
		}
		if kind.word == "cvars" && len(got) < 300 {
			t.Errorf("only %d control variables", len(got))
		}
		readings(t, kind.vars, before, after)
	}

	// Values that do not change between runs must be the same in mpitx. Two runs of the C program show which ones these are.
	wrong := differing(c, before, after)
	if len(wrong) > 0 {
		again, later := enumerate(t, environ, launcher, program)
		for _, d := range wrong {
			if !slices.Contains(changed(before, again), d.id) && !slices.Contains(changed(after, later), d.id) {
				t.Errorf("%s: %s: mpitx reads %q, the C program %q", d.id, d.stage, d.got, d.want)
			}
		}
		if len(wrong) > len(c.Cvars)/20 {
			t.Errorf("%d of %d values change from run to run: that is too many to be true", len(wrong), len(c.Cvars))
		}
	}
}

func enumerate(t *testing.T, environ, launcher []string, program string) (before, after map[string]enumerated) {
	t.Helper()
	dir := t.TempDir()
	succeed(t, environ, launcher, program, dir)
	read := func(name string) map[string]enumerated {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		vars := map[string]enumerated{}
		for line := range strings.Lines(string(text)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			e := enumerated{f[0], f[1], f[2], f[3], f[5]}
			if f[4] == "text" {
				raw, err := hex.DecodeString(e.value)
				if err != nil {
					t.Fatal(err)
				}
				e.value = string(raw)
			}
			if _, ok := vars[e.id()]; !ok { // Open MPI lists some twice
				vars[e.id()] = e
			}
		}
		return vars
	}
	return read("before"), read("after")
}

// succeed runs a command under a launcher: exit code 0, nothing on standard error. It returns standard output.
func succeed(t *testing.T, environ, launcher []string, args ...string) string {
	t.Helper()
	p := newProcess(environ, t.TempDir(), append(slices.Clone(launcher), args...)...)
	p.run(hung)
	if p.failure != "" || p.code != 0 || p.stderr.Len() > 0 {
		t.Fatalf("exit code %d %s\n%s", p.code, p.failure, p.output())
	}
	return p.stdout.String()
}

// union lists the names of both stages, sorted, as mpitx list -o names does: with the class if a name has several.
func union(before, after map[string]enumerated, kind string) []string {
	ids := map[string]enumerated{}
	count := map[string]int{}
	for _, vars := range []map[string]enumerated{before, after} {
		for id, e := range vars {
			if _, ok := ids[id]; !ok && e.kind == kind {
				ids[id] = e
				count[e.name]++
			}
		}
	}
	var names []string
	for id, e := range ids {
		if count[e.name] > 1 {
			names = append(names, id)
		} else {
			names = append(names, e.name)
		}
	}
	slices.Sort(names)
	return names
}

// readings checks that readable variables have values, and that variables that kill the process are marked.
func readings(t *testing.T, vars []catalog.Variable, before, after map[string]enumerated) {
	t.Helper()
	faulty := 0
	for k := range vars {
		v := &vars[k]
		for _, stage := range []struct {
			name string
			r    *catalog.Reading
			c    map[string]enumerated
		}{{"before", v.Before, before}, {"after", v.After, after}} {
			e, listed := stage.c[v.ID()]
			if listed != (stage.r != nil) {
				t.Errorf("%s: %s MPI_Init: listed by the C program: %v, by mpitx: %v", v.ID(), stage.name, listed, stage.r != nil)
			}
			if stage.r == nil || !listed {
				continue
			}
			status := stage.r.Status
			ok := map[string]bool{
				"ok": status == catalog.StatusOK, "crash": status == catalog.StatusFaulty,
				"error":   status != catalog.StatusOK && status != catalog.StatusFaulty,
				"unbound": status != catalog.StatusFaulty,
			}[e.status]
			if !ok {
				t.Errorf("%s: %s MPI_Init: the C program: %s, mpitx: %s: %s", v.ID(), stage.name, e.status, status, stage.r.Reason)
			}
			if status != catalog.StatusOK && stage.r.Reason == "" {
				t.Errorf("%s: %s MPI_Init: %s without a reason", v.ID(), stage.name, status)
			}
			if status == catalog.StatusFaulty && stage.name == "after" {
				faulty++
				if !strings.Contains(stage.r.Reason, "crashes in handle_alloc") {
					t.Errorf("%s: faulty: %s", v.ID(), stage.r.Reason)
				}
			}
		}
	}
	psm2 := 0
	for _, e := range after {
		if e.kind == "pvar" && strings.HasPrefix(e.name, "mtl_psm2_") && e.status == "crash" {
			psm2++
		}
	}
	if len(vars) > 0 && vars[0].Kind == catalog.Pvars && faulty != psm2 {
		t.Errorf("%d faulty performance variables after MPI_Init, %d of mtl_psm2 crash", faulty, psm2)
	}
}

// dangling are variables that Open MPI registered with an address on the stack. Their values are random. (Those of alltoall
// do in 6.0.)
var dangling = map[string]bool{"pml_ucx_multi_send_nb": true, "coll_ftagree_agreement": true, "coll_tuned_alltoall_small_msg": true,
	"coll_tuned_alltoall_intermediate_msg": true, "coll_tuned_alltoall_large_msg": true, "coll_tuned_alltoall_min_procs": true}

type difference struct{ id, stage, got, want string }

func differing(c *catalog.Catalog, before, after map[string]enumerated) []difference {
	var out []difference
	for k := range c.Cvars {
		v := &c.Cvars[k]
		for _, stage := range []struct {
			name string
			r    *catalog.Reading
			c    map[string]enumerated
		}{{"before", v.Before, before}, {"after", v.After, after}} {
			if stage.r == nil || stage.r.Status != catalog.StatusOK {
				continue
			}
			if got, want := stage.r.Value.String(), stage.c[v.Name].value; got != want && !dangling[v.Name] {
				out = append(out, difference{v.Name, stage.name, got, want})
			}
		}
	}
	return out
}

func changed(a, b map[string]enumerated) []string {
	var out []string
	for id, e := range a {
		if b[id].value != e.value {
			out = append(out, id)
		}
	}
	return out
}

// TestRealSettings starts runs with the settings that mpitx write prints. The library must then have the intended value.
func TestRealSettings(t *testing.T) {
	for family, writes := range map[string][]string{
		"openmpi": {"coll_tuned_bcast_algorithm_segmentsize=0x1000", "mpi_show_handle_leaks=on", "btl_self_flags=send|put", "mpi_param_check=0"},
		"mpich": {"MPIR_CVAR_BCAST_INTRA_ALGORITHM=4", "MPIR_CVAR_IALLREDUCE_INTRA_ALGORITHM=10", "MPIR_CVAR_DEVICE_COLLECTIVES=1",
			"MPIR_CVAR_BCAST_SHORT_MSG_SIZE=0x1000"},
	} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			needs(t, family)
			environ := testEnvironment(t)
			p := newProcess(environ, t.TempDir(), append([]string{"mpitx", "write", "--mpi", family}, writes...)...)
			p.run(hung)
			var names []string
			want := "kind,name,value\n"
			for _, w := range writes {
				name, _, _ := strings.Cut(w, "=")
				names = append(names, name)
			}
			for _, line := range strings.Split(p.stdout.String(), "\n") {
				if settings, ok := strings.CutPrefix(strings.TrimSpace(line), "export "); ok {
					environ = append(environ, strings.Fields(settings)...)
				}
			}
			for _, value := range map[string][]string{"openmpi": {"4096", "true", "send|put", "false"}, "mpich": {"4", "10", "1", "4096"}}[family] {
				want += "cvar," + names[strings.Count(want, "\n")-1] + "," + value + "\n"
			}
			q := newProcess(environ, t.TempDir(), append([]string{"mpitx", "read", "--mpi", family, "-o", "csv", "--fields", "name,value"}, names...)...)
			q.run(hung)
			if q.code != 0 || q.stdout.String() != want {
				t.Errorf("%s\nthen code %d, want\n%s\n%s", p.output(), q.code, want, q.output())
			}
		})
	}
}
