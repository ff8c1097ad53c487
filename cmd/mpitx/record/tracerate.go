package record

import (
	"os"
	"path/filepath"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/text"
)

const (
	ratePoll = 200 * time.Millisecond
	rateSpan = time.Second // over which the rate is measured, at least
	rateStep = 256 << 10   // bytes that a rank appends at once: agent/tools/trace
)

// announceRate says once how large the trace is per second, and what happens at --max-size. It knows when each rank has appended twice.
func (o *tracing) announceRate(dir string, over <-chan struct{}, _ func(code int)) {
	poll := time.NewTicker(ratePoll)
	defer poll.Stop()
	var first time.Time
	var before int64
	for {
		select {
		case <-over:
			return
		case now := <-poll.C:
			size, ranks := traceBytes(dir)
			switch {
			case size == 0:
			case first.IsZero():
				first, before = now, size
			case now.Sub(first) >= rateSpan && size-before >= 2*rateStep*int64(max(ranks, 1)):
				o.Say(rateText(float64(size-before)/now.Sub(first).Seconds(), o.limit(), o.policy))
				return
			}
		}
	}
}

// limit is the value of --max-size; 0: none.
func (o *tracing) limit() int64 {
	if o.maxSize == "" {
		return 0
	}
	n, _ := cli.ParseSize(o.maxSize) // it was checked
	return n
}

// traceBytes is the size of what the processes of all nodes have appended, and how many processes run.
func traceBytes(dir string) (n int64, ranks int) {
	live, _ := filepath.Glob(filepath.Join(dir, "live-*.mpxm"))
	for _, pattern := range []string{"node-*.mpxr", "last-*.mpxr"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			if st, err := os.Stat(name); err == nil {
				n += st.Size()
			}
		}
	}
	return n, len(live)
}

func rateText(perSecond float64, limit int64, policy string) string {
	amount := func(x float64) string { return export.Terminal{UTF8: true}.Amount(x, "B") }
	rate := "the trace takes about " + amount(perSecond) + " a second"
	switch {
	case limit == 0:
		return rate + ", " + amount(perSecond*3600) + " an hour; --max-size SIZE limits it, --function GLOB makes it smaller"
	case perSecond <= 0:
		return rate
	case policy == "last":
		return rate + "; the last " + fullAfter(limit, perSecond) + " are kept (--max-size, --policy last)"
	}
	return rate + "; after about " + fullAfter(limit, perSecond) + " --max-size is reached, and further events are counted only"
}

// fullAfter is the time after which a trace reaches its limit.
func fullAfter(limit int64, perSecond float64) string {
	s := float64(limit) / perSecond
	if s > 1e9 {
		return "many years"
	}
	return text.RoughDuration(time.Duration(s * float64(time.Second)))
}
