package clocks

import (
	"path/filepath"
	"testing"
	"time"

	"mpitx/recording/recordingtest"
)

// profiled writes a profile of two nodes with two ranks each, which come to calls of a function each 2 ms, 10 us apart, and leave it 20 us after
// the last one. The clock of node2 is 5 ms behind.
func profiled(t *testing.T, function string, size uint32) string {
	t.Helper()
	dir, chunks := filepath.Join(t.TempDir(), "run"), map[string][]byte{}
	for rank := range int32(4) {
		host, behind := "node1", uint64(0)
		if rank > 1 {
			host, behind = "node2", 5_000_000
		}
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 4, Clock: 1, NsPerTick: 1, Host: host})
		s.Clock(10_000_000, 10_000_000, wall, 0)
		var calls []recordingtest.Arrival
		for i := range uint64(60) {
			begin := 20_000_000 + 2_000_000*i - behind
			calls = append(calls, recordingtest.Arrival{Call: i + 1, Enter: begin + 10_000*((i+uint64(rank))%4), Leave: begin + 50_000, Size: size})
		}
		recordingtest.NewProfile(s, 1).Arrivals(function, "", 1, 1, []uint64{7}, calls...)
		s.End(1)
		s.Seal()
		chunks[host] = append(chunks[host], s.Out...)
	}
	for host, all := range chunks {
		if err := recordingtest.Save(dir, host, all); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Barriers that all ranks kept put clocks in step. Calls in which ranks need not wait for each other, or that a rank lacks, do not.
func TestCorrectByCollectives(t *testing.T) {
	for _, function := range []string{"MPI_Barrier", "MPI_Allreduce"} {
		run := open(t, profiled(t, function, 4))
		CorrectByCollectives(run)
		if run.Clocks == nil {
			t.Fatalf("%s: no clocks", function)
		}
		if p := run.Clocks.Pairs; len(p) != 1 || !p[0].Known || (p[0].Apart+5*time.Millisecond).Abs() > p[0].Error || p[0].Error > 50*time.Microsecond || p[0].After != 0 {
			t.Errorf("%s: %+v", function, p)
		}
	}
	for _, other := range []string{profiled(t, "MPI_Alltoallv", 4), profiled(t, "MPI_Barrier", 5)} {
		run := open(t, other)
		if CorrectByCollectives(run); run.Clocks != nil {
			t.Errorf("%s: %+v", other, run.Clocks)
		}
	}
}
