package binding

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
)

func decode(t *testing.T, variable string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for line := range strings.Lines(os.Getenv(variable)) {
		k, v, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if !ok {
			t.Fatalf("%s: %q", variable, line)
		}
		texts[k] = v
	}
	return texts
}

// resources counts what a probe may leave: descriptors, shared anonymous mappings, children.
func resources(t *testing.T) string {
	t.Helper()
	fds := must(os.ReadDir("/proc/self/fd"))(t)
	maps := bytes.Count(must(os.ReadFile("/proc/self/maps"))(t), []byte("/dev/zero (deleted)"))
	var children []byte
	for _, path := range must(filepath.Glob("/proc/self/task/*/children"))(t) {
		text, _ := os.ReadFile(path) // threads may have exited
		children = append(children, text...)
	}
	return fmt.Sprintf("%d descriptors, %d shared mappings, children [%s]", len(fds), maps, children)
}

func TestProbeLeavesNothing(t *testing.T) {
	child{stage: before, faults: "crash-read=demo_type_*;hang-alloc=demo_retries"}.run(t, func(t *testing.T, m *mpi) {
		probe := func() {
			if _, err := m.Probe(70, 40, ProbeOptions{Limit: 50 * time.Millisecond, TrialWrites: true}); err != nil {
				t.Fatal(err)
			}
			must(m.ProbeWrite(m.cvar("demo_lines"), 1, value(t, catalog.TypeInt, 1, "5"), ProbeOptions{}))(t)
		}
		_, unprobed, _ := strings.Cut(resources(t), ",")
		settled := func() (now string) { // children that have finished are waited for in the background
			for end := time.Now().Add(20 * time.Second); !strings.HasSuffix(now, unprobed) && time.Now().Before(end); time.Sleep(time.Millisecond) {
				now = resources(t)
			}
			return now
		}
		probe()
		first := settled()
		if !strings.HasSuffix(first, unprobed) || !strings.HasSuffix(first, "children []") {
			t.Errorf("%s; without a probe %s", first, unprobed)
		}
		for range 3 {
			probe()
		}
		want(t, "resources", settled(), first)
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
			t.Errorf("there are children: %v", err)
		}
	})
}

// The probe does not disturb other child processes of this one.
func TestProbeWithOtherProcesses(t *testing.T) {
	child{stage: before, faults: "crash-read=demo_type_*"}.run(t, func(t *testing.T, m *mpi) {
		var wait sync.WaitGroup
		stop := make(chan struct{})
		ran := 0
		wait.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				out, err := exec.Command("sh", "-c", "echo out; exit 3").Output()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out) != "out\n" {
					t.Errorf("%q, %v", out, err)
				}
				ran++
			}
		})
		for range 5 {
			trials, err := m.Probe(70, 40, ProbeOptions{})
			c := trials.Cvars
			if err != nil {
				t.Fatal(err)
			}
			want(t, "crash", c[m.cvar("demo_type_int")].Reading.Reason, "crashes in read (SIGSEGV)")
			want(t, "value", c[m.cvar("demo_lines")].Reading.Value.String(), "1")
		}
		close(stop)
		wait.Wait()
		if ran == 0 {
			t.Error("no process ran")
		}
	})
}

// If SIGCHLD is ignored, the system reaps children, and their exit status is lost.
func TestProbeWithoutSIGCHLD(t *testing.T) {
	child{stage: before, faults: "crash-read=demo_type_int;die-read=demo_type_short;hang-read=demo_type_byte"}.run(t, func(t *testing.T, m *mpi) {
		signal.Ignore(syscall.SIGCHLD)
		c, p := m.probe(ProbeOptions{Limit: quick})
		for name, reason := range map[string]string{"int": "crashes in read (SIGSEGV)", "short": "ends the process in read", "byte": "timed out in read"} {
			r := c[m.cvar("demo_type_"+name)].Reading
			want(t, "status", r.Status, catalog.StatusFaulty)
			want(t, "reason", r.Reason, reason)
		}
		want(t, "behind", c[m.cvar("demo_type_long")].Reading.Status, catalog.StatusOK)
		want(t, "last", p[m.pvar("demo_pvar_uncategorised", catalog.ClassSize)].Reading.Value.String(), "42")
	})
}

// Processes that the library starts in the child, and that hold its descriptors, do not delay the probe. Output of the child is
// not shown.
func TestProbeIsQuiet(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Parallel()
		out, err := (child{faults: "abort-read=demo_type_int;exit-read=demo_type_long"}).command(t, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if text := string(out); text != "PASS\n" && !strings.HasPrefix(text, "PASS\ncoverage") {
			t.Errorf("%q", text)
		}
		return
	}
	m := child{stage: before}.enter(t)
	c, _ := m.probe(ProbeOptions{})
	want(t, "crash", c[m.cvar("demo_type_int")].Reading.Reason, "crashes in read (SIGABRT)")
}

// A killed process takes its probe's children with it.
func TestProbeDiesWithItsParent(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		m := child{stage: before}.enter(t)
		m.probe(ProbeOptions{Limit: time.Minute})
		t.Fatal("the probe came back")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProbeDiesWithItsParent$")
	cmd.Env = append(os.Environ(), childVariable+"="+t.Name(), "FAKEMPI_FAULTS=hang-read=demo_type_int")
	out := must(os.Create(filepath.Join(t.TempDir(), "output")))(t)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	child, done := 0, false
	running := func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
		return err == nil && !bytes.Contains(text, []byte(") Z "))
	}
	for end := time.Now().Add(20 * time.Second); (!done || child == 0) && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		for _, path := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid)))(t) {
			text, _ := os.ReadFile(path)
			for _, pid := range strings.Fields(string(text)) {
				n, _ := strconv.Atoi(pid)
				switch st, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n)); {
				case bytes.Contains(st, []byte(") Z ")):
					done = true // the child for performance variables
				default:
					child = n
				}
			}
		}
	}
	if child == 0 {
		t.Fatal("there is no child")
	}
	want(t, "the child hangs", running(), true)
	for _, fd := range []string{"1", "2"} {
		// Only root may inspect a process that is not dumpable. It may have been forked just now.
		output := func() string {
			file, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", child, fd))
			return file
		}
		for end := time.Now().Add(20 * time.Second); output() != "" && output() != "/dev/null" && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		if file := output(); file != "" {
			want(t, "the child's output", file, "/dev/null")
		}
	}
	ours, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	theirs, _, _ := syscall.Syscall(syscall.SYS_GETSID, uintptr(child), 0, 0)
	want(t, "the child's session", theirs, ours)
	cmd.Process.Kill()
	for end := time.Now().Add(20 * time.Second); running(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is left", child)
		}
	}
}
