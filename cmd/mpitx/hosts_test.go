//go:build cgo && linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/fixtures/need"
	"mpitx/recording"
	"mpitx/ui/link"
)

// hosts are node1 and node2 with two ranks each, made by fixtures/lab/hosts.sh. This process plays a login node: it can read their files, but
// not their memory, and cannot reach their network.
type hosts struct {
	t       *testing.T
	family  string
	script  string
	dir     string // on the shared file system
	environ []string
}

const loginNode = 0

// onHosts runs a test with each MPI on new hosts. They always disappear at its end, because they exit when the standard input of the process
// that holds them closes.
func onHosts(t *testing.T, test func(t *testing.T, h *hosts)) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	bin, _ := build()
	script, err := filepath.Abs("../../fixtures/lab/hosts.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"openmpi", "mpich"} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains(families, family) {
				need.Missing(t, "an agent for %s is missing", family)
			}
			dir, err := os.MkdirTemp(work, "hosts")
			if err != nil {
				t.Fatal(err)
			}
			h := &hosts{t: t, family: family, script: script, dir: dir, environ: environment(dir, dir, bin)}
			// On the hosts, all users are root: a folder in /tmp may be of another one.
			h.environ = append(h.environ, "OMPI_MCA_orte_tmpdir_base="+dir)
			h.up()
			if out, err := exec.Command("mpicc."+family, "-o", filepath.Join(dir, "steady"), "testdata/hosts/steady.c").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			test(t, h)
		})
	}
}

func (h *hosts) up() {
	cmd := exec.Command(h.script, "with", "2", "sh", "-c", "echo $MPITX_HOSTS; cat >/dev/null")
	cmd.Env, cmd.Dir = h.environ, h.dir
	var reason strings.Builder
	cmd.Stderr = &reason
	stdin, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		cmd.Wait()
		need.Missing(h.t, "%s", strings.TrimSpace(reason.String()))
	}
	h.t.Cleanup(func() {
		stdin.Close()
		io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil {
			h.t.Errorf("%s: %v\n%s", h.script, err, reason.String())
		}
		if left, _ := filepath.Glob(filepath.Join(h.dir, "mpitx-hosts-*")); len(left) > 0 {
			h.t.Errorf("left behind: %v", left)
		}
	})
	h.environ = append(h.environ, "MPITX_HOSTS="+strings.TrimSpace(line))
}

// process is a command on a host.
func (h *hosts) process(host int, args ...string) *process {
	if host != loginNode {
		args = h.on(host, args...)
	}
	return newProcess(h.environ, h.dir, args...)
}

func (h *hosts) on(host int, args ...string) []string {
	return append([]string{h.script, "exec", fmt.Sprint(host)}, args...)
}

// mpirun is a command under the launcher, on four ranks.
func (h *hosts) mpirun(args ...string) []string {
	return append([]string{"mpirun." + h.family, "-n", "4"}, args...)
}

// run runs a command, which must exit with this code. Hydra's proxy on another host sometimes fails an assertion at the end of a job.
func (h *hosts) run(code, host int, args ...string) (stdout, stderr string) {
	h.t.Helper()
	var p *process
	for range 3 {
		p = h.process(host, args...)
		if p.run(hung); !strings.Contains(p.stderr.String(), "assert (!closed) failed") {
			break
		}
	}
	if p.failure != "" || p.code != code {
		h.t.Fatalf("%s\nexit code %d, want %d\n%s", p.failure, p.code, code, p.output())
	}
	return p.stdout.String(), p.stderr.String()
}

// do lets the script change a host: cut, join, lose.
func (h *hosts) do(what string, host int) {
	h.t.Helper()
	p := newProcess(h.environ, h.dir, h.script, what, fmt.Sprint(host))
	if p.run(hung); p.failure != "" || p.code != 0 {
		h.t.Fatalf("%s\n%s", p.failure, p.output())
	}
}

// steady is a job of four ranks that runs until it is stopped.
type steady struct {
	h    *hosts
	p    *process
	name string
}

