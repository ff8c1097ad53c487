//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/cmd/mpitx/cli"
)

// TestTop watches jobs of four ranks as a user does.
func TestTop(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) { watch(t, family) })
	}
}

func watch(t *testing.T, family string) {
	bin, _ := build()
	dir, err := os.MkdirTemp(work, "top")
	if err != nil {
		t.Fatal(err)
	}
	launcher := []string{"mpirun." + family, "-n", "4"}
	if family == "openmpi" {
		launcher = append(launcher, "--oversubscribe")
	}
	// Waits for a run with a name that does not exist yet, and for one without a name.
	s := onScreen(t, environment(dir, os.TempDir(), bin), "cd "+dir+"; echo before; mpitx top run1; mpitx top; echo code $?; read go; mpitx top run1")
	s.until("Waiting for the run. run1: there is no such directory.", "q quit")
	s.keys("C-c")
	s.until("Waiting for the run. .: there is no run in this directory.", "q quit")
	// The job runs until it is stopped.
	job := exec.Command(launcher[0], append(launcher[1:], filepath.Join(bin, "mpitx"), "record", "--dir", filepath.Join(dir, "run1"),
		"--pvar", "mpitx:*", "--workload", "pingpong", "--duration", "10m")...)
	job.Env, job.Dir = append(environment(dir, os.TempDir(), bin), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"), dir
	var output strings.Builder
	job.Stdout, job.Stderr = &output, &output
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the job:\n%s", output.String())
		}
	})
	if err := job.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { job.Wait(); close(ended) }()
	stop := func() {
		job.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			job.Process.Kill()
			<-ended
		}
	}
	defer stop()
	s.until("run1", "4 running", "mpitx:calls: per second, each rank over time", "q quit")
	s.keys("v", "v", "v")
	s.until("per second", "/s")
	s.keys("/", "_sent", "Enter")
	s.until("mpitx:bytes_sent", "!mpitx:calls ")
	s.keys("Enter")
	first := s.until("RANK", "RATE/s", "running")
	s.wait(func(shown string) string {
		if line := rankLine(shown); line != "" && line != rankLine(first) {
			return ""
		}
		return "value that moves"
	})
	s.keys("m", "Tab", "Left", "Left")
	s.until("per second, each rank over time", "/s│", "s  rank 0: ")
	s.keys("Escape", "Tab", "X", "shown.csv", "Enter")
	s.until("exported mpitx:messages_sent on 4 ranks to shown.csv")
	if text, _ := os.ReadFile(filepath.Join(dir, "shown.csv")); strings.Count(string(text), "mpitx:messages_sent,counter,,") != 4 {
		t.Errorf("exported:\n%s", text)
	}
	s.keys("q", "q")
	s.until("before\nmpitx: run1 is the newest run here\ncode 0")
	s.keys("Enter")
	// After a signal the terminal is restored, too.
	s.until("q quit")
	if err := syscall.Kill(s.program(), syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	s.until("before", "ended 143")
	s.plain()
	stop()
	// The ended run.
	out, err := exec.Command(filepath.Join(bin, "mpitx"), "report", filepath.Join(dir, "run1"), "samples", "--by-rank", "-o", "csv").Output()
	if err != nil || strings.Count(string(out), "mpitx:calls,") != 4 {
		t.Errorf("--by-rank: %v\n%s", err, out)
	}
	damaged(t, filepath.Join(bin, "mpitx"), filepath.Join(dir, "run1"))
}

// TestTopProfile watches the functions and the messages of a program whose numbers are known.
func TestTopProfile(t *testing.T) {
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	bin, _ := build()
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			program, dir := buildSolver(t, family), t.TempDir()
			p := newProcess(append(testEnvironment(t), "MPITX_MPI="), dir, "mpitx", "profile", "-n", "4", "--dir", "run1", "--", program, filepath.Join(dir, "ready"), filepath.Join(dir, "go"))
			if err := p.start(); err != nil {
				t.Fatal(err)
			}
			defer p.wait(hung)
			defer p.kill()
			defer func() {
				if t.Failed() {
					t.Log(p.output())
				}
			}()
			s := onScreen(t, environment(dir, os.TempDir(), bin), "cd "+dir+"; mpitx top run1")
			line := func(pattern string) {
				t.Helper()
				re := regexp.MustCompile("(?m)" + pattern)
				s.wait(func(shown string) string {
					if re.MatchString(shown) {
						return ""
					}
					return pattern
				})
			}
			s.until("FUNCTION", "4 running", "3 matrix")
			line(`MPI_Allreduce .* 200 `)
			line(`MPI_Recv .* 7 .* 3 `) // rank 3 waits the most
			s.keys("3", "Right")
			s.until("bytes of messages since the start", "rank 0 to rank 1: 50kB in 50 messages; now 0B/s in 0/s")
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.until("rank 0 to rank 1: 150kB in 150 messages")
			s.keys("Down", "Down", "Right", "Right")
			s.until("rank 2 to rank 3: 150kB in 151 messages") // and one byte
			s.keys("2")
			line(`MPI_Allreduce .* 600 `)
			line(`MPI_Isend .* 600 `)
			s.keys(":show MPI_Isend", "Enter", "Enter")
			s.until("ranks of MPI_Isend", "MPI_Isend: share of time, each rank over time")
			line(`^ +3 .* running .* 150 `)
			s.keys("q", "1")
			s.until("Nothing has been sampled yet.")
			s.keys("q")
			s.until("ended 0")
			s.plain()
		})
	}
}

// damaged overwrites samples of a run: the rest is printed, and the place of the damage.
func damaged(t *testing.T, mpitx, run string) {
	if out, err := exec.Command(mpitx, "recover", run).CombinedOutput(); err != nil { // of ranks that the launcher has killed
		t.Fatalf("recover: %v\n%s", err, out)
	}
	files, _ := filepath.Glob(filepath.Join(run, "node-*.mpxr"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	chunks := map[string][]int{} // of samples, by stream and sequence (docs/run-format.md)
	for i := range len(b) - 4096 {
		if strings.HasPrefix(string(b[i:i+8]), "\x01PXCHNK1") && b[i+12] == 2 {
			chunks[string(b[i+32:i+48])] = append(chunks[string(b[i+32:i+48])], i)
		}
	}
	at := 0
	for _, places := range chunks {
		if len(places) == 1 { // no copy replaces it
			at = max(at, places[0]+200)
		}
	}
	copy(b[at:], strings.Repeat("?", 4096))
	if err := os.WriteFile(files[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(mpitx, "report", run, "samples", "-o", "csv")
	var errors strings.Builder
	cmd.Stderr = &errors
	out, _ := cmd.Output()
	if cmd.ProcessState.ExitCode() != cli.ExitPartial || !strings.Contains(string(out), "mpitx:calls,") {
		t.Errorf("code %d:\n%s%s", cmd.ProcessState.ExitCode(), out, errors.String())
	}
	_, rest, _ := strings.Cut(errors.String(), filepath.Base(files[0])+": damaged at byte ")
	offset := 0
	if fmt.Sscan(rest, &offset); offset < at-1<<20 || offset > at+4096 {
		t.Errorf("overwritten from byte %d on:\n%s", at, errors.String())
	}
}

// rankLine is the line of rank 1.
func rankLine(screen string) string {
	for l := range strings.Lines(screen) {
		if f := strings.Fields(l); len(f) > 3 && f[0] == "1" {
			return l
		}
	}
	return ""
}
