package top

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/text"
	"mpitx/ui/screen"
)

var functionHeadings = []heading{
	{"FUNCTION", 0, true, 0}, {"NOW", 7, false, 0}, {"OF RUN", 7, false, 8}, {"TIME", 7, false, 3}, {"CALLS/s", 7, false, 7}, {"CALLS", 7, false, 2},
	{"BYTES/s", 8, false, 6}, {"MEAN", 7, false, 5}, {"IMBALANCE", 9, false, 1}, {"MAX AT", 6, false, 4},
}

var functionRankHeadings = []heading{
	{"RANK", 6, false, 0}, {"HOST", 0, true, 0}, {"STATE", 12, true, 0}, {"NOW", 8, false, 0}, {"TIME", 9, false, 4}, {"CALLS/s", 9, false, 5},
	{"CALLS", 9, false, 1}, {"BYTES/s", 9, false, 2}, {"MEAN", 9, false, 3},
}

func shareOf(x float64) value {
	return value{text: text.Percent(x), number: x}
}

// timeOf marks a time that is estimated.
func timeOf(t *profile.Totals) value {
	v := amountOf(float64(t.Time), "ns")
	if t.Untimed > 0 {
		v.text = "~" + v.text
	}
	return v
}

func functions(f *Frame, filter string) []entry {
	var all []entry
	for i := range f.Functions {
		r := &f.Functions[i]
		if !screen.HasWords(r.Variable, filter) {
			continue
		}
		share := shareOf(r.Share)
		if profile.Initializes(r.Name) {
			share = shareOf(math.NaN())
		}
		all = append(all, entry{key: r.Key, rank: -1, trend: r.Trend, cells: []value{textOf(r.Variable), shareOf(r.Now), share, timeOf(&r.Totals),
			numberOf(r.CallsRate), numberOf(float64(r.Calls)), amountOf(r.BytesRate, "B/s"), amountOf(float64(r.Mean), "ns"), shareOf(r.Imbalance),
			{text: text.RankList(r.Spread.MaxRanks), number: float64(r.Spread.MaxRank)}}})
	}
	return all
}

func functionRanks(f *Frame, key Key, filter string) []entry {
	fn, d := f.function(key), f.Detail
	if d != nil && d.Key != key {
		d = nil
	}
	return rankEntries(f, d, filter, func(r *RankInfo, _ *Value) []value {
		if fn != nil {
			if k := slices.IndexFunc(fn.Ranks, func(x RankFunction) bool { return x.Rank.Number == r.Rank }); k >= 0 {
				x := &fn.Ranks[k]
				return []value{shareOf(x.Now), timeOf(&x.Totals), numberOf(x.CallsRate), numberOf(float64(x.Calls)), amountOf(x.BytesRate, "B/s"), amountOf(float64(x.Mean()), "ns")}
			}
		}
		return slices.Repeat([]value{{text: "-", number: math.NaN()}}, 6)
	})
}

func (f *Frame) function(key Key) *Function {
	if i := slices.IndexFunc(f.Functions, func(x Function) bool { return x.Variable == key.Variable }); i >= 0 {
		return &f.Functions[i]
	}
	return nil
}

func metricWord(of Metric) string {
	return [...]string{"", "share of time", "calls per second", "bytes per second"}[of]
}

func functionTable(functions []Function) *export.Rows {
	r := export.RowsOf("mpitx.top-functions", "function within calls time_ns bytes_sent bytes_received mean_ns share share_now calls_per_second bytes_per_second imbalance max_rank untimed time_error_ns")
	for i := range functions {
		x := &functions[i]
		r.Rows = append(r.Rows, []any{x.Name, x.Within, x.Calls, int64(x.Time), x.Sent(), x.Received(), int64(x.Mean), finite(x.Share), finite(x.Now), finite(x.CallsRate), finite(x.BytesRate),
			finite(x.Imbalance), x.Spread.MaxRank, x.Untimed, int64(x.TimeError)})
	}
	return r
}

func functionRankTable(f *Frame, fn *Function, ranks []RankFunction) *export.Rows {
	r := export.RowsOf("mpitx.top-function-ranks", "function within rank host state calls time_ns bytes mean_ns share_now calls_per_second bytes_per_second untimed time_error_ns")
	for i := range ranks {
		x := &ranks[i]
		host, state := f.hostAndState(x.Rank.Number)
		r.Rows = append(r.Rows, []any{fn.Name, fn.Within, x.Rank.Number, host, state, x.Calls, int64(x.Time), x.Sent() + x.Received(), int64(x.Mean()), finite(x.Now), finite(x.CallsRate), finite(x.BytesRate), x.Untimed, int64(x.TimeError)})
	}
	return r
}

func (r *RankInfo) troubled() bool {
	return r.Silent || r.State == recording.StateDied || r.State == recording.StateUnreachable || r.State == recording.StateDamaged
}

func (r *RankInfo) matches(filter string) bool {
	return filter == "" || strings.Contains(strings.ToLower(r.Host+" "+r.Word()), strings.ToLower(filter))
}

func ranksText(from, to int) string {
	if to-from == 1 {
		return "rank " + strconv.Itoa(from)
	}
	return "ranks " + strconv.Itoa(from) + "-" + strconv.Itoa(to-1)
}
