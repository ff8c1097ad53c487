package runs

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
)

// estimatedProfile is the profile of a rank with 1000 timed and 7000 untimed calls of MPI_Comm_rank, and one of MPI_Barrier. The timed calls take
// this many nanoseconds, in turn.
func estimatedProfile(t *testing.T, ns ...uint64) *profile.Profile {
	t.Helper()
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "n", Program: "app"})
	s.Clock(0, 0, 1e18, 0)
	s.Clock(1e6, 1e6, 1e18+1e6, 0)
	p := recordingtest.NewProfile(s, 1)
	p.Objects(recordingtest.Object{ID: 1, Size: 1, Name: "MPI_COMM_WORLD"})
	c := recordingtest.Call{Function: "MPI_Comm_rank", Object: 1, Calls: 8000, Untimed: 7000, Picked: 1000, Stack: []uint64{4096}}
	for i := range 1000 {
		c.Durations = append(c.Durations, ns[i%len(ns)])
		c.Ticks += ns[i%len(ns)]
	}
	p.Calls(c, recordingtest.Call{Function: "MPI_Barrier", Object: 1, Calls: 1, Ticks: 1000, Stack: []uint64{8192}})
	s.End(1)
	s.Seal()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.Save(dir, "n", s.Out); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	read, err := profile.Read(run, profile.Cut{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// Whatever shows an estimated time says so, and how exact it is: 8000 calls of 50 ± 10 ns take 400 µs ± 1.96 × 10 × √(7000 × 8000 / 1000).
func TestEstimatedTimes(t *testing.T) {
	p := estimatedProfile(t, 40, 60)
	t.Run("report", func(t *testing.T) {
		for _, c := range []struct {
			format export.Format
			table  string
			utf8   bool
			want   []string
		}{
			{"", "", true, []string{"MPI takes 40.1 % of the run time (estimated, ±0.5 %)", "±1.2 %", "ERROR"}},
			{"", ViewRanks, false, []string{"time in MPI", "+-1.2 %"}},
			{"", ViewCommunicators, true, []string{"±1.2 %"}},
			{export.FormatJSON, "", true, []string{`"untimed":7000,"time_error_ns":4640`, `"in_mpi_error_ns":4640`, `"parallel_error":0.00464`}},
			{export.FormatCSV, ViewFunctions, true, []string{"untimed,time_error_ns", "MPI_Comm_rank,,,8000,400000,0,0,0,0,0,0,0,0,7000,4640,", "MPI_Barrier,,,1,1000,0,0,0,0,0,0,0,0,0,0,"}},
			{FormatHatchet, "", true, []string{`"time_error": 0.00000464`}},
		} {
			var b bytes.Buffer
			if err := Report(&b, p, c.format, ReportOptions{Terminal: export.Terminal{UTF8: c.utf8}, Table: c.table}); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s %s: no %q in\n%s", c.format, c.table, want, b.String())
				}
			}
		}
	})
	t.Run("compare", func(t *testing.T) {
		for _, c := range []struct {
			ns      []uint64 // of the calls on the new side
			changed bool
		}{{[]uint64{41, 60}, false}, {[]uint64{80, 100}, true}} {
			q := estimatedProfile(t, c.ns...)
			compared := compare.Compare([]compare.Input{{Name: "a", Run: p.Run, Profile: p}}, []compare.Input{{Name: "b", Run: q.Run, Profile: q}})
			var b bytes.Buffer
			if err := Compare(&b, compared, "", CompareOptions{Terminal: export.Terminal{UTF8: true}, Findings: compared.Findings("")}); err != nil {
				t.Fatal(err)
			}
			line := ""
			for l := range strings.Lines(b.String()) {
				if strings.HasPrefix(l, "MPI_Comm_rank ") {
					line = l
				}
			}
			if !strings.Contains(line, "±") || strings.Contains(line, "~") == c.changed {
				t.Errorf("%v: %q in\n%s", c.ns, line, b.String())
			}
			if grown := strings.Join(compared.Grown(0.01), "; "); strings.Contains(grown, "MPI_Comm_rank") != c.changed {
				t.Errorf("%v: grown: %s", c.ns, grown)
			}
		}
	})
}