// start starts a job, and waits until the login node can read samples of all ranks.
func (h *hosts) start(name string, command ...string) *steady {
	h.t.Helper()
	if err := os.Mkdir(filepath.Join(h.dir, name), 0o755); err != nil {
		h.t.Fatal(err)
	}
	args := append(h.mpirun("mpitx"), command...)
	args = append(args, "--dir", name+".run", "--interval", "1ms", "--pvar", "mpitx:*", "--pvar", "mpitx:calls/MPI_Ibcast", "--", filepath.Join(h.dir, "steady"), name)
	j := &steady{h, h.process(1, args...), name}
	if err := j.p.start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		j.p.kill()
		<-j.p.ended
	})
	for end := time.Now().Add(hung); len(j.read().counts) < 4; time.Sleep(20 * time.Millisecond) {
		select {
		case <-j.p.ended:
			h.t.Fatalf("it has ended\n%s", j.p.output())
		default:
		}
		if time.Now().After(end) {
			h.t.Fatalf("samples of ranks %v only\n%s", j.read().counts, j.p.output())
		}
	}
	return j
}

// view is the part of a run that the login node can read.
type view struct {
	counts map[int]int // samples by rank
	states map[int]recording.State
}

func (j *steady) read() view {
	j.h.t.Helper()
	s := view{map[int]int{}, map[int]recording.State{}}
	run, err := recording.Open(filepath.Join(j.h.dir, j.name+".run"))
	if err != nil {
		return s
	}
	defer run.Close()
	for in := range run.Instants(recording.Options{As: recording.Raw}) {
		s.counts[in.Rank.Rank]++
	}
	for _, damage := range run.Damage() {
		j.h.t.Errorf("%s: %v", j.name, damage)
	}
	for _, r := range run.Ranks {
		s.states[r.Rank] = r.State
		if r.Undeclared() {
			j.h.t.Errorf("%s: rank %d has samples without declarations", j.name, r.Rank)
		}
	}
	return s
}

// stop makes the job end normally. It returns how often each rank has called MPI_Ibcast, in ascending order.
func (j *steady) stop() (calls []int) {
	j.h.t.Helper()
	if err := os.WriteFile(filepath.Join(j.h.dir, j.name, "stop"), nil, 0o644); err != nil {
		j.h.t.Fatal(err)
	}
	j.p.wait(hung)
	for _, of := range regexp.MustCompile(`(?m)^rank \d: (\d+) calls$`).FindAllStringSubmatch(j.p.stdout.String(), -1) {
		n, _ := strconv.Atoi(of[1])
		calls = append(calls, n)
	}
	if j.p.failure != "" || j.p.code != 0 || len(calls) != 4 {
		j.h.t.Fatalf("%s\nexit code %d\n%s", j.p.failure, j.p.code, j.p.output())
	}
	slices.Sort(calls)
	return calls
}

// complete checks that the directory has all of the job.
func (j *steady) complete(calls []int) {
	t := j.h.t
	t.Helper()
	s := j.read()
	for rank := range 4 {
		if s.counts[rank] == 0 || s.states[rank] != recording.StateEnded {
			t.Errorf("rank %d: %d samples, %s", rank, s.counts[rank], s.states[rank])
		}
	}
	out, stderr := j.h.run(0, loginNode, "mpitx", "report", j.name+".run", "samples", "-o", "csv", "mpitx:calls/MPI_Ibcast")
	sum := 0
	for _, n := range calls {
		sum += n
	}
	// delta of 4 ranks: least, mean, most
	want := regexp.MustCompile(fmt.Sprintf(`,delta,4,%d,%s,%d,`, calls[0], regexp.QuoteMeta(strconv.FormatFloat(float64(sum)/4, 'f', -1, 64)), calls[3]))
	if !want.MatchString(out) || stderr != "" {
		t.Errorf("the ranks have called MPI_Ibcast %v times:\n%s%s", calls, out, stderr)
	}
}

// want checks the lines of a message.
func (h *hosts) want(text string, parts ...string) {
	h.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			h.t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "damaged") {
		h.t.Errorf("called damaged:\n%s", text)
	}
}

