package timeline

import (
	"sync/atomic"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// matcher matches messages while the screen is in use. It reads the run on its own.
type matcher struct {
	begun, ended bool
	stopped      atomic.Bool
	at           atomic.Int64 // the time that was reached
	found        chan *trace.Flows
	flows        *trace.Flows // nil: not yet, or it failed
	to           time.Duration
	since        time.Time
	took         time.Duration
}

func (m *matcher) start(dir string, to time.Duration) {
	if m.begun {
		return
	}
	m.begun, m.to, m.found, m.since = true, to, make(chan *trace.Flows, 1), time.Now()
	go func() {
		run, err := recording.Open(dir)
		if err != nil {
			m.found <- nil
			return
		}
		defer run.Close()
		m.found <- trace.Match(run, func(at time.Duration) bool {
			m.at.Store(int64(at))
			return !m.stopped.Load()
		})
	}()
}

// again matches once more, if the trace has grown since, but does not spend more than a quarter of the time with it.
func (m *matcher) again(dir string, to time.Duration) {
	if m.ended && to > m.to && time.Since(m.since) > 4*m.took {
		m.begun, m.ended = false, false
		m.start(dir, to)
	}
}

// take gives the result to an index, if there is one now.
func (m *matcher) take(x *trace.Index) {
	if !m.begun || m.ended {
		return
	}
	select {
	case m.flows = <-m.found:
		m.ended, m.took = true, time.Since(m.since)
		x.SetFlows(m.flows)
	default:
	}
}

func (m *matcher) part() float64 {
	if m.ended {
		return 1
	}
	return min(max(float64(m.at.Load())/float64(max(m.to, 1)), 0), 0.99)
}

func (m *matcher) wait(f *Feed) {
	_, to := f.index.Span()
	m.start(f.run.Dir, to)
	if !m.ended {
		m.flows, m.ended = <-m.found, true
		f.index.SetFlows(m.flows)
	}
}

func (m *matcher) stop() {
	m.stopped.Store(true)
	if m.begun && !m.ended {
		<-m.found
	}
}
