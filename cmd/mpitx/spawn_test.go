//go:build cgo && linux

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// spawners are MPIs that can spawn processes: their compilers and launchers. Debian's MPICH cannot, the lab's can.
func spawners(t *testing.T) map[string][2]string {
	t.Helper()
	all := map[string][2]string{}
	if _, err := exec.LookPath("mpirun.openmpi"); err == nil {
		all["openmpi"] = [2]string{"mpicc.openmpi", "mpirun.openmpi --oversubscribe"}
	}
	home, _ := os.UserCacheDir()
	lab := filepath.Join(cmp.Or(os.Getenv("MPITX_LAB"), filepath.Join(home, "mpitx-lab")), "mq/bin")
	if _, err := os.Stat(filepath.Join(lab, "mpicc")); err == nil {
		all["mpich"] = [2]string{filepath.Join(lab, "mpicc"), filepath.Join(lab, "mpirun")}
	}
	if len(all) == 0 {
		need.Missing(t, "no MPI that can spawn processes")
	}
	return all
}

// TestSpawned profiles processes that MPI_Comm_spawn and MPI_Comm_spawn_multiple start, and their messages.
func TestSpawned(t *testing.T) {
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	for family, tools := range spawners(t) {
		t.Run(family, func(t *testing.T) {
			dir := t.TempDir()
			program := filepath.Join(dir, "spawn")
			if text, err := exec.Command(tools[0], "-g", "-w", "-o", program, "testdata/profile/spawn.c").CombinedOutput(); err != nil {
				t.Fatalf("spawn.c: %v\n%s", err, text)
			}
			p := profileSpawned(t, dir, tools[1], program)
			if out := p.stdout.String(); strings.Count(out, "child three of 3 with 3 arguments\n") != 3 || strings.Count(out, "child two of 2 with 2 arguments\n") != 2 {
				t.Errorf("the children printed %q", out)
			}
			if !strings.Contains(p.stderr.String(), "spawn: 2 ranks and 5 spawned on 1 node") {
				t.Errorf("%s", p.stderr.String())
			}
			checkSpawned(t, readReport(t, testEnvironment(t), filepath.Join(dir, "run")), map[string]uint64{
				"0 4": 100, "1 6": 400, "2 1": 200, "2 3": 10, "3 4": 10, "4 2": 10, "3 0": 300,
			}, []string{"0", "1", "2 by 1", "3 by 1", "4 by 1", "5 by 1", "6 by 1"})
		})
	}
}

func TestSpawnedPython(t *testing.T) {
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	if modules, _ := filepath.Glob("/usr/lib/python3/dist-packages/mpi4py/MPI.*.so"); len(modules) == 0 {
		need.Missing(t, "python3-mpi4py is not installed")
	}
	tools, dir := spawners(t)["openmpi"], t.TempDir() // Debian's mpi4py uses it
	script, err := filepath.Abs("testdata/profile/spawn.py")
	if err != nil {
		t.Fatal(err)
	}
	profileSpawned(t, dir, tools[1], "/usr/bin/python3", script)
	checkSpawned(t, readReport(t, testEnvironment(t), filepath.Join(dir, "run")), map[string]uint64{"1 3": 40}, []string{"0", "1", "2 by 0", "3 by 0"})
}

func profileSpawned(t *testing.T, dir, launcher string, program ...string) *process {
	t.Helper()
	argv := append(strings.Fields(launcher), append([]string{"-n", "2", "mpitx", "profile", "--dir", "run", "--pvar", "mpitx:calls", "--"}, program...)...)
	p := newProcess(append(testEnvironment(t), "MPITX_MPI="), dir, argv...)
	p.run(hung)
	if p.failure != "" || p.code != 0 || strings.Contains(p.stderr.String(), "not recorded") {
		t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "run", "spawn-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	return p
}

// checkSpawned compares bytes by source and destination, and the ranks with those who spawned them.
func checkSpawned(t *testing.T, r *profiledRun, matrix map[string]uint64, ranks []string) {
	t.Helper()
	got, all := map[string]uint64{}, uint64(0)
	for _, m := range r.Matrix {
		if m.Messages != 1 || m.Messages_received != 1 || m.Bytes != m.Bytes_received {
			t.Errorf("%+v", m)
		}
		got[fmt.Sprint(m.Source, " ", m.Destination)] = m.Bytes
		all += m.Bytes
	}
	if fmt.Sprint(got) != fmt.Sprint(matrix) {
		t.Errorf("matrix %v, not %v", got, matrix)
	}
	var list []string
	for _, rank := range r.Ranks {
		text := fmt.Sprint(rank.Rank)
		if rank.Spawned_by != nil {
			text += fmt.Sprint(" by ", *rank.Spawned_by)
		}
		if list = append(list, text); rank.State != "ended" || rank.Calls == 0 {
			t.Errorf("%+v", rank)
		}
	}
	if fmt.Sprint(list) != fmt.Sprint(ranks) {
		t.Errorf("ranks %v, not %v", list, ranks)
	}
	send, large := r.function("MPI_Send"), r.function("MPI_Send_c") // mpi4py 4 uses the latter
	if send.Calls+large.Calls != uint64(len(matrix)) || send.Bytes_sent+large.Bytes_sent != all {
		t.Errorf("%+v, %+v", send, large)
	}
	if len(r.Other_jobs) > 0 {
		t.Errorf("messages with other jobs: %v", r.Other_jobs)
	}
}