// Every way to start a job gives one answer about all hosts.
func TestHosts(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		names := []string{"node1", "node1", "node2", "node2"}
		for _, argv := range [][]string{
			h.mpirun("mpitx", "list", "cvars", "-o", "json"),
			{"mpitx", "list", "cvars", "--mpi", h.family, "-n", "4", "-o", "json"},
		} {
			out, _ := h.run(0, 1, argv...)
			head, _, _ := strings.Cut(out, "\"before\":")
			for rank, name := range names {
				h.want(head, fmt.Sprintf(`{"rank": %d, "host": "%s"}`, rank, name))
			}
		}
		s := onScreen(t, h.environ, strings.Join(h.on(1, "mpitx", "tui", "-n", "4", "--mpi", h.family), " "))
		s.until("4 ranks", "all variables")
		s.keys("q")
		s.restored("0")
		j := h.start("sampled", "sample", "--out", "s.csv")
		j.stop()
		text, err := os.ReadFile(filepath.Join(h.dir, "s.csv"))
		if err != nil {
			t.Fatalf("%v\n%s", err, j.p.output())
		}
		for rank, name := range names {
			if !strings.Contains(string(text), fmt.Sprintf(",%d,%s,mpitx:calls/MPI_Ibcast,", rank, name)) {
				t.Errorf("nothing of rank %d on %s", rank, name)
			}
		}
	})
}

// A run that is being written can be read on every host, up to what is on the shared disk. A network that fails for a while does not change
// the run.
func TestHostsLive(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		j := h.start("live", "record")
		out, messages := h.run(0, loginNode, "mpitx", "export", "live.run", "-o", "csv", "--wide")
		for rank := range 4 {
			h.want(out, fmt.Sprintf(",%d,node%d,", rank, 1+rank/2))
		}
		away := "node1, node2 (ranks 0-3): the newest data are still in memory there and missing here; after the job has ended, run there: mpitx recover "
		h.want(messages, away+filepath.Join(h.dir, "live.run"))
		_, messages = h.run(0, loginNode, "mpitx", "report", "live.run", "samples")
		h.want(messages, away)
		h.do("cut", 2)
		out, messages = h.run(0, 1, "mpitx", "report", "live.run", "samples", "--by-rank")
		h.want(out, "mpitx:calls/MPI_Ibcast")
		h.want(messages, "node2 (ranks 2-3): the newest data are still in memory there and missing here")
		out, messages = h.run(cli.ExitPartial, 1, "mpitx", "recover", "live.run")
		h.want(out+messages, "rank 0 (process", "rank 1 (process", "still running", "node2 (ranks 2-3): the memory files are not on this machine; after the job has ended, run there: mpitx recover "+filepath.Join(h.dir, "live.run"))
		before := j.read()
		for rank := range 4 {
			if before.states[rank] != recording.StateUnreachable {
				t.Errorf("rank %d: %s", rank, before.states[rank])
			}
		}
		h.do("join", 2)
		j.complete(j.stop())
	})
}

// mpitx where lists the ranks of other hosts, and reads their states if it is told how to start a command there.
func TestHostsWhere(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		j := h.start("where", "record")
		states := func(host int, words ...string) (text string) {
			out, messages := h.run(0, host, append([]string{"mpitx", "where", "where.run", "-o", "csv"}, words...)...)
			for line := range strings.Lines(out) {
				ranks, rest, _ := strings.Cut(line, ",")
				condition, _, _ := strings.Cut(rest, ",")
				text += ranks + " " + condition + "\n"
			}
			return text + messages
		}
		h.want(states(loginNode), "0-3 unreachable\n")
		out, _ := h.run(0, loginNode, "mpitx", "where", "where.run")
		h.want(out, "ranks 0-1 are on another node, node1; run mpitx where there, or use --rsh ssh", "ranks 2-3 are on another node, node2")
		text := states(1)
		h.want(text, "2-3 unreachable\n", " running\n")
		_, dir, _ := strings.Cut(h.environ[len(h.environ)-1], "=") // MPITX_HOSTS
		if text = states(1, "--rsh", dir+"/rsh"); strings.Contains(text, "unreachable") || !strings.Contains(text, " running\n") {
			t.Errorf("ranks of node2 were not read:\n%s", text)
		}
		h.want(states(1, "--rsh", "false"), "2-3 unreachable\n", " running\n", "mpitx: node2: cannot be reached with false: exit status 1")
		j.stop()
		h.want(states(loginNode), "0-3 exited\n")
	})
}

