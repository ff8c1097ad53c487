package runs

import (
	"io"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/trace"
)

// TraceFormats are the formats of Trace. For Parquet, see package export/parquet; for Perfetto, package export/perfetto.
var TraceFormats = []export.Format{export.FormatCSV, export.FormatNDJSON}

// TraceSchema and TraceVersion identify traces that are written as Parquet.
const (
	TraceSchema  = "mpitx.trace"
	TraceVersion = 1
)

// TraceOptions choose the part of a trace to write, and its form.
type TraceOptions struct {
	trace.Options                                                // Flows is set in any case; Derive nil: as mpitx trace --event asked
	Site          func(r *recording.Rank, address uint64) string // a call site as text; nil: a hexadecimal number
	Start         bool                                           // CSV, NDJSON: each row has the wall clock of time 0
	Terminal      export.Terminal                                // CSV: escapes foreign text for a terminal
}

// TraceRow is a call, a message, a phase's beginning or end, an event of another source, or a loss. Texts that do not apply are empty,
// numbers nil. It is valid until the next one is yielded.
type TraceRow struct {
	Time     time.Duration // when the call began, the receive was posted, or the event happened; since the job's start
	Duration time.Duration // of a call; of a message until the call that sent it or completed the receive returned
	Rank     int
	Thread   int
	Kind     string // "call", "send", "receive", "phase begin", "phase end", "lost", "derived", or the source of an event
	Name     string // the function, the phase, or the event
	Object   string // the communicator, window or file
	Peer     *int   // a rank of the run; -1: any source; -2: MPI_PROC_NULL
	Tag      *int   // -1: any tag
	Bytes    *uint64
	Request  *uint64 // the number of the request that the call makes, or of the receive
	Sequence *uint64 // counts the messages with this object, peer, tag and direction; of losses, the number of events
	Flow     *uint64 // equal in a send and its receive
	Depth    int     // of a nested call
	Site     string  // of a call
	Status   string  // "": as usual. Words, separated by spaces; the fields of an event as NAME=VALUE

	Raised    *time.Duration // when an event of MPI_T happened, by the clock of its source
	Algorithm string         // of a collective call, as in trace.Call
	Operation string         // of an event of PERUSE, as in trace.Spec and trace.Derived

	numbers [5]uint64
	peer    [2]int
	raised  time.Duration
}

// TraceRows yields the rows of a trace, by the time at which calls end, until yield fails. A call's messages follow it.
func TraceRows(run *recording.Run, o TraceOptions, yield func(*TraceRow) error) (trace.Totals, error) {
	o.Flows = true
	if o.Derive == nil {
		o.Derive = trace.Derivable(run)
	}
	t := trace.Read(run, o.Options)
	err := TraceRowsOf(t, o.Site, yield)
	return t.Totals, err
}

// TraceRowsOf yields the rows of a trace that was read: see [TraceRows] and [TraceOptions].
func TraceRowsOf(t *trace.Trace, site func(r *recording.Rank, address uint64) string, yield func(*TraceRow) error) (err error) {
	w := traceRows{findSite: site, sites: map[siteKey]string{}}
	mark := func(r *TraceRow) error {
		if w.incomplete {
			r.status("incomplete")
		}
		return yield(r)
	}
	for e := range t.Events {
		if e.Rank != w.rank {
			w.rank, w.incomplete = e.Rank, e.Rank.Incomplete() != ""
		}
		if err = w.event(e, mark); err != nil {
			break
		}
	}
	return err
}

type siteKey struct {
	rank    *recording.Rank
	address uint64
}

type traceRows struct {
	findSite func(r *recording.Rank, address uint64) string
	row      TraceRow
	sites    map[siteKey]string

	rank       *recording.Rank // of the event
	incomplete bool            // it is
}

func (w *traceRows) event(e *trace.Event, yield func(*TraceRow) error) error {
	r := &w.row
	begin := func(kind, name string, at time.Duration) {
		*r = TraceRow{Rank: e.Rank.Rank, Thread: e.Thread, Kind: kind, Name: name, Time: at}
	}
	switch {
	case e.Call != nil:
		return w.call(e, yield)
	case e.Phase != nil && e.Phase.Entered:
		begin("phase begin", e.Phase.Name, e.Phase.Time)
	case e.Phase != nil:
		begin("phase end", e.Phase.Name, e.Phase.Time)
	case e.External != nil:
		begin(e.External.Source, e.External.Name, e.External.Time)
		r.Object = e.External.Object.String()
		if r.raised = e.External.Raised; r.raised != 0 {
			r.Raised = &r.raised
		}
		for i := range e.External.Fields {
			f := &e.External.Fields[i]
			for _, v := range e.External.Values[f.First : f.First+f.Count] {
				r.status(f.Name + "=" + v.String())
			}
		}
		if e.External.Operation != "" {
			r.specified(e.External)
		}
	case e.Derived != nil:
		begin("derived", e.Derived.Name, e.Derived.Time)
		r.derived(e.Derived)
	case e.Lost > 0:
		begin("lost", "", e.From)
		r.Duration = e.To - e.From
		r.Sequence = r.number(0, e.Lost)
		if e.Old {
			r.status("replaced")
		}
	default:
		return nil
	}
	return yield(r)
}

