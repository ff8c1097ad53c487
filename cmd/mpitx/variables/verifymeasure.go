package variables

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/text"
)

// measureRun runs a command that records a profile. A signal that ends mpitx ends the run first, and so does the limit, unless it is 0.
// What the command said is shown if it fails.
func measureRun(cmd *exec.Cmd, dir string, limit time.Duration) (m measured, err error) {
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	keeper := keep.Catch(keep.Options{})
	defer keeper.Stop()
	if err := keeper.Start(cmd); err != nil {
		return m, err
	}
	var late atomic.Bool
	if limit > 0 {
		defer time.AfterFunc(limit, func() {
			late.Store(true)
			cmd.Process.Signal(syscall.SIGTERM) // mpitx profile ends its launcher
		}).Stop()
	}
	err = cmd.Wait()
	if passed := keeper.Stop(); passed != 0 {
		return m, cli.EndedBy(passed)
	}
	if late.Load() {
		return m, fmt.Errorf("it took more than ten times as long as those without, and was ended after %v", limit.Round(time.Second))
	}
	if err != nil {
		os.Stderr.WriteString(reasons(said.String(), dir))
		return m, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return m, errors.New("the program did not call MPI_Init; name an MPI program after --")
	}
	return measure(dir)
}

// reasons is what a failed run said, without mpitx's lines about its recording, which is deleted.
func reasons(said, dir string) (out string) {
	for line := range strings.Lines(said) {
		recording := strings.Contains(line, dir) || strings.Contains(line, " is not sampled: ")
		if !strings.HasPrefix(line, "mpitx: ") || !recording {
			out += line
		}
	}
	return out
}

// measured is what one run shows. Times are means of a call in nanoseconds; performance variables are sums.
type measured struct {
	calls   map[string]float64 // time of a call
	share   map[string]float64 // of the time in MPI
	traffic map[trafficKey]float64
	pvars   map[string]float64
	short   *processor.Shortage // a rank had no core

	incomplete []int // ranks that are left out
}

// trafficKey is a quantity of the messages and data that interception saw.
type trafficKey struct{ what, unit string }

func measure(dir string) (m measured, err error) {
	run, err := cli.OpenSamples(dir)
	if err != nil {
		return m, err
	}
	defer run.Close()
	cut, incomplete := completeRanks(run)
	p, err := profile.Read(run, cut)
	if err != nil {
		return m, cli.Failf("%v", err)
	}
	m = measured{map[string]float64{}, map[string]float64{}, seenTraffic(p), map[string]float64{}, nil, incomplete}
	if list := p.Processor.Shortages(); len(list) > 0 {
		m.short = &list[0]
	}
	total := 0.0
	for _, f := range p.Functions {
		if f.Within != "" || f.Calls == 0 || aside[f.Name] {
			continue
		}
		total += float64(f.Time)
		m.calls[f.Name], m.share[f.Name] = float64(f.Time)/float64(f.Calls), float64(f.Time)
	}
	if len(m.calls) == 0 {
		return m, errors.New("the program makes no MPI calls between MPI_Init and MPI_Finalize; name a program that communicates")
	}
	for name := range m.share {
		m.share[name] /= max(total, 1)
	}
	for _, s := range run.Stats(recording.Options{}) {
		name := s.Variable
		if s.Object != "" {
			name += " (" + s.Object + ")"
		}
		switch {
		case s.Count == 0:
		case s.As == recording.Delta:
			m.pvars[name] += s.Total.Float64()
		default:
			m.pvars[name] = s.Mean
		}
	}
	return m, nil
}

// completeRanks are the ranks of a run that means are of, and those that are left out.
func completeRanks(run *recording.Run) (cut profile.Cut, out []int) {
	for _, r := range run.Ranks {
		if run.Excludes(r) {
			out = append(out, r.Rank)
		} else {
			cut.Ranks = append(cut.Ranks, r.Rank)
		}
	}
	if len(out) == 0 {
		cut.Ranks = nil
	}
	return cut, out
}

