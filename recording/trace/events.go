package trace

import (
	"strings"
	"time"

	"mpitx/recording"
)

const (
	maxPosted  = 1 << 16 // receives of a rank that have not completed, kept for the time at which they were posted
	maxPending = 1 << 16 // messages of one call
)

// decoder makes calls of the events of all chains.
type decoder struct {
	trace *Trace
	processes
	repeats
	chains  []*chain
	posted  map[*process]map[uint32]post
	posts   map[uint32]post // of postsOf, which was asked for last
	postsOf *process
	shown   Event
	decoded Message
	call    Call
	phase   Phase
	ext     External
	read    uint64
	only    *chain // of all events, if it is set
}

// chain is a thread's chain of events.
type chain struct {
	messages    []Message // whose call has not come yet
	ended       []uint32  // likewise: the requests that it completes, of sends and collectives
	collectives []uint32  // likewise: the requests of persistent collectives that it starts
	begin       uint64    // of their call, in ticks
	started     []uint32  // the requests of receives that a call starts which has not come yet
	startsAt    uint64    // its begin
	process     *process
	thread      int
	counted     uint64 // messages so far: numbers them in matched
}

func newDecoder(t *Trace) *decoder {
	return &decoder{trace: t, processes: newProcesses(t), posted: map[*process]map[uint32]post{}}
}

// options select all events of the ranks, also if a part is chosen: earlier ones post receives and count messages, and a call that begins in
// the part may end later.
func (d *decoder) options() recording.Options {
	return recording.Options{Rank: d.trace.options.Rank, Bodies: true, Readers: d.trace.readers}
}

func (d *decoder) chain(e *recording.Event) *chain {
	if d.only != nil {
		return d.only
	}
	for len(d.chains) <= e.Chain {
		d.chains = append(d.chains, &chain{})
	}
	return d.chains[e.Chain]
}

// inside reports whether the chosen part overlaps the time between two moments.
func (t *Trace) inside(from, to time.Duration) bool {
	return t.options.To <= t.options.From || to >= t.options.From && from < t.options.To
}

// insideCall is inside for a call or a message of one, whose event has the time of the end.
func (t *Trace) insideCall(e *recording.Event, l *layout) bool {
	return t.options.To <= t.options.From || t.inside(t.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin)), e.Time)
}

// event decodes an event. It returns false if yield stopped.
func (d *decoder) event(e *recording.Event, yield func(*Event) bool) bool {
	c := d.chain(e)
	inside := d.trace.inside(e.Time, e.Time)
	if e.Type == nil {
		if !inside {
			return true
		}
		c.ended, c.collectives = c.ended[:0], c.collectives[:0]
		d.trace.Totals.lose(e)
		d.shown = Event{Rank: e.Rank, Thread: e.Thread, Track: e.Chain, Lost: e.Lost, Old: e.Old, From: e.From, To: e.To}
		return yield(&d.shown)
	}
	p := d.of(e.Rank)
	c.process, c.thread = p, e.Thread
	l := d.restore(e, p.layout(e.Type))
	if l == nil {
		d.trace.Totals.LostEvents++
		return true
	}
	switch l.kind {
	case kindCall:
		return d.endCall(c, e, l, yield)
	case kindMessage:
		begin := l.u64(e.Body, fieldBegin)
		if len(c.messages) > 0 && c.begin != begin && !d.orphans(c, e.Chain, yield) {
			return false
		}
		c.begin = begin
		if m := d.message(c, e, l); len(c.messages) < maxPending && d.trace.insideCall(e, l) {
			c.messages = append(c.messages, *m)
		}
	case kindPost, kindStart:
		request, begin := l.u32(e.Body, fieldRequest), l.u64(e.Body, fieldBegin)
		if l.u32(e.Body, fieldFlags)&flagPosts == 0 {
			if len(c.collectives) < maxPending {
				c.collectives = append(c.collectives, request)
			}
			break
		}
		d.post(p, request, post{at: d.trace.run.TimeAt(e.Rank, begin)})
		if begin != c.startsAt {
			c.started, c.startsAt = c.started[:0], begin
		}
		if len(c.started) < maxPending {
			c.started = append(c.started, request)
		}
	case kindDone:
		if len(c.ended) < maxPending {
			c.ended = append(c.ended, l.u32(e.Body, fieldRequest))
		}
	case kindPhase:
		if !inside {
			return true
		}
		d.phase = Phase{Time: e.Time, Name: p.text(l.u32(e.Body, fieldPhase)), Entered: l.u32(e.Body, fieldEntered) != 0}
		d.shown = Event{Rank: e.Rank, Thread: e.Thread, Track: e.Chain, Phase: &d.phase}
		return yield(&d.shown)
	case kindExternal:
		return !inside || d.external(e, p, yield)
	case kindPart:
		if d.trace.options.Parts && inside {
			d.shown = Event{Rank: e.Rank, Thread: e.Thread, Track: e.Chain, Resumed: true}
			return yield(&d.shown)
		}
	}
	return true
}

