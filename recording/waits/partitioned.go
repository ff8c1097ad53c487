package waits

// partitioned are the partitioned messages of a trace. A message is sent by the last of the calls that mark its partitions as ready, which threads of
// its rank make in any order. So what others need of it is known at the end.
type partitioned struct {
	starts []partitionedStart // of sends; the first one is not used
	newest map[request]int32  // of these, by the request
	needed []partitionedNeed
}

// partitionedStart is the start of a partitioned send.
type partitionedStart struct{ by, ready, done Ref } // by which call, the last one that marked a partition as ready, and the one that completed it; nobody: it is not in the trace

// partitionedNeed is a call that completed the receive of a partitioned message, or its send.
type partitionedNeed struct {
	of, posted Ref // of a send: the call that started the receive; else nobody
	start      int32
	bytes      uint64
	alone      bool
}

// begin adds a start, and returns its number.
func (x *partitioned) begin(by Ref, of request) int32 {
	if x.newest == nil {
		x.newest, x.starts = map[request]int32{}, make([]partitionedStart, 1)
	}
	n := int32(len(x.starts))
	x.starts = append(x.starts, partitionedStart{by, nobody, nobody})
	x.newest[of] = n
	return n
}

// completed says that a call completed a request, maybe one of these.
func (x *partitioned) completed(of Ref, by request) {
	if n := x.newest[by]; n > 0 && x.starts[n].done == nobody {
		x.starts[n].done = of
	}
}

// ready says that a call marked partitions of the newest start of a request as ready. A call of an earlier start may return later than this one. After the
// newest one is complete, a call belongs to a start that is not in the trace.
func (x *partitioned) ready(p *Program, of Ref, by request) {
	n := x.newest[by]
	if n == 0 {
		return
	}
	s := &x.starts[n]
	begin := p.at(of).begin
	switch {
	case begin < p.at(s.by).begin, s.done != nobody && begin >= p.at(s.done).end:
	case s.ready == nobody, begin > p.at(s.ready).begin, begin == p.at(s.ready).begin && p.precedes(of.Track, s.ready.Track):
		s.ready = of
	}
}

// needs says which call completed the receive of a message, or with posted its send.
func (x *partitioned) needs(of, posted Ref, f *flow) {
	x.needed = append(x.needed, partitionedNeed{of, posted, f.start, f.bytes, f.alone})
}

// apply tells the program. A send waits for its receive only if all partitions were ready before that one was started.
func (x *partitioned) apply(p *Program) {
	for _, n := range x.needed {
		switch ready := x.starts[n.start].ready; {
		case ready == nobody:
		case n.posted == nobody:
			p.Received(n.of, ready, n.bytes)
		case p.at(ready).begin <= p.at(n.posted).begin:
			p.Sent(n.of, n.posted, n.bytes, Partitioned, n.alone)
		}
	}
	*x = partitioned{}
}
