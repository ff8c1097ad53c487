package pprof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"

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

// Another decoder finds the profile valid, with the numbers of the run.
func TestDecoded(t *testing.T) {
	file, p := solver(t)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := pprof.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CheckValid(); err != nil {
		t.Error(err)
	}
	var got, want [4]int64
	for _, s := range d.Sample {
		for i, v := range s.Value {
			got[i] += v
		}
	}
	for _, s := range p.Sites {
		for _, r := range s.Ranks {
			for i, v := range []uint64{r.Calls, uint64(r.Time), r.Sent(), r.Received()} {
				want[i] += int64(v)
			}
		}
	}
	if got != want || got[1] == 0 || len(d.SampleType) != 4 || d.DefaultSampleType != "time" || d.PeriodType.Type != "calls" || d.Period != 1 {
		t.Errorf("%v, not %v; types %v, %q, %v, %d", got, want, d.SampleType, d.DefaultSampleType, d.PeriodType, d.Period)
	}
	if d.TimeNanos != p.Run.Start.UnixNano() || d.DurationNanos != int64(p.Ranks[0].Elapsed) {
		t.Error(d.TimeNanos, d.DurationNanos)
	}
	for _, m := range d.Mapping {
		if m.File == "" || m.Limit == 0 || !m.HasFunctions || !m.HasFilenames || !m.HasLineNumbers || !m.HasInlineFrames {
			t.Errorf("%+v", m)
		}
	}
	for _, l := range d.Location {
		if (l.Mapping == nil) != (l.Address == 0) || len(l.Line) == 0 {
			t.Errorf("%+v", l)
		}
	}
}