// post is when and by which function a receive was posted.
type post struct {
	at       time.Duration
	function string // "": unknown
	site     uint64
}

func (d *decoder) postsFor(p *process) map[uint32]post {
	if d.postsOf == p {
		return d.posts
	}
	posts := d.posted[p]
	if posts == nil {
		posts = map[uint32]post{}
		d.posted[p] = posts
	}
	d.posts, d.postsOf = posts, p
	return posts
}

func (d *decoder) post(p *process, request uint32, at post) {
	posts := d.postsFor(p)
	if _, known := posts[request]; !known && len(posts) < maxPosted {
		posts[request] = at
	}
}

// message decodes the message of an event, and counts it. It is valid until the next one.
func (d *decoder) message(c *chain, e *recording.Event, l *layout) *Message {
	flags := l.u32(e.Body, fieldFlags)
	job := l.i32(e.Body, fieldJob)
	m := &d.decoded
	*m = Message{
		Received: flags&flagReceived != 0, Function: c.process.text(l.u32(e.Body, fieldFunction)), Object: c.process.object(l.u32(e.Body, fieldObject)),
		Peer: c.process.peer(l.i32(e.Body, fieldPeer), job), Tag: l.i32(e.Body, fieldTag), Job: job, Bytes: l.u64(e.Body, fieldBytes),
		Done: e.Time, Sequence: l.u32(e.Body, fieldSequence), Request: l.u32(e.Body, fieldRequest), Estimated: flags&flagEstimated != 0,
		concurrent: flags&flagConcurrent != 0, channel: l.u32(e.Body, fieldChannel), Partitions: int(l.u32(e.Body, fieldPartitions)),
	}
	if peer, known := c.process.find(m.Object, l.i32(e.Body, fieldPeer), job); job != 0 && known && m.Sequence != 0 {
		m.Peer, m.Job = peer, 0
	}
	switch {
	case !m.Received || m.Request == 0 || l.kind == kindCall && flags&flagPosts != 0:
		m.Posted = d.trace.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin))
	default:
		posts := d.postsFor(c.process)
		posted := posts[m.Request]
		if m.Posted = posted.at; posted.function != "" {
			m.Function = posted.function
		}
		m.Site = posted.site
		delete(posts, m.Request)
	}
	if d.trace.matched != nil {
		m.Flow, m.Cancelled = d.trace.matched.flow(d.trace.chains+e.Chain, c.counted, e.Rank.Rank, m)
	}
	c.counted++
	return m
}

func (d *decoder) endCall(c *chain, e *recording.Event, l *layout, yield func(*Event) bool) bool {
	begin, flags := l.u64(e.Body, fieldBegin), l.u32(e.Body, fieldFlags)
	if len(c.messages) > 0 && c.begin != begin && !d.orphans(c, e.Chain, yield) {
		return false
	}
	job := l.i32(e.Body, fieldJob)
	p, at := c.process, d.trace.run.TimeAt(e.Rank, begin)
	inside := d.trace.inside(at, e.Time)
	if flags&(flagSent|flagReceived) != 0 {
		if m := d.message(c, e, l); inside {
			c.messages = append(c.messages, *m)
		}
	}
	request := l.u32(e.Body, fieldRequest)
	posted := post{at, p.text(l.u32(e.Body, fieldFunction)), l.u64(e.Body, fieldSite)}
	if flags&flagPosts != 0 && request != 0 {
		d.post(p, request, posted)
	}
	if len(c.started) > 0 {
		for _, request := range c.started {
			if posts := d.postsFor(p); c.startsAt == begin && posts[request].at == at { // it started the receives of the posts before it
				posts[request] = posted
			}
		}
		c.started = c.started[:0]
	}
	if !inside {
		c.messages, c.ended, c.collectives = c.messages[:0], c.ended[:0], c.collectives[:0]
		return true
	}
	d.call = Call{
		Begin: min(at, e.Time), End: e.Time, Function: p.text(l.u32(e.Body, fieldFunction)), Object: p.object(l.u32(e.Body, fieldObject)),
		Peer: p.peer(l.i32(e.Body, fieldPeer), job), Tag: l.i32(e.Body, fieldTag), Job: job, Bytes: l.u64(e.Body, fieldBytes),
		Site: l.u64(e.Body, fieldSite), Request: request, Depth: int(flags >> depthShift & depthMask),
		Root: flags&flagRoot != 0, OneSided: flags&flagOneSided != 0, Exclusive: flags&flagExclusive != 0, Failed: flags&(flagFailed|flagAbandoned) == flagFailed, Abandoned: flags&flagAbandoned != 0,
		Open: flags&flagOpen != 0, Messages: c.messages, Ended: c.ended, Started: c.collectives, Algorithm: p.algorithm(l, e.Body),
	}
	if job != 0 && flags&(flagSent|flagReceived) != 0 {
		d.call.Peer, d.call.Job = d.decoded.Peer, d.decoded.Job
	}
	for i := range c.messages {
		if m := &c.messages[i]; m.Posted == at {
			m.Site = d.call.Site // it sent the message, or posted the receive itself
		}
	}
	ok := d.give(e.Chain, &d.call, yield)
	c.messages, c.ended, c.collectives = c.messages[:0], c.ended[:0], c.collectives[:0]
	return ok
}