// A rank is killed. Its samples in memory are recovered on its host.
func TestHostsKilled(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		j := h.start("killed", "record")
		pid, err := os.ReadFile(filepath.Join(h.dir, "killed", "pid.3"))
		if err != nil {
			t.Fatal(err)
		}
		h.run(0, 2, "sh", "-c", "kill -9 "+string(pid))
		j.p.wait(hung)
		if j.p.code == 0 {
			t.Errorf("a job of which a rank was killed succeeds\n%s", j.p.output())
		}
		before := j.read()
		_, messages := h.run(cli.ExitPartial, 1, "mpitx", "recover", "killed.run")
		h.want(messages, "node2 (rank", "the memory files are not on this machine")
		out, _ := h.run(0, 2, "mpitx", "recover", "killed.run")
		h.want(out, "rank 3 (process", "recovered")
		after := j.read()
		for rank := range 4 {
			if after.states[rank] == recording.StateUnreachable || after.counts[rank] < before.counts[rank] {
				t.Errorf("rank %d: %s, %d samples, %d before", rank, after.states[rank], after.counts[rank], before.counts[rank])
			}
		}
		if after.states[3] != recording.StateDied || after.counts[3] == before.counts[3] {
			t.Errorf("rank 3: %s, %d samples, %d before", after.states[3], after.counts[3], before.counts[3])
		}
		_, messages = h.run(0, loginNode, "mpitx", "export", "killed.run")
		if h.want(messages); strings.Contains(messages, "memory") {
			t.Errorf("everything was recovered:\n%s", messages)
		}
	})
}

// A host dies. Everything that its ranks had written to the shared disk can be read.
func TestHostsLost(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		j := h.start("lost", "record")
		before := j.read()
		h.do("lose", 2)
		out, messages := h.run(0, loginNode, "mpitx", "export", "lost.run", "--wide")
		h.want(out, ",2,node2,", ",3,node2,")
		h.want(messages)
		j.p.kill() // its launcher does not notice
		<-j.p.ended
		h.run(cli.ExitPartial, 1, "mpitx", "recover", "lost.run")
		after := j.read()
		for rank := range 4 {
			if after.counts[rank] < before.counts[rank] || (after.states[rank] == recording.StateUnreachable) != (rank >= 2) {
				t.Errorf("rank %d: %s, %d samples, %d before", rank, after.states[rank], after.counts[rank], before.counts[rank])
			}
		}
		_, messages = h.run(0, loginNode, "mpitx", "report", "lost.run", "samples")
		h.want(messages, "node2 (ranks 2-3): the newest data are still in memory there and missing here")
	})
}

// The explorer runs on both hosts. It names the ranks that it cannot reach, and the others answer.
func TestHostsExplorer(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		s := backendServe(t, h.environ, h.on(1, h.mpirun("mpitx", "backend", "serve")...)...)
		if s.catalog.Job.Size != 4 || s.catalog.Job.Ranks[3].Host != "node2" {
			t.Fatalf("%+v", s.catalog.Job)
		}
		ids := idsOf(s.catalog)[:20]
		if sample := s.read(servedLimit, ids...); len(sample.Ranks) != 4 {
			t.Fatalf("%v did not answer\n%s", sample.Silent, s.end())
		}
		h.do("cut", 2)
		if sample := s.read(5*time.Second, ids...); !slices.Equal(ranksOf(sample), []int{0, 1}) || !slices.Equal(sample.Silent, []int{2, 3}) {
			t.Errorf("%v answered, %v did not", ranksOf(sample), sample.Silent)
		}
		h.do("join", 2)
		for answered := 0; answered < 2; answered++ {
			if e := s.event(link.EventAnswers); e.Rank < 2 {
				t.Errorf("%+v", e)
			}
		}
		if sample := s.read(servedLimit, ids...); len(sample.Ranks) != 4 {
			t.Errorf("%v did not answer", sample.Silent)
		}
		h.do("lose", 2)
		if sample := s.read(5*time.Second, ids...); !slices.Equal(ranksOf(sample), []int{0, 1}) {
			t.Errorf("%v answered, %v did not", ranksOf(sample), sample.Silent)
		}
	})
}