// withoutRanks says in how many runs ranks are left out, because they are incomplete; "" if in none.
func withoutRanks(sides [2][]measured) string {
	runs := slices.Concat(sides[0], sides[1])
	var ranks []int
	n := 0
	for _, m := range runs {
		if ranks = append(ranks, m.incomplete...); len(m.incomplete) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	slices.Sort(ranks)
	return fmt.Sprintf("In %d of the %d runs the recording of some ranks is incomplete (%s). They are left out.", n, len(runs), text.Ranks(slices.Compact(ranks)))
}

// seenTraffic is what calls of each function send, with the messages of the calls that the library makes within them, and the part of
// all messages that each pair of ranks exchanges.
func seenTraffic(p *profile.Profile) map[trafficKey]float64 {
	calls, messages, sent := map[string]uint64{}, map[string]uint64{}, map[string]uint64{}
	for _, f := range p.Functions {
		outer := f.Within
		if outer == "" {
			outer = f.Name
			calls[outer] += f.Calls
		}
		messages[outer] += f.MessagesSent
		sent[outer] += f.Sent()
	}
	out := map[trafficKey]float64{}
	for name, n := range calls {
		out[trafficKey{"messages sent by a call of " + name, ""}] = float64(messages[name]) / float64(max(n, 1))
		out[trafficKey{"bytes sent by a call of " + name, "B"}] = float64(sent[name]) / float64(max(n, 1))
	}
	all := uint64(0)
	for k := range p.Pairs {
		all += p.Pairs[k].Messages()
	}
	for k := range p.Pairs {
		pair := &p.Pairs[k]
		out[trafficKey{fmt.Sprintf("messages from rank %d to %d", pair.Source, pair.Destination), "%"}] = 100 * float64(pair.Messages()) / float64(max(all, 1))
	}
	return out
}

// aside are functions whose time says nothing about a setting of communication.
var aside = map[string]bool{"MPI_Init": true, "MPI_Init_thread": true, "MPI_Finalize": true, "MPI_Abort": true}

// withoutCores says in how many runs ranks had no core; "" if in none.
func withoutCores(sides [2][]measured) string {
	runs := slices.Concat(sides[0], sides[1])
	var worst *processor.Shortage
	n := 0
	for _, m := range runs {
		if m.short != nil {
			if n++; worst == nil || m.short.Share > worst.Share {
				worst = m.short
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("Ranks had no core for a part of %d of the %d runs. In one, %s. Such times vary with what else runs there.", n, len(runs), worst.Text)
}

// change is a quantity without and with the settings.
type change struct {
	what, unit     string
	delta          compare.Delta
	by, low, high  float64 // the change of the medians and its interval, as parts of the base; of times
	known, changed bool
	traffic        bool
}

// worthShowing is the least share of the time in MPI of a function that is shown.
const worthShowing = 0.05

// measuredChanges compares the sides: the functions with most of the time, the traffic that differs, and the performance variables
// whose values are apart.
func measuredChanges(sides [2][]measured) []change {
	out := timeChanges(sides)
	for _, t := range keysOf(sides, func(m measured) map[trafficKey]float64 { return m.traffic }) {
		d := samplesOf(sides, func(m measured) (float64, bool) { return m.traffic[t], true })
		if clearlyApart(d) {
			out = append(out, change{what: t.what, unit: t.unit, delta: d, changed: true, traffic: true})
		}
	}
	for _, name := range keysOf(sides, func(m measured) map[string]float64 { return m.pvars }) {
		d := samplesOf(sides, func(m measured) (float64, bool) { x, ok := m.pvars[name]; return x, ok })
		if clearlyApart(d) {
			out = append(out, change{what: name, delta: d, changed: true})
		}
	}
	return out
}

func timeChanges(sides [2][]measured) (out []change) {
	for _, name := range keysOf(sides, func(m measured) map[string]float64 { return m.share }) {
		if !slices.ContainsFunc(slices.Concat(sides[0], sides[1]), func(m measured) bool { return m.share[name] >= worthShowing }) {
			continue
		}
		c := change{what: name, unit: "ns", delta: samplesOf(sides, func(m measured) (float64, bool) { x, ok := m.calls[name]; return x, ok })}
		if _, c.low, c.high, c.known = c.delta.Interval(); c.known {
			c.by = c.delta.New.Median()/c.delta.Base.Median() - 1
			c.low, c.high = min(c.low, c.by), max(c.high, c.by) // of runs of two kinds, the medians can be further apart than the pairs
			c.changed = c.low > 0 || c.high < 0
		}
		out = append(out, c)
	}
	return out
}

// clearlyApart reports whether the sides are apart by more than the runs of each side differ. Runs of one program with the same
// messages do not differ at all, and runs of a certain time by little. If many numbers differ by chance, some are apart in a few runs.
func clearlyApart(d compare.Delta) bool {
	gap := max(d.New.Min()-d.Base.Max(), d.Base.Min()-d.New.Max())
	return d.Known() && gap > d.Base.Max()-d.Base.Min()+d.New.Max()-d.New.Min()
}

// keysOf are the quantities that any run has, sorted by name.
func keysOf[K comparable](sides [2][]measured, of func(measured) map[K]float64) []K {
	all := map[K]bool{}
	for _, m := range slices.Concat(sides[0], sides[1]) {
		for key := range of(m) {
			all[key] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b K) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// samplesOf returns the numbers of all runs that have a quantity.
func samplesOf(sides [2][]measured, of func(measured) (float64, bool)) (d compare.Delta) {
	for k, to := range []*compare.Sample{&d.Base, &d.New} {
		for _, m := range sides[k] {
			if x, ok := of(m); ok {
				*to = append(*to, x)
			}
		}
	}
	return d
}
