package perfetto

import (
	"strconv"

	"mpitx/recording/trace"
)

// derived writes an event that mpitx derived. It has a track of its own, as it is known only after the calls that follow it.
func (x *writer) derived(t *thread, d *trace.Derived) {
	if t.derived == 0 {
		t.derived = x.newTrack()
		name := "derived from calls of thread " + strconv.Itoa(t.threadKey.thread)
		x.body = field(varint(varint(x.body[:0], trackID, t.derived), trackParent, t.process.track), trackName, name)
		x.descriptor()
	}
	x.start(typeInstant, t.derived)
	x.name(d.Name, "derived")
	if d.Object != nil {
		x.text(x.keyOf(d.Object.Kind), d.Object.String())
	}
	if d.Operation != "" {
		x.text(x.key("operation"), d.Operation)
	}
	if d.Peer != trace.None {
		x.rank(argPeer, d.Peer)
		x.integer(argTag, int64(d.Tag))
		x.unsigned(argBytes, d.Bytes)
	}
	if d.Request != 0 {
		x.unsigned(argRequest, uint64(d.Request))
	}
	if d.Duration != 0 {
		x.integer(x.key("duration_ns"), int64(d.Duration))
	}
	if d.Count != 0 {
		x.unsigned(x.key("count"), d.Count)
	}
	if d.Bound != trace.Exact {
		x.text(x.key("bound"), string(d.Bound))
	}
	x.finish(d.Time)
}
