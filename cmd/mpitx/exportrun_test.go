//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/recording/recordingtest"
)

// counted makes a run with one variable that counts samples, and returns its directory and its one file.
func counted(t *testing.T, samples int) (dir, file string) {
	t.Helper()
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	s.Set(0, 8, 0)
	for i := range samples {
		s.Sample(0, uint64(1000*i), binary.LittleEndian.AppendUint64(nil, uint64(i)), nil)
	}
	s.Counters(uint64(samples), 0, 0, 0, 0, 0)
	s.End(1)
	s.Seal()
	dir = filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	return dir, filepath.Join(dir, "node-n.mpxr")
}

// A long export shows its progress on a terminal, and only there. The reader of its output decides how long it takes.
func TestProgress(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	const samples = 50000
	dir, _ := counted(t, samples)
	// export returns what is on its terminal, or else on standard error. The reader is slow until the channel is closed.
	export := func(format string, hurry chan struct{}, terminal ...step) string {
		fifo := filepath.Join(t.TempDir(), "out")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		lines := make(chan int)
		go func() {
			f, err := os.Open(fifo)
			if err != nil {
				lines <- -1
				return
			}
			defer f.Close()
			part, n := make([]byte, 1<<16), 0
			for err == nil {
				var k int
				k, err = f.Read(part)
				n += bytes.Count(part[:k], []byte("\n"))
				select {
				case <-hurry:
				case <-time.After(150 * time.Millisecond): // a bar moves every 100 ms
				}
			}
			lines <- n - 1
		}()
		args := []string{"mpitx", "export", dir, "-o", format, "--out", fifo}
		var text string
		var p *process
		if terminal != nil {
			text, p = typing(t, environ, 80, terminal, args...)
		} else {
			p = newProcess(environ, t.TempDir(), args...)
			p.run(hung)
			text = p.stderr.String()
		}
		if p.code != 0 {
			t.Fatalf("%s: exit code %d: %s%s", format, p.code, text, p.output())
		}
		if n := <-lines; format == "csv" && n != samples {
			t.Fatalf("%d lines", n)
		}
		return text
	}
	shown := make(chan struct{})
	if text := export("csv", shown, step{sees: "exporting [##", does: func() { close(shown) }}); !strings.HasSuffix(text, " \r") {
		t.Errorf("the bar was left: %q", text)
	}
	for _, format := range []string{"csv", "parquet"} {
		hurry := make(chan struct{})
		time.AfterFunc(1500*time.Millisecond, func() { close(hurry) }) // longer than it takes until a bar shows
		if text := export(format, hurry); text != "" {
			t.Errorf("%s: where there is no terminal: %q", format, text)
		}
	}
}

// Damage is reported once, with its place. Everything else is exported, and the exit code is 3.
func TestDamagedExport(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	const samples = 20000
	dir, file := counted(t, samples)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x40
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"export", "-o", "csv"}, {"export", "--wide", "-o", "json"}, {"export", "-o", "parquet"}, {"export", "-o", "parquet", "--wide"}, {"report", "samples"}} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx", args[0], dir}, args[1:]...)...)
		p.run(hung)
		if p.failure != "" || p.code != cli.ExitPartial || p.stdout.Len() == 0 {
			t.Errorf("%v: exit code %d, %d bytes\n%s%s", args, p.code, p.stdout.Len(), p.failure, p.stderr.String())
		}
		if n := strings.Count(p.stderr.String(), "copy it again\n"); n != 1 || !strings.Contains(p.stderr.String(), "node-n.mpxr") {
			t.Errorf("%v: %s", args, p.stderr.String())
		}
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"export", "-o", "csv"}, {"export", "-o", "parquet"}, {"report", "samples"}} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx", args[0], dir}, args[1:]...)...)
		p.run(hung)
		if p.failure != "" || p.code != cli.ExitFailed || !strings.Contains(p.stderr.String(), "nothing was recorded") {
			t.Errorf("%v of an empty file: exit code %d: %s", args, p.code, p.stderr.String())
		}
	}
}

