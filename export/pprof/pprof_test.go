package pprof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// solver writes the profile of a run whose numbers are known, and returns the file.
func solver(t *testing.T) (file string, p *profile.Profile) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := (recordingtest.Solver{Lacks: []int32{1}}).Save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	if p, err = profile.Read(run, profile.Cut{}); err != nil {
		t.Fatal(err)
	}
	p.Resolve(func(a profile.Address) []profile.Frame {
		switch a.Offset {
		case 0x1180:
			return []profile.Frame{{Function: "exchange", File: "/src/halo.h", Line: 31, Inlined: true}, {Function: "step", File: "/src/solver.c", Line: 118}}
		case 0x1200:
			return []profile.Frame{{Function: "norm\xff<script>", File: "/src/norm.f90", Line: 7}}
		}
		return nil
	})
	file = filepath.Join(t.TempDir(), "solver.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(f, p); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file, p
}

func pprofTool(t *testing.T, args ...string) string {
	t.Helper()
	need.Commands(t, "go")
	cmd := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// go tool pprof shows the times of functions, inlined ones too, and of single ranks.
func TestGoToolPprof(t *testing.T) {
	file, _ := solver(t)
	for args, want := range map[string][]string{
		"-top -unit=ms": {"Type: time", "1090ms", "MPI_Wait", "exchange (inline)", "step", "norm\uFFFD"},
		"-top -unit=ms -tagfocus=rank=3 -focus=MPI_Wait":          {"820ms 41.56%", "MPI_Wait"},
		"-top -sample_index=calls":                                {"4000", "MPI_Wait"},
		"-traces -unit=ms -tagfocus=rank=3":                       {"820ms   MPI_Wait", "             exchange (inline)", "             step"},
		"-top -unit=ms -tagfocus=incomplete=true -focus=MPI_Wait": {"140ms", "MPI_Wait"},
		"-list=step -unit=ms":                                     {"1090ms (flat, cum) 55.25% of Total", "step in /src/solver.c"},
		"-raw":                                                    {"bytes_sent/bytes", "rank:[2]", "/home/user/solver", "incomplete:[true]", "rank 1 is incomplete: the agent got no memory (cannot allocate memory)"},
	} {
		out := pprofTool(t, append(strings.Fields(args), file)...)
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("go tool pprof %s: no %q in\n%s", args, text, out)
			}
		}
	}
}
