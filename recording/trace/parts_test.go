package trace

import (
	"strconv"
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

// receives is what rank 1 does in the parts that are recorded, in turns: the newest request before the part (0: nothing was left out),
// which requests it posts, and which complete. Request 0 is a blocking receive. -1 is a message that is received outside.
type receives []struct {
	newest    uint32
	posts     []uint32
	completes []int
}

// saveParts writes six sends of one stream, and the receives.
func saveParts(r receives) func(dir string) error {
	return func(dir string) error {
		return saveRanks(dir, 1, func(rank int32, t *recordingtest.Trace) {
			if rank == 1 {
				r.write(t)
				return
			}
			for n := range uint32(6) {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: 2000 + 100*uint64(n), End: 2050 + 100*uint64(n), Site: 1, Bytes: 8, Object: 1, Peer: 1, Tag: 7, Sequence: n + 1, Flags: recordingtest.TraceSent})
			}
		})
	}
}

func (r receives) write(t *recordingtest.Trace) {
	at, sequence := uint64(3000), uint32(0)
	for _, part := range r {
		if part.newest > 0 {
			t.Part(at, part.newest)
		}
		for _, request := range part.posts {
			at += 10
			t.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: at, End: at + 5, Site: 2, Object: 1, Tag: 7, Request: request, Flags: recordingtest.TracePosts})
		}
		for _, request := range part.completes {
			at += 10
			if sequence++; request >= 0 {
				t.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: at, End: at + 5, Site: 3, Bytes: 8, Object: 1, Tag: 7, Request: uint32(request), Sequence: sequence, Flags: recordingtest.TraceReceived})
			}
		}
		at += 100
	}
}

// Receives may be posted or completed while nothing is recorded. A message gets the arrow that it has if all is recorded, or none.
func TestParts(t *testing.T) {
	for name, c := range map[string]struct {
		receives
		flows string // of the receives that complete, the number of the send's message; -: none
	}{
		"in order":          {receives{{1, []uint32{2, 3}, []int{1, 2, 3}}}, "1 2 3"},
		"overtaken":         {receives{{1, []uint32{2, 3, 4}, []int{2, 1, 3, 4}}}, "2 1 3 4"},
		"reversed":          {receives{{2, []uint32{3, 4}, []int{4, 3, 2, 1}}}, "4 3 2 1"},
		"blocking":          {receives{{1, nil, []int{0, 1, 0}}}, "2 1 3"},
		"between parts":     {receives{{0, []uint32{1}, []int{0, 1}}, {2, []uint32{3}, []int{0, 3, 2}}}, "2 1 5 4 3"},
		"through a part":    {receives{{1, []uint32{2}, []int{2}}, {2, []uint32{3}, []int{3, 1}}}, "- - -"},
		"completes outside": {receives{{1, []uint32{1, 2}, []int{2}}, {2, nil, []int{-1, 0}}}, "- -"},
		"ends outside":      {receives{{0, []uint32{1, 2}, []int{2}}, {2, nil, []int{-1}}}, "-"},
		"never completes":   {receives{{0, []uint32{1, 2}, []int{2}}}, "1"},
	} {
		flows, got := map[uint64]int{}, []string(nil)
		for e := range Read(open(t, saveParts(c.receives)), Options{Flows: true}).Events {
			if e.Call == nil || len(e.Call.Messages) == 0 {
				continue
			}
			m := &e.Call.Messages[0]
			switch {
			case !m.Received:
				flows[m.Flow] = int(m.Sequence)
			case m.Flow == 0:
				got = append(got, "-")
			default:
				got = append(got, strconv.Itoa(flows[m.Flow]))
			}
		}
		if strings.Join(got, " ") != c.flows {
			t.Errorf("%s: %v, want %s", name, got, c.flows)
		}
	}
}
