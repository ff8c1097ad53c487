package waits

import (
	"cmp"
	"slices"
	"testing"

	compare "github.com/google/go-cmp/cmp"

	"mpitx/recording/recordingtest"
)

// parts is a partitioned message between ranks 0 and 1.
type parts struct {
	request, start, channel uint32
	bytes                   uint64
	partitions              uint32
}

func (w *written) partitioned(begin, end uint64, p parts, function string, flags uint32) {
	w.Add(recordingtest.TraceEvent{Message: true, Function: function, Begin: 2000 + begin, End: 2000 + end, Object: 1, Peer: int32(1 - w.rank), Tag: 5, Bytes: p.bytes,
		Request: p.request, Sequence: p.start, Channel: p.channel, Partitions: p.partitions, Flags: flags | 1024})
}

// starts starts a message: rank 0 sends it, rank 1 receives it.
func (w *written) starts(begin uint64, p parts) {
	if w.rank == 0 {
		w.partitioned(begin, begin+10, p, "MPI_Psend_init", recordingtest.TraceSent)
	} else {
		w.Start(2000+begin, 2000+begin+10, p.request)
	}
	w.call("MPI_Start", begin, begin+10, 1)
}

func (w *written) ready(function string, begin uint64, p parts) {
	w.call(function, begin, begin+2, 1, inRequest(p.request))
}

// waits completes a message.
func (w *written) waits(begin, end uint64, p parts) {
	if w.rank == 0 {
		w.Done(2000+end, p.request)
	} else {
		w.partitioned(begin, end, p, "MPI_Precv_init", recordingtest.TraceReceived)
	}
	w.call("MPI_Wait", begin, end, 1)
}

// exchange starts a message at once, marks its partitions as ready at some times, and completes it.
func (w *written) exchange(p parts, ready []uint64, sender, receiver [2]uint64) {
	w.starts(0, p)
	if w.rank == 0 {
		for _, at := range ready {
			w.ready("MPI_Pready", at, p)
		}
		w.waits(sender[0], sender[1], p)
		return
	}
	w.waits(receiver[0], receiver[1], p)
}

// each are the waits, the longest first.
func each(a *Analysis) (all []state) {
	for w := range a.Waits {
		all = append(all, state{w.Kind, w.Rank, w.To - w.From, w.For})
	}
	slices.SortFunc(all, func(x, y state) int { return cmp.Compare(y.Waiting, x.Waiting) })
	return all
}

