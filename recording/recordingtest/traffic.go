package recordingtest

import (
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
)

// Traffic is a run of four ranks whose variables are counters.
type Traffic struct {
	Grown     map[string][4]uint64    // by how much each variable grows on each rank
	Level     int32                   // the thread level of the processes; 0 is 1
	Functions map[string][4][2]uint64 // calls and ns that each rank ends with, by function; nil: no totals
}

// SomeTraffic has counters of messages, one of them great, and of times.
var SomeTraffic = Traffic{Grown: map[string][4]uint64{
	"mpitx:bytes_sent":     {21761408, 21761408, 21761408, 18014398509481985},
	"mpitx:calls":          {20094, 20094, 20094, 20095},
	"mpitx:rma_operations": {},
	"mpitx:time_in_mpi":    {1500000, 2469494, 2452541, 2400000},
	"mpitx:time/MPI_Wait":  {2, 3, 4, 5},
}, Level: 4}

// Saved writes the run into a directory of a test.
func (x Traffic) Saved(t *testing.T) (dir string) {
	t.Helper()
	var chunks []byte
	for rank := range 4 {
		s := NewStream(uint64(rank)+1, int32(rank))
		s.Header(Header{Rank: int32(rank), Size: 4, Clock: 1, NsPerTick: 1, Host: "n", Thread: max(x.Level, 1)})
		s.Clock(0, 0, 1e18, 0)
		var zero, end []byte
		var offsets []uint32
		for i, name := range slices.Sorted(maps.Keys(x.Grown)) {
			class := catalog.ClassCounter
			if strings.Contains(name, "time") {
				class = catalog.ClassTimer
			}
			s.Column(uint32(i), Column{Variable: name, Class: int32(class), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
			offsets = append(offsets, uint32(i))
			zero, end = binary.LittleEndian.AppendUint64(zero, 0), binary.LittleEndian.AppendUint64(end, x.Grown[name][rank])
		}
		s.Set(0, len(zero), offsets...)
		s.Sample(0, 0, zero, nil)
		s.Sample(0, 2e9, end, nil)
		s.Counters(2, 0, 0, 0, 0, 0)
		var totals []Function
		for _, name := range slices.Sorted(maps.Keys(x.Functions)) {
			if f := x.Functions[name][rank]; f[0] > 0 {
				totals = append(totals, Function{Name: name, Calls: f[0], Ns: f[1]})
			}
		}
		if x.Functions != nil {
			s.Functions(totals...)
		}
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	dir = filepath.Join(t.TempDir(), "run")
	if err := Save(dir, "n", chunks); err != nil {
		t.Fatal(err)
	}
	return dir
}