func (w *traceRows) call(e *trace.Event, yield func(*TraceRow) error) error {
	r, c := &w.row, e.Call
	if !c.Lost {
		*r = TraceRow{Rank: e.Rank.Rank, Thread: e.Thread, Kind: "call", Name: c.Function, Time: c.Begin, Duration: c.End - c.Begin, Object: c.Object.String(), Depth: c.Depth}
		r.ends(c.Peer, c.Tag)
		r.Bytes = r.number(0, c.Bytes)
		if c.Request != 0 {
			r.Request = r.number(1, uint64(c.Request))
		}
		if c.Site != 0 {
			r.Site = w.site(e.Rank, c.Site)
		}
		r.Algorithm = c.Algorithm
		for _, s := range [...]struct {
			on   bool
			word string
		}{{c.Root, "root"}, {c.OneSided, "target"}, {c.Exclusive, "exclusive"}, {c.Failed, "failed"}, {c.Abandoned, "abandoned"}, {c.Open, "not_returned"}, {c.Job != 0, "other_job"}} {
			if s.on {
				r.status(s.word)
			}
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		*r = TraceRow{Rank: e.Rank.Rank, Thread: e.Thread, Kind: "send", Name: m.Function, Time: m.Posted, Object: m.Object.String()}
		if m.Received {
			r.Kind = "receive"
		}
		if r.Duration = m.Done - m.Posted; m.Posted == 0 {
			r.Time, r.Duration = m.Done, 0
		}
		r.ends(m.Peer, m.Tag)
		r.Bytes = r.number(0, m.Bytes)
		for k, n := range [...]uint64{uint64(m.Request), uint64(m.Sequence), m.Flow} {
			if n != 0 {
				*[]**uint64{&r.Request, &r.Sequence, &r.Flow}[k] = r.number(k+1, n)
			}
		}
		if m.Estimated {
			r.status("at_most")
		}
		if m.Cancelled {
			r.status("cancelled")
		}
		if m.Job != 0 {
			r.status("other_job")
		}
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

// specified adds what an event of PERUSE says of its request or message.
func (r *TraceRow) specified(x *trace.External) {
	r.ends(x.Peer, x.Tag)
	r.Operation = x.Operation
	if bytes, ok := x.Size(); ok {
		r.Bytes = r.number(0, bytes)
	}
	r.status("count=" + strconv.Itoa(x.Count))
	if x.Datatype != 0 {
		r.status("datatype=" + x.Datatype.String())
	}
}

// derived fills the row of a derived event.
func (r *TraceRow) derived(d *trace.Derived) {
	r.Duration, r.Object, r.Operation = d.Duration, d.Object.String(), d.Operation
	r.ends(d.Peer, d.Tag)
	if d.Peer != trace.None {
		r.Bytes = r.number(0, d.Bytes)
	}
	if d.Request != 0 {
		r.Request = r.number(1, uint64(d.Request))
	}
	if d.Flow != 0 {
		r.Flow = r.number(3, d.Flow)
	}
	if d.Name == "PERUSE_COMM_N_SENDS" || d.Name == "PERUSE_COMM_N_RECVS" {
		r.status("count=" + strconv.FormatUint(d.Count, 10))
	}
	if d.Bound != trace.Exact {
		r.status(string(d.Bound))
	}
	if d.Job != 0 {
		r.status("other_job")
	}
}

func (r *TraceRow) number(i int, v uint64) *uint64 {
	r.numbers[i] = v
	return &r.numbers[i]
}

func (r *TraceRow) status(word string) {
	if r.Status != "" {
		r.Status += " "
	}
	r.Status += word
}

func (r *TraceRow) ends(peer, tag int) {
	r.peer = [2]int{peer, tag}
	if peer != trace.None {
		r.Peer = &r.peer[0]
	}
	if tag != trace.None {
		r.Tag = &r.peer[1]
	}
}

func (w *traceRows) site(r *recording.Rank, address uint64) string {
	key := siteKey{r, address}
	text, ok := w.sites[key]
	if !ok {
		if w.findSite != nil {
			text = w.findSite(r, address)
		}
		if text == "" {
			text = "0x" + strconv.FormatUint(address, 16)
		}
		w.sites[key] = text
	}
	return text
}

const csvTraceHead = "time,duration,rank,thread,kind,name,object,peer,tag,bytes,request,sequence,flow,depth,site,status,raised,operation,algorithm"

// Trace writes the trace of a run as CSV or NDJSON, in bounded memory.
func Trace(w io.Writer, run *recording.Run, f export.Format, o TraceOptions) (trace.Totals, error) {
	out := &export.LineWriter{W: w}
	var write func(*TraceRow) error
	start := startText(run, o.Start)
	switch f {
	case export.FormatCSV:
		out.Buf = append(out.Buf, csvTraceHead...)
		if o.Start {
			out.Buf = append(out.Buf, ",start"...)
		}
		out.Buf = append(out.Buf, '\n')
		write = func(r *TraceRow) error { return csvTrace(out, r, start, o.Terminal) }
	case export.FormatNDJSON:
		write = func(r *TraceRow) error { return jsonTrace(out, r, start) }
	default:
		_, err := export.ParseFormat(string(f) + " for traces")
		return trace.Totals{}, err
	}
	totals, err := TraceRows(run, o, write)
	if err != nil {
		return totals, err
	}
	return totals, out.Flush(0)
}

func csvTrace(out *export.LineWriter, r *TraceRow, start string, t export.Terminal) error {
	b := append(appendSeconds(out.Buf, r.Time), ',')
	b = append(appendSeconds(b, r.Duration), ',')
	b = append(strconv.AppendInt(b, int64(r.Rank), 10), ',')
	b = strconv.AppendInt(b, int64(r.Thread), 10)
	for _, s := range [...]string{r.Kind, r.Name, r.Object} {
		b = appendCSV(append(b, ','), s, t)
	}
	for _, n := range [...]*int{r.Peer, r.Tag} {
		if b = append(b, ','); n != nil {
			b = strconv.AppendInt(b, int64(*n), 10)
		}
	}
	for _, n := range [...]*uint64{r.Bytes, r.Request, r.Sequence} {
		if b = append(b, ','); n != nil {
			b = strconv.AppendUint(b, *n, 10)
		}
	}
	if b = append(b, ','); r.Flow != nil {
		b = appendFlow(b, *r.Flow)
	}
	b = strconv.AppendInt(append(b, ','), int64(r.Depth), 10)
	b = appendCSV(append(b, ','), r.Site, t)
	b = appendCSV(append(b, ','), r.Status, t)
	if b = append(b, ','); r.Raised != nil {
		b = appendSeconds(b, *r.Raised)
	}
	b = appendCSV(append(append(append(b, ','), r.Operation...), ','), r.Algorithm, t)
	if start != "" {
		b = append(append(b, ','), start...)
	}
	out.Buf = append(b, '\n')
	return out.Flush(sampleBuffer)
}

// appendFlow writes a flow as sixteen hexadecimal digits: JSON's numbers do not hold 64 bits everywhere.
func appendFlow(b []byte, flow uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[flow>>shift&15])
	}
	return b
}

func jsonTrace(out *export.LineWriter, r *TraceRow, start string) (err error) {
	b := appendSeconds(append(out.Buf, `{"time":`...), r.Time)
	if r.Duration != 0 || r.Kind == "call" {
		b = appendSeconds(append(b, `,"duration":`...), r.Duration)
	}
	b = strconv.AppendInt(append(b, `,"rank":`...), int64(r.Rank), 10)
	b = strconv.AppendInt(append(b, `,"thread":`...), int64(r.Thread), 10)
	text := func(name, s string) {
		if s != "" && err == nil {
			b, err = export.AppendJSON(append(append(append(b, `,"`...), name...), `":`...), s)
		}
	}
	text("kind", r.Kind)
	text("name", r.Name)
	text("object", r.Object)
	number := func(name string, n *uint64) {
		if n != nil {
			b = strconv.AppendUint(append(append(append(b, `,"`...), name...), `":`...), *n, 10)
		}
	}
	if r.Peer != nil {
		b = strconv.AppendInt(append(b, `,"peer":`...), int64(*r.Peer), 10)
	}
	if r.Tag != nil {
		b = strconv.AppendInt(append(b, `,"tag":`...), int64(*r.Tag), 10)
	}
	number("bytes", r.Bytes)
	number("request", r.Request)
	number("sequence", r.Sequence)
	if r.Flow != nil {
		b = append(appendFlow(append(b, `,"flow":"`...), *r.Flow), '"')
	}
	if r.Depth > 0 {
		b = strconv.AppendInt(append(b, `,"depth":`...), int64(r.Depth), 10)
	}
	text("site", r.Site)
	text("status", r.Status)
	if r.Raised != nil {
		b = appendSeconds(append(b, `,"raised":`...), *r.Raised)
	}
	text("operation", r.Operation)
	text("algorithm", r.Algorithm)
	text("start", start)
	if err != nil {
		return err
	}
	out.Buf = append(b, "}\n"...)
	return out.Flush(sampleBuffer)
}