// Every command that reads a run reports what did not fit on the disk: when, why and how much.
func TestLossIsSaid(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	s := recordingtest.NewStream(7, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
	s.Set(0, 8, 0)
	s.Sample(0, 1e8, binary.LittleEndian.AppendUint64(nil, 1), nil)
	s.Sample(0, 2e8, binary.LittleEndian.AppendUint64(nil, 5), nil)
	s.Counters(2, 0, 0, 98, 0, 0, 0, 3, 2, 0, 3e8, 28)
	s.End(1)
	s.Seal()
	s.Last(0, 9e9, binary.LittleEndian.AppendUint64(nil, 101), nil, 2)
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"report", dir, "samples"}, {"export", dir}, {"export", dir, "-o", "parquet"}} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx"}, args...)...)
		p.run(hung)
		if p.failure != "" || p.code != 0 || !strings.Contains(p.stderr.String(), "no space left on device 0.3 s after the start; 98 % of samples missing") {
			t.Errorf("%v: exit code %d: %s%s", args, p.code, p.failure, p.stderr.String())
		}
		if args[0] == "report" && !strings.Contains(p.stdout.String(), "100") {
			t.Error(p.stdout.String())
		}
	}
}

// On a terminal, a huge export is announced before it starts.
func TestHugeExport(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := build(); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		counted uint64
		said    bool
	}{{1e5, false}, {1e9, true}} {
		s := recordingtest.NewStream(1, 0)
		s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n"})
		s.Clock(0, 0, 1e18, 0)
		s.Column(0, recordingtest.Column{Variable: "v", Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
		s.Set(0, 8, 0)
		s.Sample(0, 0, make([]byte, 8), nil)
		s.Counters(k.counted)
		s.End(1)
		s.Seal()
		dir := filepath.Join(t.TempDir(), "run")
		if err := recordingtest.Save(dir, "n", s.Out); err != nil {
			t.Fatal(err)
		}
		text, p := onTerminal(t, environ, 80, "mpitx", "export", dir)
		before, after, said := strings.Cut(text, "mpitx: the export will take about 36.00 GB")
		if p.code != 0 || said != k.said || said && (before != "" || !strings.Contains(after, "time,rank,")) {
			t.Errorf("%d samples: exit code %d:\n%s", k.counted, p.code, text)
		}
		p = newProcess(environ, t.TempDir(), "mpitx", "export", dir)
		if p.run(hung); p.stderr.Len() > 0 {
			t.Error(p.stderr.String())
		}
	}
}

// stats, export and top select variables with the same arguments.
func TestColumnFilters(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := buildSample(); err != nil {
		t.Fatal(err)
	}
	dir := recordingtest.SomeTraffic.Saved(t)
	for _, test := range []struct {
		args, want string
		code       int
	}{
		{"", "mpitx:bytes_sent mpitx:calls mpitx:rma_operations mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"--nonzero", "mpitx:bytes_sent mpitx:calls mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:time*", "mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:calls:counter mpitx:*s --nonzero", "mpitx:calls", 0},
		{"mpitx:rma_operations --nonzero", "", 0},
		{"mpitx:call", "", 1},
	} {
		for _, command := range []string{"report samples -o csv", "export -o csv", "export -o csv --wide", "export -o ndjson", "export -o parquet --wide"} {
			words := strings.Fields(command)
			args := append([]string{"mpitx", words[0], dir}, append(words[1:], strings.Fields(test.args)...)...)
			p := newProcess(environ, t.TempDir(), args...)
			p.run(hung)
			var got []string
			for _, name := range slices.Sorted(maps.Keys(recordingtest.SomeTraffic.Grown)) {
				if strings.Contains(p.stdout.String(), name) {
					got = append(got, name)
				}
			}
			if p.code != test.code || strings.Join(got, " ") != test.want {
				t.Errorf("%s: exit code %d, with %s\n%s", strings.Join(args, " "), p.code, got, p.stderr.String())
			}
			if p.code == 1 && !strings.Contains(p.stderr.String(), "mpitx:call: the run has no such variable; did you mean mpitx:calls") {
				t.Error(p.stderr.String())
			}
		}
	}
}
