// Package waits says why the ranks of a traced program wait: for each call how long it waited, for whom and why; which computation, call or
// earlier wait caused it; which chain of calls determines the run time; and what a faster region or an ideal network would change.
//
// A [Program] has the calls of all threads and what each may have waited for. [Read] makes it from a run's trace, and [Program.Analyse]
// draws the conclusions. docs/waits.md has the definitions. Times are nanoseconds on one clock for all ranks.
package waits

import (
	"math"
	"math/bits"
)

// Ref is a call: its track and its number on it.
type Ref struct{ Track, Call int32 }

// nobody is the Ref of no call.
var nobody = Ref{-1, -1}

// Site is where in the program calls are made, on which object, in which phase.
type Site struct {
	Function string
	Place    string // "function file:line", or what identifies the code until it is resolved
	Object   string // communicator, window or file; "": none
	Phase    string // "": outside of all
}

// call is an MPI call that is not nested in another one.
type call struct {
	begin, end int64
	site       uint32
	needs      uint32 // 0: nothing; with bit collectiveBit: a collective's number; else the number of an edge of its track + 1. With bit waitsBit, it waits
}

const (
	collectiveBit = 1 << 31
	waitsBit      = 1 << 30 // see Program.settle
)

// number is that of a collective, or of an edge + 1.
func (c *call) number() uint32 { return c.needs &^ (collectiveBit | waitsBit) }

func (c *call) collective() bool { return c.needs&collectiveBit != 0 }

// first is the number of a call's first edge + 1; 0: none.
func (c *call) first() uint32 {
	if c.collective() {
		return 0
	}
	return c.number()
}

// inMeeting is in place of a track's number.
const inMeeting = -2

// edge is an event on another track that a call may have waited for, or a collective that it started. There are many, so it is small.
type edge struct {
	from Ref    // on the track inMeeting: a collective that it completed or started, whose number is in place of a call's
	next uint32 // of the same call: its number + 1; 0: none
	size [3]uint8
	kind Kind
}

// mostBytes is the largest size that edges tell from others.
const mostBytes = 1<<24 - 1

// bytes is the size of the message.
func (e *edge) bytes() uint32 {
	return uint32(e.size[0]) | uint32(e.size[1])<<8 | uint32(e.size[2])<<16
}

// track is a thread of a rank.
type track struct {
	rank, thread int
	node         int
	start        int64  // when it began: the end of MPI_Init, or its first call
	origin       uint32 // the site of what came before
	calls        list[call]
	edges        list[edge] // of its calls
}

// Program is the calls of all threads of a program. It is filled by Track, Call and so on, then analysed. It is not safe for concurrent use.
type Program struct {
	tracks   []track
	sites    []Site
	siteIDs  map[Site]uint32
	codes    []Site // sites without their objects
	codeOf   []uint32
	codeIDs  map[Site]uint32
	Nodes    []string // names, by the numbers of Track
	meetings list[meeting]
	groups   []*Group
	lossy    map[int]bool      // tracks of which events are missing
	eager    [classes]uint32   // the largest message whose send ended before its receive was posted
	late     [classes]uint32   // the smallest one whose send waits for its receive: see settle
	ends     [classes][33]ends // of sends during which their receive was posted, by the bits of their size
	Missing  Missing
	window   *Window // nil: it is the whole
}

// classes is the number of classes of sends: to another node, on one, and likewise partitioned ones, whose size is that of a partition. Libraries
// treat them differently.
const classes = 4

func (p *Program) classOf(a, b int32, partitioned bool) (c int) {
	if p.tracks[a].node == p.tracks[b].node {
		c = 1
	}
	if partitioned {
		c += 2
	}
	return c
}

// ends counts sends.
type ends struct{ sends, prompt, least uint32 } // prompt: that ended right after their receive was posted; the smallest of these

func (e *ends) add(size uint32, prompt bool) {
	e.sends++
	if prompt {
		if e.prompt++; e.prompt == 1 || size < e.least {
			e.least = size
		}
	}
}

// lateFrom is the smallest size of sends of a class that wait for their receives. Of sends that take long for another reason, one of
// 33 ends right after its receive was posted.
func (p *Program) lateFrom(class int) uint32 {
	for n := bits.Len32(p.eager[class]) + 1; n < len(p.ends[class]); n++ {
		if e := p.ends[class][n]; e.prompt > 0 && 4*e.prompt >= e.sends {
			return min(e.least, surelyLate)
		}
	}
	return surelyLate
}

// surelyLate is a size of messages that no library copies before their receive is posted.
const surelyLate = 1 << 20

// NewProgram is a program without calls.
func NewProgram() *Program {
	return &Program{siteIDs: map[Site]uint32{}, codeIDs: map[Site]uint32{}}
}

// Missing counts what the trace lacks, so that waits may be missing.
type Missing struct {
	Lost       uint64 `json:"lost_events"`               // there was no room for them
	Backwards  uint64 `json:"backwards"`                 // messages that came before they were sent, by the clocks
	Unmatched  uint64 `json:"unmatched_messages"`        // whose other side is not in the trace
	Incomplete uint64 `json:"incomplete_collectives"`    // in which ranks took part whose calls are not in the trace
	Undecided  uint64 `json:"undecided_collectives"`     // calls that cannot be told from those of other ranks, because calls before them are missing
	Paused     uint64 `json:"parts"`                     // how often a rank's recording went on after calls that it left out
	Open       uint64 `json:"open_calls"`                // in which the program ended
	Functions  uint64 `json:"ranks_with_some_functions"` // ranks whose trace has the calls of some functions only
}

