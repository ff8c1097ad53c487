// Package perfetto writes traces for Perfetto (ui.perfetto.dev): one process for each rank, one track for each thread, MPI calls and
// phases as slices, messages as flows from the send to the call that completed the receive, waits and the critical path of a whole
// trace as tracks, samples as counters.
//
// The format is protobuf: a sequence of packets (perfetto.protos.TracePacket). Only its stable part is used, track events.
package perfetto

import (
	"io"

	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
)

// Options choose the part of a run to write.
type Options struct {
	trace.Options                                                // Flows is set in any case
	Samples       recording.Options                              // which samples; Rank, From and To come from the trace's options
	Site          func(r *recording.Rank, address uint64) string // a call site as text; nil: a hexadecimal number
}

// Write writes the trace and the samples of a run. Memory is bounded. It returns what the trace holds.
func Write(w io.Writer, run *recording.Run, o Options) (trace.Totals, error) {
	o.Flows, o.Parts = true, true
	if o.Derive == nil {
		o.Derive = trace.Derivable(run)
	}
	t := trace.Read(run, o.Options)
	x := &writer{packets: newPackets(w), run: run, site: o.Site, processes: map[*recording.Rank]*process{}, threads: map[threadKey]*thread{}}
	x.beginTrace()
	waiting := waits.NewReader(run, t, x.place, mostWaits)
	for e := range t.Events {
		if x.event(e); x.err != nil {
			break
		}
		if o.whole() {
			waiting.Event(e)
		}
	}
	for _, th := range x.order {
		x.endThread(th)
	}
	if p := waiting.Program(); x.err == nil && p != nil && o.whole() {
		x.waits(p.Analyse())
	}
	if x.err == nil {
		o.Samples.Rank, o.Samples.From, o.Samples.To = o.Rank, o.From, o.To
		x.samples(o.Samples)
	}
	x.flush()
	return t.Totals, x.err
}

// mostWaits bounds the calls of a trace whose waits are written: more would take much memory.
const mostWaits = 300_000

// whole reports whether all of the trace is written.
func (o *Options) whole() bool { return o.Rank == nil && o.To <= o.From }

// place is a call site as text.
func (x *writer) place(r *recording.Rank, address uint64) string {
	if x.site == nil {
		return ""
	}
	return x.site(r, address)
}
