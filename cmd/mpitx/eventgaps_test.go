//go:build cgo && linux

package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording/recordingtest"
)

// TestTraceEventGaps traces events of MPI_T, which a library in front of MPICH raises and counts in known numbers: what the trace
// lacks is reported once over all ranks.
func TestTraceEventGaps(t *testing.T) {
	t.Parallel()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	need.Commands(t, "mpicc.mpich")
	dir := t.TempDir()
	environ := append(testEnvironment(t), "MPITX_MPI=", "XDG_CONFIG_HOME="+dir)
	for _, words := range [][]string{{"-shared", "-fPIC", "-Wl,--no-as-needed", "-o", filepath.Join(dir, "libevents.so"), "../../agent/test/events_library.c", "-lmpich"},
		{"-o", filepath.Join(dir, "raises"), "../../agent/test/events.c", filepath.Join(dir, "libevents.so"), "-lpthread"}} {
		if out, err := exec.Command("mpicc.mpich", append([]string{"-w"}, words...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "mpitx"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mpitx", "events.txt"), []byte("mpich test_unreadable it crashes here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	const ranks = 4
	lines := []string{
		"8 events of test_unreadable counted, not recorded: it crashes here",
		"4 events of test_wide counted, not recorded: 1 of its 1 elements is outside of the event",
		"4 events of test_pair not recorded: raised in signal handlers, or the library could not read them",
		"4 events of test_comm counted, not recorded: the library called back after it had freed the registration",
		"rank 0: 7 events of test_pair dropped by the library",
		"the clock of event source test ordered went back 4 times",
	}
	check := func(p *process, before string, want ...string) {
		t.Helper()
		said := strings.Join(strings.Fields(p.stderr.String()), " ") // long lines are wrapped
		for _, line := range lines {
			n := 0
			if slices.Contains(want, line) {
				n = 1
			}
			if got := strings.Count(said, "mpitx: "+before+line); got != n || strings.Count(said, line) != n {
				t.Errorf("%d times, not %d: %s\n%s", got, n, line, p.output())
			}
		}
		if p.code != 0 {
			t.Errorf("%s: exit code %d: %s", p.failure, p.code, p.output())
		}
	}
	p := newProcess(environ, dir, append(slices.Clone(launchers["mpich"]), "mpitx", "trace", "--force", "--event", "test_*", "--dir", "run", "--", "./raises")...)
	p.run(hung)
	check(p, "", lines...)
	p = newProcess(environ, dir, "mpitx", "export", "run", "-o", "ndjson")
	p.run(hung)
	check(p, "run: ", lines...)
	if n := strings.Count(p.stdout.String(), `"kind":"mpi_t","name":"test_pair"`); n != ranks*3001 {
		t.Errorf("%d events", n)
	}
	if n, raised := strings.Count(p.stdout.String(), `"kind":"mpi_t"`), strings.Count(p.stdout.String(), `,"raised":`); n != raised {
		t.Errorf("%d events, %d with the time of their source", n, raised)
	}
	p = newProcess(environ, dir, "mpitx", "report", "run", "queues", "--derived")
	p.run(hung)
	check(p, "")
}

// TestQueuesGaps: mpitx report RUN queues says how many messages left MPICH's queue, although their events are only counted, and nothing of others.
func TestQueuesGaps(t *testing.T) {
	t.Parallel()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	x := recordingtest.NewTrace(s)
	i32 := func(name string) recordingtest.Field { return recordingtest.Field{Name: name, Type: 7} }
	s.EventType(9, "mpi_t unexp_message_enqueued", 24, recordingtest.Field{Name: "timestamp", Type: 8}, i32("source"), i32("object"), i32("element 0"), i32("element 1"))
	x.EventTypes(recordingtest.EventType{Name: "unexp_message_enqueued", Received: 1, Recorded: 1}, recordingtest.EventType{Name: "unexp_message_dequeued", Received: 5, Reason: "it crashes"},
		recordingtest.EventType{Name: "another", Received: 6, Reason: "it crashes"})
	s.Events(recordingtest.Event{Tag: 2, Body: binary.LittleEndian.AppendUint64(nil, 1)}, recordingtest.Event{Tag: 16 + 9, Ticks: 1000, Body: make([]byte, 24)})
	s.End(1)
	s.Seal()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	p := newProcess(testEnvironment(t), filepath.Dir(dir), "mpitx", "report", "run", "queues", "-o", "csv")
	p.run(hung)
	if got, want := p.stderr.String(), "mpitx: run: 5 events of unexp_message_dequeued counted, not recorded: it crashes\n"; p.code != 0 || got != want || strings.Count(p.stdout.String(), "\n") != 2 {
		t.Errorf("exit code %d: got %q, want %q: %s", p.code, got, want, p.output())
	}
}
