package trace

import (
	"time"

	"mpitx/recording"
)

// Arrow is a message whose send and receive are both in the trace.
type Arrow struct {
	From, To       *recording.Rank
	Sent, Received time.Duration // when the call that sent it began; when the call that completed the receive returned
}

// Arrows reads a whole trace, and gives the messages that have a flow, in no particular order. It calls again first; if messages that were
// given turn out to be wrong, because of events that come later, it calls again once more, and gives all of them to the new function.
func Arrows(run *recording.Run, again func() func(Arrow)) Totals {
	t := &Trace{run: run, objects: Objects(run), arrows: again}
	t.match(func(time.Duration) bool { return true })
	return t.Totals
}

// newArrow is what takes arrows; nil: nothing does.
func (t *Trace) newArrow() func(sent, received side) {
	if t.arrows == nil {
		return nil
	}
	chains, give := t.run.EventChains(), t.arrows()
	return func(sent, received side) {
		give(Arrow{chains[sent.chain].Rank, chains[received.chain].Rank, sent.at, received.at})
	}
}