// Track adds a thread of a rank, and returns its number. origin is what came before its start.
func (p *Program) Track(rank, thread, node int, start int64, origin string) int32 {
	p.tracks = append(p.tracks, track{rank: rank, thread: thread, node: node, start: start, origin: p.Site(Site{Function: origin})})
	return int32(len(p.tracks) - 1)
}

// Site numbers a site.
func (p *Program) Site(s Site) uint32 {
	id, ok := p.siteIDs[s]
	if !ok {
		id = uint32(len(p.sites))
		p.siteIDs[s] = id
		p.sites = append(p.sites, s)
		s.Object = ""
		code, ok := p.codeIDs[s]
		if !ok {
			code = uint32(len(p.codes))
			p.codeIDs[s] = code
			p.codes = append(p.codes, s)
		}
		p.codeOf = append(p.codeOf, code)
	}
	return id
}

// Call adds a call to a track. Those of a track come in the order in which they were made.
func (p *Program) Call(track int32, begin, end int64, site uint32) Ref {
	t := &p.tracks[track]
	last := t.start
	if t.calls.len() > 0 {
		last = t.calls.last().end
	}
	begin = max(begin, last)
	t.calls.add(call{begin: begin, end: max(end, begin), site: site})
	return Ref{track, t.calls.len() - 1}
}

func (p *Program) at(r Ref) *call { return p.tracks[r.Track].calls.at(r.Call) }

// need adds what a call may have waited for.
func (p *Program) need(of, from Ref, kind Kind, bytes uint64) {
	c, t := p.at(of), &p.tracks[of.Track]
	if c.collective() || t.edges.len() >= waitsBit-2 {
		return
	}
	n := min(bytes, mostBytes)
	t.edges.add(edge{from: from, next: c.needs, size: [3]uint8{uint8(n), uint8(n >> 8), uint8(n >> 16)}, kind: kind})
	c.needs = uint32(t.edges.len())
}

// Received says that a call completed the receive of a message, which the call sent sent.
func (p *Program) Received(received, sent Ref, bytes uint64) {
	if p.at(sent).begin > p.at(received).end {
		p.Missing.Backwards++
		return
	}
	p.need(received, sent, LateSender, bytes)
}

// Sent says that a call completed the send of a message, whose receive the call posted posted. alone: it completed nothing else. Of a partitioned
// message, bytes is the size of a partition.
func (p *Program) Sent(sent, posted Ref, bytes uint64, mode Mode, alone bool) {
	switch {
	case mode == Buffered:
		return
	case mode == Synchronous:
		p.need(sent, posted, lateSynchronous, bytes)
		return
	}
	size, class, kind := uint32(min(bytes, mostBytes)), p.classOf(sent.Track, posted.Track, mode == Partitioned), LateReceiver
	if mode == Partitioned {
		kind = latePartitioned
	}
	c, at := p.at(sent), p.at(posted).begin
	switch waited := at - c.begin; {
	case c.end < at:
		p.eager[class] = max(p.eager[class], size)
	case waited > 0 && alone:
		p.ends[class][bits.Len32(size)].add(size, 32*(c.end-at) <= waited)
	}
	if size > p.eager[class] {
		p.need(sent, posted, kind, bytes)
	}
}

// Mode is the mode of a send.
type Mode uint8

// The modes: a synchronous send waits for its receive in any case, a buffered one never. A send in ready mode is a standard one here.
const (
	Standard Mode = iota
	Synchronous
	Buffered
	Partitioned
)

// before is the end of the call before one, or the start of the track: when the computation before the call began.
func (t *track) before(i int32) int64 {
	if i == 0 {
		return t.start
	}
	return t.calls.at(i - 1).end
}

// end is when a track's last call ended.
func (t *track) end() int64 {
	if t.calls.len() > 0 {
		return t.calls.last().end
	}
	return t.start
}

// precedes reports whether a track comes before another one of the same time: by rank, whatever their order is in the trace.
func (p *Program) precedes(a, b int32) bool {
	x, y := &p.tracks[a], &p.tracks[b]
	if x.rank != y.rank {
		return x.rank < y.rank
	}
	return x.thread < y.thread
}

// span is the time of the program: from the earliest start to the latest end.
func (p *Program) span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for i := range p.tracks {
		if t := &p.tracks[i]; t.calls.len() > 0 {
			from, to = min(from, t.start), max(to, t.end())
		}
	}
	if from > to {
		return 0, 0
	}
	return from, to
}

// within finds the call of a track during which a moment is, or that begins then; nobody: none.
func (p *Program) within(track int32, at int64) Ref {
	calls := &p.tracks[track].calls
	i := calls.searchBack(func(c *call) bool { return c.begin <= at }) - 1 // calls that took no time come before
	if i >= 0 && calls.at(i).end >= at {
		return Ref{track, i}
	}
	return nobody
}