func (d *decoder) give(track int, call *Call, yield func(*Event) bool) bool {
	t := &d.trace.Totals
	if !call.Lost {
		t.Calls++
	}
	for i := range call.Messages {
		if call.Messages[i].Received {
			t.Received++
		} else {
			t.Sent++
		}
	}
	c := d.only
	if c == nil {
		c = d.chains[track]
	}
	d.shown = Event{Rank: c.process.rank, Thread: c.thread, Track: track, Call: call}
	if d.trace.options.Progress != nil {
		if d.read++; d.read%(1<<16) == 0 {
			d.trace.options.Progress(float64(d.read))
		}
	}
	return yield(&d.shown)
}

// orphans yields the messages whose call was lost.
func (d *decoder) orphans(c *chain, track int, yield func(*Event) bool) bool {
	first := &c.messages[0]
	call := Call{Begin: first.Done, End: first.Done, Function: first.Function, Peer: None, Tag: None, Lost: true, Messages: c.messages}
	ok := d.give(track, &call, yield)
	c.messages = c.messages[:0]
	return ok
}

// finish yields what is left at the end. It returns false if yield stopped.
func (d *decoder) finish(yield func(*Event) bool) bool {
	for track, c := range d.chains {
		if len(c.messages) > 0 && !d.orphans(c, track, yield) {
			return false
		}
	}
	return true
}

// external decodes an event of MPI_T or PERUSE (agent/tools/event).
func (d *decoder) external(e *recording.Event, p *process, yield func(*Event) bool) bool {
	d.ext = External{Time: e.Time, Values: e.Type.Values(d.trace.run, e.Body, d.ext.Values[:0]), Fields: d.ext.Fields[:0], Spec: Spec{Peer: None, Tag: None}}
	d.ext.Source, d.ext.Name, _ = strings.Cut(e.Type.Name, " ")
	for i := range e.Type.Fields {
		f := &e.Type.Fields[i]
		v := d.ext.Values[f.First]
		n, _ := v.Uint64()
		switch {
		case i == fieldOfObject && f.Name == "object" && f.Count == 1: // an element of the event may have any name
			d.ext.Object = p.object(uint32(n))
		case f.Meaning == recording.MeansText && f.Count == 1 && d.ext.Name == "":
			d.ext.Name = v.String()
		case d.ext.Source == "peruse" && d.ext.specify(f.Name, v):
		default:
			d.ext.Fields = append(d.ext.Fields, *f)
		}
	}
	if fields := e.Type.Fields; len(fields) > fieldOfObject && fields[0].Name == "timestamp" && fields[1].Name == "source" {
		d.raised(p)
	}
	d.shown = Event{Rank: e.Rank, Thread: e.Thread, Track: e.Chain, External: &d.ext}
	return yield(&d.shown)
}

// fieldOfObject is the index of the object's field in events of MPI_T and PERUSE (agent/tools/event).
const fieldOfObject = 2

// raised puts the timestamp of an event of MPI_T on the run's clock.
func (d *decoder) raised(p *process) {
	if p.clocks == nil {
		p.clocks = d.trace.clocksOf(p.rank)
	}
	timestamp, ok := d.ext.Values[d.ext.Fields[0].First].Int64()
	source, _ := d.ext.Values[d.ext.Fields[1].First].Int64()
	if clock, known := p.clocks[source]; ok && known {
		d.ext.Raised = clock.time(timestamp, d.ext.Time)
	}
}
