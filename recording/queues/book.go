package queues

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Metric is one of the metrics of PERUSE 2.0, Appendix B, of a rank. Messages of collectives and of the rank to itself do not count.
type Metric struct {
	Rank    int     `json:"rank"`
	Peer    *int    `json:"peer,omitempty"` // nil: all peers (the profiler of section 9.2); of the lengths also each one (section 9.1.4)
	Name    string  `json:"metric"`
	Count   uint64  `json:"count"`
	Mean    float64 `json:"mean"` // of times in ns; of lengths over the insertions, not over time
	Maximum float64 `json:"maximum"`
}

// metricNames are in the order of Appendix B.
var metricNames = []string{"T_REQ_ACTIVATE_TO_MATCH", "T_REQ_ACTIVATE_TO_XFER_BEGIN", "T_XFER_BEGIN_TO_END", "T_COMPLETE_TO_NOTIFY", "T_ACTIVATE_TO_NOTIFY", "T_IN_UNEX_Q",
	"N_POSTED_Q_LEN", "N_UNEX_Q_LEN"}

// lengthNames are the metrics of the queues' lengths.
var lengthNames = map[string]string{Posted: "N_POSTED_Q_LEN", Unexpected: "N_UNEX_Q_LEN"}

// IsTime reports whether the metric is a time in nanoseconds. Others are lengths.
func (m *Metric) IsTime() bool { return strings.HasPrefix(m.Name, "T_") }

type metricKey struct {
	rank, peer int
	all        bool // peers
	name       string
}

type measured struct {
	count               uint64
	sum, most, inserted float64
}

func (m *measured) add(value float64) {
	m.count++
	m.sum += value
	m.most = max(m.most, value)
}

// book computes the metrics.
type book map[metricKey]*measured

func (b book) at(key metricKey) *measured {
	m := b[key]
	if m == nil {
		m = &measured{}
		b[key] = m
	}
	return m
}

// counts reports whether an event is of a message from or to another rank that the program sends or receives itself.
func (e *Event) counts() bool { return e.Peer != e.Rank && e.Tag >= 0 }

func (b book) time(e *Event, name string, d time.Duration) {
	if e.counts() {
		b.at(metricKey{rank: e.Rank, all: true, name: name}).add(float64(d))
	}
}

// length counts the queue when something is inserted. A removal of what was not inserted, as Open MPI's of a blocking probe, does not
// make a length negative.
func (b book) length(e *Event, queue string, by int) {
	if !e.counts() {
		return
	}
	for _, key := range []metricKey{{rank: e.Rank, all: true, name: lengthNames[queue]}, {rank: e.Rank, peer: e.Peer, name: lengthNames[queue]}} {
		m := b.at(key)
		if m.inserted = max(m.inserted+float64(by), 0); by > 0 {
			m.add(m.inserted)
		}
	}
}

func (b book) metrics() (all []Metric) {
	for key, m := range b {
		if m.count == 0 {
			continue
		}
		x := Metric{Rank: key.rank, Name: key.name, Count: m.count, Mean: m.sum / float64(m.count), Maximum: m.most}
		if !key.all {
			x.Peer = &key.peer
		}
		all = append(all, x)
	}
	slices.SortFunc(all, func(x, y Metric) int {
		peer := func(m Metric) int {
			if m.Peer == nil {
				return -2 // before any
			}
			return *m.Peer
		}
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(peer(x), peer(y)), cmp.Compare(slices.Index(metricNames, x.Name), slices.Index(metricNames, y.Name)))
	})
	return all
}