func TestPartitioned(t *testing.T) {
	small := parts{3, 1, 1, 64 << 10, 4}
	late := func(p parts, ends uint64) func(w *written) { // the receive is started at 400
		return func(w *written) {
			if w.rank == 0 {
				w.exchange(p, []uint64{12, 15}, [2]uint64{20, ends}, [2]uint64{})
				return
			}
			w.starts(400, p)
			w.waits(430, 700, p)
		}
	}
	for _, c := range []struct {
		name    string
		write   func(w *written)
		want    []state
		causes  []string
		missing Missing
	}{
		{"the last partition is late", func(w *written) { w.exchange(small, []uint64{100, 500}, [2]uint64{510, 520}, [2]uint64{20, 600}) },
			[]state{{LateSender, 1, 480, 0}}, []string{"rank 0: computation MPI_Pready 478 for [1]", "rank 0: call MPI_Pready 2 for [1]"}, Missing{}},
		{"a range is late", func(w *written) {
			w.starts(0, small)
			if w.rank == 0 {
				w.ready("MPI_Pready_list", 100, small)
				w.ready("MPI_Pready_range", 300, small)
			}
			w.waits(310-10*uint64(w.rank)*29, 600, small) // 310 and 20
		}, []state{{LateSender, 1, 280, 0}}, []string{"rank 0: computation MPI_Pready_range 191 for [1]", "rank 0: computation MPI_Pready_list 87 for [1]", "rank 0: call MPI_Pready_list 2 for [1]"}, Missing{}},
		{"nobody is late", func(w *written) {
			w.exchange(small, []uint64{12, 15}, [2]uint64{20, 30}, [2]uint64{20, 300}) // the transfer takes long
		}, nil, nil, Missing{}},
		{"it was started late, and was there", func(w *written) {
			if w.rank == 0 {
				w.starts(100, small)
				w.ready("MPI_Pready_range", 120, small)
				w.waits(130, 140, small)
				return
			}
			w.starts(0, small)
			w.waits(200, 300, small)
		}, nil, nil, Missing{}},
		{"late receiver", late(small, 405), []state{{LateReceiver, 0, 380, 1}}, []string{"rank 1: computation MPI_Start 380 for [0]"}, Missing{}},
		{"a send that ends at another time", late(small, 600), nil, nil, Missing{}},
		{"small partitions of a large message", late(parts{3, 1, 1, 4 << 20, 1024}, 600), nil, nil, Missing{}},
		{"large partitions", late(parts{3, 1, 1, 4 << 20, 2}, 600), []state{{LateReceiver, 0, 380, 1}}, []string{"rank 1: computation MPI_Start 380 for [0]"}, Missing{}},
		{"libraries copy other messages of this size", func(w *written) {
			other := func(e *recordingtest.TraceEvent) {
				e.Peer, e.Tag, e.Sequence, e.Bytes, e.Flags = int32(1-w.rank), 5, 1, 64<<10, uint32(1+w.rank)
			}
			late(small, 405)(w)
			if w.rank == 0 {
				w.call("MPI_Send", 500, 505, 1, other)
			} else {
				w.call("MPI_Recv", 800, 900, 1, other)
			}
		}, []state{{LateReceiver, 0, 380, 1}}, []string{"rank 1: computation MPI_Start 380 for [0]"}, Missing{}},
		{"in the order of initialization", func(w *written) { // the second one of the same tag starts first
			first, second := parts{3, 1, 1, 8, 1}, parts{4, 1, 2, 8, 1}
			if w.rank == 0 {
				w.starts(0, second)
				w.starts(11, first)
				w.ready("MPI_Pready", 100, first)
				w.ready("MPI_Pready", 500, second)
				w.waits(510, 511, first)
				w.waits(512, 513, second)
				return
			}
			w.starts(0, first)
			w.starts(11, second)
			w.waits(30, 150, first)
			w.waits(160, 600, second)
		}, []state{{LateSender, 1, 340, 0}, {LateSender, 1, 70, 0}}, nil, Missing{}},
		{"started twice", func(w *written) {
			for i := range uint64(2) {
				p, at := parts{3, uint32(i) + 1, 1, 8, 2}, 1000*i
				w.starts(at, p)
				if w.rank == 0 {
					w.ready("MPI_Pready", at+20, p)
					w.ready("MPI_Pready", at+200+100*i, p)
				}
				w.waits(at+30+300*uint64(1-w.rank), at+500, p)
			}
		}, []state{{LateSender, 1, 270, 0}, {LateSender, 1, 170, 0}}, nil, Missing{}},
		{"the receive of the next start is missing", func(w *written) {
			w.exchange(small, []uint64{100, 500}, [2]uint64{510, 520}, [2]uint64{20, 600})
			if w.rank == 0 {
				next := small
				next.start = 2
				w.starts(1000, next)
				w.ready("MPI_Pready", 1500, next)
			}
		}, []state{{LateSender, 1, 480, 0}}, nil, Missing{Unmatched: 1}},
		{"the next start is missing", func(w *written) {
			w.exchange(small, []uint64{100, 500}, [2]uint64{510, 520}, [2]uint64{20, 600})
			if w.rank == 0 {
				w.ready("MPI_Pready", 550, small)
				w.ready("MPI_Pready", 1500, small)
			}
		}, []state{{LateSender, 1, 480, 0}}, nil, Missing{}},
		{"threads", func(w *written) { // another thread marks the last partition; its call returns after the send is complete
			if w.rank == 1 {
				w.starts(0, small)
				w.waits(20, 700, small)
				return
			}
			w.starts(0, small)
			w.ready("MPI_Pready", 50, small)
			w.waits(60, 610, small)
			w.Write(1, 100)
			w.call("MPI_Pready", 600, 640, 1, inRequest(3))
			w.Write(2, 200)
			w.call("MPI_Comm_rank", 900, 901, 1)
		}, []state{{LateSender, 1, 580, 0}}, nil, Missing{}},
		{"a receive that starts before threads are ready", func(w *written) { // the send waits for a thread of its own rank
			large := parts{3, 1, 1, 4 << 20, 2}
			if w.rank == 1 {
				w.starts(400, large)
				w.waits(620, 700, large)
				return
			}
			w.starts(0, large)
			w.waits(60, 605, large)
			w.Write(1, 100)
			w.ready("MPI_Pready", 600, large)
			w.Write(2, 200)
			w.call("MPI_Comm_rank", 900, 901, 1)
		}, nil, nil, Missing{}},
		{"an order that is not known", func(w *written) {
			w.exchange(parts{3, 1, 0, 8, 2}, []uint64{100, 500}, [2]uint64{510, 520}, [2]uint64{20, 600})
		}, nil, nil, Missing{Unmatched: 1}},
		{"calls that mark partitions are missing", func(w *written) { w.exchange(small, nil, [2]uint64{510, 520}, [2]uint64{20, 600}) }, nil, nil, Missing{}},
		{"an ordinary message of the same tag", func(w *written) {
			w.exchange(small, []uint64{100, 500}, [2]uint64{510, 520}, [2]uint64{20, 600})
			other := func(e *recordingtest.TraceEvent) {
				e.Peer, e.Tag, e.Sequence, e.Bytes, e.Flags = int32(1-w.rank), 5, 1, 8, uint32(1+w.rank)
			}
			if w.rank == 0 {
				w.call("MPI_Send", 900, 901, 1, other)
			} else {
				w.call("MPI_Recv", 650, 950, 1, other)
			}
		}, []state{{LateSender, 1, 480, 0}, {LateSender, 1, 250, 0}}, nil, Missing{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := analyse(t, 2, 0, c.write)
			if diff := compare.Diff(c.want, each(a)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := compare.Diff(c.missing, a.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			costs := a.Waiting
			for i := range a.Causes {
				costs -= a.Causes[i].Cost
				a.Causes[i].Place = a.Causes[i].Function
			}
			if diff := compare.Diff(c.causes, causesOf(a)); c.causes != nil && diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
			if costs != 0 || a.Efficiency.Ideal == 0 {
				t.Errorf("%v of waiting has no cause; %v on an ideal network", costs, a.Efficiency.Ideal)
			}
		})
	}
}
