package profile

import (
	"math"
	"testing"

	"mpitx/fixtures/mutate"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// An input is edits of a profile of two ranks, with valid checksums. Efficiencies and weights stay fractions, whatever the rows say.
func FuzzRead(f *testing.F) {
	small := chunksOf(func(p *recordingtest.Profile) {
		p.Objects(object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 7})
		p.Calls(call{Function: "MPI_Init", Calls: 1, Ticks: 900 * ms},
			call{Function: "MPI_Recv", Object: 1, Stack: []uint64{0x10100, 0x10200}, Calls: 10, Ticks: 400 * ms, MessagesReceived: 10, BytesReceived: 1000})
		p.Waits(wait{Function: "MPI_Recv", Rank: 1, Stack: []uint64{0x10100, 0x10200}, Calls: 10, Ticks: 390 * ms})
		p.Peers(peer{Rank: 1, MessagesReceived: 10, BytesReceived: 1000})
		p.Phases(phase{Name: "solve", Entered: 2, Ticks: 450 * ms, Self: 400 * ms, First: 1000 + 100*ms, Last: 1000 + 600*ms})
		p.Sizes(recordingtest.Size{Function: "MPI_Recv", Messages: map[uint64]uint64{100: 10}})
		p.Arrivals("MPI_Bcast", "solve", 1, 1, []uint64{0x10100}, kept{Call: 5, Enter: 1000 + ms, Leave: 1000 + 3*ms, Size: 2, Role: 1}, kept{Call: 6, Enter: 1000 + 5*ms, Leave: 1000 + 6*ms, Size: 1})
		p.Open("MPI_Recv", 10, 1000+500*ms, 1000+900*ms)
	}, func(p *recordingtest.Profile) {
		p.Calls(call{Function: "MPI_Send", Object: 1, Stack: []uint64{0x20300}, Calls: 10, Ticks: 80 * ms, MessagesSent: 10, BytesSent: 1000})
		p.Peers(peer{Rank: 0, MessagesSent: 10, BytesSent: 1000})
		p.Arrivals("MPI_Bcast", "solve", 1, 1, []uint64{0x20300}, kept{Call: 5, Enter: 1000 + 2*ms, Leave: 1000 + 3*ms, Size: 2, Role: 2})
	})
	dir := mutate.Folder(f)
	f.Add([]byte{})
	f.Add([]byte("\x02\x0c\x00\x02\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		b := mutate.Bytes(small, script)
		recordingtest.Fix(b)
		if err := recordingtest.Save(dir, "n", b); err != nil {
			t.Fatal(err)
		}
		run, err := recording.Open(dir)
		if err != nil {
			return
		}
		defer run.Close()
		for _, cut := range []Cut{{}, {Phases: []string{"solve"}}, {Objects: []string{"MPI_COMM_WORLD"}}, {Ranks: []int{1}}} {
			p, err := Read(run, cut)
			if err != nil {
				continue
			}
			for _, e := range []float64{p.Efficiency.Parallel, p.Efficiency.LoadBalance, p.Efficiency.Communication} {
				if math.IsNaN(e) || e < 0 || e > 1 {
					t.Errorf("efficiency %v", p.Efficiency)
				}
			}
			for _, found := range p.Findings() {
				if math.IsNaN(found.Share) || found.Text == "" {
					t.Errorf("%+v", found)
				}
			}
		}
	})
}
