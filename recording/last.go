package recording

import (
	"fmt"
	"time"

	"mpitx/text"
)

// lastValue is a set's newest row, kept apart when samples are dropped.
type lastValue struct {
	ticks uint64 // 0: none; never the maximum, after which nothing could come
	body  []byte // what follows the record's head
}

const lastHead = 8

func (r *Rank) keepLast(ticks uint64, body []byte) {
	if len(body) < lastHead {
		return
	}
	set := le.Uint32(body)
	if set >= maxSets {
		return
	}
	for len(r.lasts) <= int(set) {
		r.lasts = append(r.lasts, lastValue{})
	}
	if v := &r.lasts[set]; ticks > v.ticks {
		v.ticks, v.body = ticks, append(v.body[:0:0], body...)
	}
}

// old reports whether a newer value of the record's set was yielded already. If not, it remembers the record's time.
func (c *cursor) old() bool {
	id := c.rec.set.ID
	for len(c.seen) <= id {
		c.seen = append(c.seen, 0)
	}
	if c.rec.ticks+1 < c.seen[id] {
		return true
	}
	c.seen[id] = c.rec.ticks + 1
	return false
}

// last reads the oldest of the sets' last values that is newer than their samples. It returns false if there is none.
func (c *cursor) last() bool {
	var best *Set
	for id, v := range c.rank.lasts {
		seen := id < len(c.seen) && v.ticks < c.seen[id]
		if v.ticks == 0 || seen || best != nil && v.ticks >= c.rank.lasts[best.ID].ticks {
			continue
		}
		if set := c.rank.setOf(id); set != nil && len(v.body) == lastHead+(len(set.Columns)+7)&^7+set.row {
			best = set
		}
	}
	if best == nil {
		return false
	}
	v := &c.rank.lasts[best.ID]
	statuses := (len(best.Columns) + 7) &^ 7
	c.rec = record{set: best, ticks: v.ticks, row: v.body[lastHead+statuses:], last: true}
	if le.Uint32(v.body[4:])&1 != 0 {
		c.rec.statuses = v.body[lastHead : lastHead+len(best.Columns)]
	}
	c.old()
	c.time = max(c.time, c.run.time(c.rank, v.ticks))
	return true
}

// Loss is why samples are missing from the run directory.
type Loss struct {
	Reason string        // "no space left on device"
	Failed bool          // writing failed, and Reason is the file system's; else writing was too slow
	Time   time.Duration // when it was found, since the job's start; 0: unknown
	Share  float64       // of samples missing for any reason, 0 to 1
}

// String returns, for example, "no space left on device 0.3 s after the start; 98 % of samples missing".
func (l Loss) String() string {
	return l.Cause() + fmt.Sprintf("; %s of samples missing", text.RoughPercent(l.Share))
}

// Cause is the reason and the time: "no space left on device 0.3 s after the start".
func (l Loss) Cause() string {
	if l.Time > 0 {
		return l.Reason + fmt.Sprintf(" %.1f s after the start", l.Time.Seconds())
	}
	return l.Reason
}

// errnoNames are Linux's, as the reader may run on another system.
var errnoNames = map[uint64]string{
	1: "operation not permitted", 2: "no such file or directory", 5: "input/output error", 12: "cannot allocate memory",
	13: "permission denied", 20: "not a directory", 23: "too many open files in system", 24: "too many open files",
	27: "file too large", 28: "no space left on device", 30: "read-only file system", 107: "transport endpoint is not connected",
	110: "connection timed out", 116: "stale file handle", 122: "disk quota exceeded",
}

// Loss returns why and when samples of this process were dropped, and false if none were. Sums stay right: the last values
// have reserved space.
func (r *Rank) Loss() (Loss, bool) {
	if r.Counters.LostFull == 0 {
		return Loss{}, false
	}
	return r.loss(r.Counters.Lost(), r.Counters.Samples), true
}

func (r *Rank) loss(lost, kept uint64) Loss {
	l := Loss{Reason: "the disk was too slow", Share: float64(lost) / float64(lost+kept)}
	if errno := r.Counters.failedErrno; errno != 0 {
		l.Failed, l.Time = true, r.failed
		if l.Reason = errnoNames[errno]; l.Reason == "" {
			l.Reason = fmt.Sprintf("error %d of the file system", errno)
		}
	}
	return l
}

// Loss returns the earliest write failure of the ranks, else any loss, with the share of all ranks' samples. It returns false if there is none.
func (run *Run) Loss() (Loss, bool) {
	var first *Rank
	var lost, kept uint64
	for _, r := range run.Ranks {
		lost, kept = lost+r.Counters.Lost(), kept+r.Counters.Samples
		switch failed := r.Counters.failedErrno != 0; {
		case r.Counters.LostFull == 0:
		case first == nil, failed && (first.Counters.failedErrno == 0 || r.failed < first.failed):
			first = r
		}
	}
	if first == nil {
		return Loss{}, false
	}
	return first.loss(lost, kept), true
}

// EventLoss returns why events were dropped, without Share: the earliest write failure of the ranks that dropped some. It returns false if
// none did, or writing has not failed.
func (run *Run) EventLoss() (Loss, bool) {
	var first *Rank
	for _, r := range run.Ranks {
		if c := &r.Counters; c.LostEvents > 0 && c.failedErrno != 0 && (first == nil || r.failed < first.failed) {
			first = r
		}
	}
	if first == nil {
		return Loss{}, false
	}
	return first.loss(0, 1), true
}
