//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/csv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// TestTraceEvents traces events of PERUSE, which a library in front of Open MPI raises in known numbers, and reads them back.
func TestTraceEvents(t *testing.T) {
	t.Parallel()
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	need.Commands(t, "mpicc.openmpi")
	dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=")
	for _, words := range [][]string{{"-shared", "-fPIC", "-Wl,--no-as-needed", "-o", filepath.Join(dir, "libperuse.so"), "../../agent/test/peruse_library.c", "-lmpi"},
		{"-o", filepath.Join(dir, "raises"), "../../agent/test/peruse.c", filepath.Join(dir, "libperuse.so")}} {
		if out, err := exec.Command("mpicc.openmpi", append([]string{"-w"}, words...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	mpitx := func(args ...string) *process {
		p := newProcess(environ, dir, append([]string{"mpitx"}, args...)...)
		p.run(hung)
		return p
	}
	p := newProcess(environ, dir, append(slices.Clone(launchers["openmpi"]), "mpitx", "trace", "--event", "PERUSE_*", "--dir", "run", "--", "./raises")...)
	if p.run(hung); p.code != 0 || strings.Contains(p.stderr.String(), "no such event") {
		t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
	}
	// The program raises, on each rank, 10 and 5 unexpected messages on two communicators.
	ranks := 4
	p = mpitx("report", "run", "queues", "-o", "csv")
	if lines := strings.Split(strings.TrimSpace(p.stdout.String()), "\n"); p.code != 0 || len(lines) != 1+2*ranks || strings.Count(p.stdout.String(), ",MPI_COMM_WORLD,10,0,") != ranks {
		t.Errorf("exit code %d: %s", p.code, p.output())
	}
	p = mpitx("export", "run", "-o", "ndjson")
	if n := strings.Count(p.stdout.String(), `"name":"PERUSE_COMM_MSG_INSERT_IN_UNEX_Q"`); p.code != 0 || n != 15*ranks {
		t.Errorf("exit code %d, %d events", p.code, n)
	}
	if n := strings.Count(p.stdout.String(), `"name":"TEST_OWN_EVENT"`); n != 0 {
		t.Errorf("%d events that were not asked for", n)
	}
	if p := mpitx("trace", "--event", "[", "--", "./raises"); p.code != 2 || !strings.Contains(p.stderr.String(), "--event [: ") {
		t.Errorf("exit code %d: %s", p.code, p.output())
	}
}

// TestTraceDerived: a library without PERUSE raises no events, so those that calls show are derived, and mpitx says which.
func TestTraceDerived(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := f.build("mpicc", "../../agent/test/derived.c", "-w")
		words, spawns := []string{"trace", "--event", "PERUSE_*", "--event", "PERUSE_COMM_MSG_ARRIVED", "--dir", "run", "--", program}, f.family == "openmpi"
		if spawns { // Debian's MPICH cannot
			words = append(words, "spawn")
		}
		p := f.launch(words...)
		for _, want := range []string{"--event PERUSE_*: 12 events derived from calls: PERUSE_COMM_REQ_ACTIVATE, ", "; 23 events unavailable", "--event PERUSE_COMM_MSG_ARRIVED: unavailable: only the library sees messages arrive"} {
			if !strings.Contains(p.stderr.String(), want) {
				f.Errorf("no %q in %s", want, p.output())
			}
		}
		counts := func(args ...string) map[string]int {
			p := f.run(append([]string{"mpitx", "export", "run", "--trace", "-o", "csv"}, args...)...)
			rows, err := csv.NewReader(&p.stdout).ReadAll()
			if p.code != 0 || err != nil {
				f.Fatal(err, p.output())
			}
			column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
			n := map[string]int{}
			for _, row := range rows[1:] {
				if column(row, "kind") == "derived" {
					n[strings.TrimPrefix(column(row, "name"), "PERUSE_")+" "+column(row, "object")+" "+strings.TrimSpace(column(row, "operation")+" "+column(row, "status"))]++
				}
			}
			return n
		}
		// Communicators, windows and files have the names that the program gave them (sections 12.4 and 12.7).
		want := map[string]int{"COMM_REQ_ACTIVATE pairs send": 10, "COMM_REQ_COMPLETE pairs send not_after": 10, "COMM_REQ_NOTIFY pairs send": 10,
			"COMM_REQ_ACTIVATE pairs recv": 10, "COMM_REQ_XFER_BEGIN pairs recv not_before": 10, "COMM_REQ_XFER_END pairs recv not_after": 10,
			"COMM_REQ_COMPLETE pairs recv not_after": 10, "COMM_REQ_NOTIFY pairs recv": 10,
			"WIN_SYNC_BEGIN halo fence": 8, "WIN_SYNC_END halo fence": 8, "WIN_SYNC_BEGIN halo lock": 4, "WIN_SYNC_END halo lock": 4,
			"WIN_SYNC_BEGIN halo unlock": 4, "WIN_SYNC_END halo unlock": 4, "FILE_T_FIRST_PHASE_IN_SPLIT_IO derived.out at_most": 4,
			"FILE_T_SECOND_PHASE_IN_SPLIT_IO derived.out at_most": 4, "FILE_T_GET_SHARED_POINTER derived.out at_most": 4}
		if spawns {
			want["SPAWN_START MPI_COMM_SELF "], want["SPAWN_END MPI_COMM_SELF "] = 1, 1
		}
		if got := counts(); !maps.Equal(got, want) {
			f.Errorf("got %v, want %v", got, want)
		}
		if got, want := counts("--derive", "*_sync_begin"), (map[string]int{"WIN_SYNC_BEGIN halo fence": 8, "WIN_SYNC_BEGIN halo lock": 4, "WIN_SYNC_BEGIN halo unlock": 4}); !maps.Equal(got, want) {
			f.Errorf("got %v, want %v", got, want)
		}
		if p := f.run("mpitx", "report", "run", "queues", "--table", "metrics"); p.code != 1 || !strings.Contains(p.stderr.String(), "the run has no events of PERUSE; record them with") {
			f.Error(p.output())
		}
		for args, want := range map[string]string{"--derive PERUSE_COMM_MSG_*": "can be derived from this run", "--derive [": "can be derived"} {
			p := f.run(append([]string{"mpitx", "export", "run", "--trace"}, strings.Fields(args)...)...)
			if p.code != 2 || !strings.Contains(p.stderr.String(), want) {
				f.Errorf("%s: exit code %d: %s", args, p.code, p.output())
			}
		}
		for _, file := range []string{"all.parquet", "all.pftrace"} {
			p := f.run("mpitx", "export", "run", "--trace", "--out", file)
			if data, err := os.ReadFile(filepath.Join(f.dir, file)); p.code != 0 || err != nil || len(data) == 0 || file == "all.pftrace" && !bytes.Contains(data, []byte("PERUSE_WIN_SYNC_BEGIN")) {
				f.Errorf("%s: exit code %d: %v: %s", file, p.code, err, p.output())
			}
		}
	})
}

// TestTraceUnknownEvents: patterns that can match no event are refused before the start, once, with what there is instead. With --force, the
// program runs, and they are not reported again.
func TestTraceUnknownEvents(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := buildSolver(f.T, f.family)
		refused := map[string]string{
			"PERUSE_COMM_REQ_NOTIFI": " has no such event; Open MPI built with --enable-peruse has events PERUSE_*; did you mean PERUSE_COMM_REQ_NOTIFY, PERUSE_COMM_REQ_ACTIVATE?",
			"PERUSE_NOSUCH_*":        " has no such event; Open MPI built with --enable-peruse has events PERUSE_*",
		}
		if list := f.run("mpitx", "list", "events", "--mpi", f.family).stderr.String(); list != "" { // a library without events of MPI_T
			refused["ompi.*"] = strings.TrimPrefix(strings.TrimSpace(list), "mpitx: ")
			refused["unexp_message_enqueued"] = refused["ompi.*"]
		}
		for event, why := range refused {
			force := "; use --force to start anyway\n"
			if strings.HasSuffix(why, "?") {
				force = " (--force starts anyway)\n"
			}
			p := f.run(slices.Concat(launchers[f.family], []string{"mpitx", "trace", "--event", event, "--dir", "refused", "--", program})...)
			if _, err := os.Stat(filepath.Join(f.dir, "refused")); p.code == 0 || !strings.Contains(p.stderr.String(), why+force) || strings.Count(p.stderr.String(), "--event "+event+": ") != 1 || err == nil {
				f.Errorf("--event %s: exit code %d, want %q: %s", event, p.code, why+force, p.output())
			}
		}
		words := []string{"trace", "--force", "--dir", "forced", "--event", "PERUSE_COMM_REQ_NOTIFY"}
		for event := range refused {
			words = append(words, "--event", event)
		}
		said := f.launch(append(words, "--", program)...).stderr.String()
		for event, why := range refused {
			if strings.Count(said, "--event "+event+": ") != 1 || !strings.Contains(said, why+"\n") || !strings.Contains(said, "mpitx: warning: --event "+event+": ") {
				f.Errorf("--event %s, want %q: %s", event, why, said)
			}
		}
		if !strings.Contains(said, "--event PERUSE_COMM_REQ_NOTIFY: 1 event derived from calls: PERUSE_COMM_REQ_NOTIFY\n") {
			f.Error(said)
		}
	})
}

