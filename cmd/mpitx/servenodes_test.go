//go:build cgo && linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/fixtures/need"
	"mpitx/ui/link"
)

// nodes are launcher commands for four ranks on two nodes. Both are this machine, under names that cannot be resolved.
func nodes(t *testing.T, dir string) map[string][]string {
	t.Helper()
	agent := filepath.Join(dir, "agent") // instead of ssh; a daemon of Open MPI takes its session directory from TMPDIR
	script := "#!/bin/sh\nhost=$1; shift\nmkdir -p " + dir + "/$host\nexport TMPDIR=" + dir + "/$host\nexec sh -c \"$*\"\n"
	if err := need.Executable(agent, []byte(script)); err != nil {
		t.Fatal(err)
	}
	commands := map[string][]string{
		"openmpi": {"mpirun.openmpi", "--host", "nosuchnode1:2,nosuchnode2:2", "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self", "--mca", "pml", "ob1", "-n", "4", "mpitx", "backend", "serve"},
		"mpich":   {"mpirun.mpich", "-launcher", "fork", "-hosts", "nosuchnode1,nosuchnode2", "-ppn", "2", "-n", "4", "mpitx", "backend", "serve"},
	}
	if ok, err := behaves("openmpi-nodes"); err != nil {
		t.Fatal(err)
	} else if !ok { // it needs real hosts: TestHostsExplorer has them
		delete(commands, "openmpi")
	}
	return commands
}

// On several nodes ranks connect to rank 0 over the network. Nothing listens after all have connected.
func TestServeNodes(t *testing.T) {
	dir, err := os.MkdirTemp(work, "nodes")
	if err != nil {
		t.Fatal(err)
	}
	for family, argv := range nodes(t, dir) {
		t.Run(family, func(t *testing.T) {
			s := serveOn(t, family, argv)
			if s.catalog.Job.Size != 4 {
				t.Fatalf("%+v", s.catalog.Job)
			}
			sample := s.read(servedLimit, idsOf(s.catalog)[:20]...)
			if len(sample.Ranks) != 4 {
				t.Fatalf("%v did not answer\n%s", sample.Silent, s.end())
			}
			peers := 0
			var launchers []socket // whose sockets ranks may inherit
			for _, pid := range s.p.alive() {
				if !isFront(pid) {
					launchers = append(launchers, sockets(t, pid)...)
				}
			}
			for _, pid := range s.p.alive() {
				if isFront(pid) {
					line := cmdline(pid)
					for _, l := range sockets(t, pid) {
						if slices.Contains(launchers, l) {
							continue
						}
						if peers++; l.listens {
							t.Errorf("process %d listens at %s: %s", pid, l.local, line)
						}
						if strings.Contains(l.local, "0100007F:") { // 127.0.0.1
							t.Errorf("process %d of several nodes speaks over %s", pid, l.local)
						}
					}
				}
			}
			if peers < 6 { // three pairs
				t.Errorf("%d sockets", peers)
			}
			if text := s.end(); !strings.Contains(text, "ended as asked") {
				t.Error(text)
			}
		})
	}
}

func isFront(pid int) bool {
	line := cmdline(pid)
	return strings.HasSuffix(line, "mpitx backend serve") && !strings.Contains(line, "mpirun")
}

type socket struct {
	local   string
	listens bool
}

// sockets are the TCP sockets of a process.
func sockets(t *testing.T, pid int) (all []socket) {
	t.Helper()
	inodes := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd)
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			inodes[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			if f := strings.Fields(l); len(f) > 9 && inodes[f[9]] {
				all = append(all, socket{f[1], f[3] == "0A"})
			}
		}
	}
	return all
}

// A rank that cannot reach rank 0's node reports that and what to do. The explorer works without it.
func TestServeUnreachable(t *testing.T) {
	t.Parallel()
	apart := []string{"unshare", "-n"}
	if os.Geteuid() != 0 {
		apart = []string{"unshare", "-rn"}
	}
	if err := exec.Command(apart[0], append(apart[1:], "true")...).Run(); err != nil {
		need.Missing(t, "%s: %v", strings.Join(apart, " "), err)
	}
	bin, _ := build()
	dir := t.TempDir()
	script := fmt.Sprintf(`for r in 1 2; do
	apart=; [ $r = 1 ] && apart="%s"
	FAKEMPI_RANK=$r $apart %s/mpitx backend serve </dev/null &
done
FAKEMPI_RANK=0 %[2]s/mpitx backend serve
kill $(jobs -p)
wait`, strings.Join(apart, " "), bin)
	environ := append(testEnvironment(t), "FAKEMPI_SIZE=3", "FAKEMPI_DIR="+dir)
	s := backendServe(t, environ, "/bin/sh", "-c", script)
	e := s.event(link.EventLog)
	for !strings.Contains(e.Text, "mpitx: rank 1 on testhost cannot reach rank 0's process over TCP (127.0.0.1:") {
		e = s.event(link.EventLog)
	}
	if !strings.Contains(e.Text, "network is unreachable): make its node reachable") {
		t.Error(e.Text)
	}
	if e := s.event(link.EventSilent); e.Rank != 1 || !strings.Contains(e.Text, "did not reach") {
		t.Errorf("%+v", e)
	}
	start := time.Now()
	sample := s.read(servedLimit, "demo_rank")
	if !slices.Equal(ranksOf(sample), []int{0, 2}) || !slices.Equal(sample.Silent, []int{1}) || time.Since(start) > servedLimit/2 {
		t.Errorf("ranks %v answered, %v did not, in %s", ranksOf(sample), sample.Silent, time.Since(start))
	}
	if out := s.write(catalog.WriteRequest{Name: "demo_eager_limit", Text: "100"}); len(out) != 3 || out[1].Result != catalog.WriteNoAnswer || out[2].Result != "ok" {
		t.Errorf("%+v", out)
	}
	if err := s.Workload(context.Background(), "halo"); err == nil || !strings.Contains(err.Error(), "needs all ranks") {
		t.Errorf("a workload: %v", err)
	}
}