// TestTraceWindow: only the calls of a phase are recorded, or of a time, and messages keep their arrows.
func TestTraceWindow(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		program := buildSolver(f.T, f.family)
		calls := func(run string, flags ...string) (counts map[string]int, said string) {
			said = f.launch(slices.Concat([]string{"trace", "--dir", run}, flags, []string{"--", program})...).stderr.String()
			p := f.run("mpitx", "export", run, "-o", "ndjson")
			counts = map[string]int{}
			for _, m := range regexp.MustCompile(`"kind":"call","name":"(MPI_\w+)"`).FindAllStringSubmatch(p.stdout.String(), -1) {
				counts[m[1]]++
			}
			return counts, said
		}
		// Rank r sends r messages to rank 0 in the phase gather, and rank 2 one to rank 3 in the phase wait within it.
		got, said := calls("gather", "--window", "phase=gath*")
		if got["MPI_Send"] != 7 || got["MPI_Recv"] != 7 || got["MPI_Isend"]+got["MPI_Allreduce"]+got["MPI_Init"]+got["MPI_Finalize"] != 0 || !strings.Contains(said, "7 arrows") {
			f.Errorf("got %v: %s", got, said)
		}
		if got, _ := calls("wait", "--window", "phase=wait"); got["MPI_Send"] != 1 || got["MPI_Recv"] != 1 || got["MPI_Allreduce"] != 0 {
			f.Error(got)
		}
		if got, said := calls("late", "--after", "1h", "--for", "1s"); len(got) != 0 || !strings.Contains(said, "nothing was recorded") {
			f.Error(got, said)
		}
		if got, _ := calls("early", "--for", "1h"); got["MPI_Allreduce"] != 200 {
			f.Error(got)
		}
	})
	for flags, want := range map[string]string{"--window solve": "give it as phase=GLOB", "--after -1s": "must not be negative", "--for 0s": "records nothing"} {
		p := newProcess(append(testEnvironment(t), "MPITX_MPI="), t.TempDir(), append(append([]string{"mpitx", "trace"}, strings.Fields(flags)...), "--", "true")...)
		if p.run(hung); p.code != 2 || !strings.Contains(p.stderr.String(), want) {
			t.Errorf("%s: exit code %d: %s", flags, p.code, p.output())
		}
	}
}
