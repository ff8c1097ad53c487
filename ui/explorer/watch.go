package explorer

import (
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/ui/chart"
	"mpitx/ui/link"
	"mpitx/ui/screen"
)

const (
	maxSamples = 1200 // of one rank of a pinned variable
	maxPast    = 200  // variables that are not pinned and keep their samples
)

type watching struct {
	list      []*series          // the pins, oldest first
	past      map[string]*series // variables without a pin that were read more than once
	at        scroll
	show      showing
	ranks     bool // one curve for each rank, else their sum
	log10     bool
	watchOpen bool
	late      bool // the last reading timed out, and the status says so
	asked     bool // a reading is under way
	ticking   bool // a tick is under way
	every     time.Duration
}

type showing int

const (
	showAuto showing = iota // rates of classes that only grow, values of all others
	showRaw
	showDelta
	showRate
)

func (s showing) String() string {
	return [...]string{"counters, aggregates and timers as rate/s, others as value", "value", "delta", "rate/s"}[s]
}

func (m *Model) showing(s *series) showing {
	switch {
	case s.are():
		return showRaw
	case m.show != showAuto:
		return m.show
	}
	if e := m.x.entry(s.id); e != nil {
		switch e.v.Class {
		case catalog.ClassCounter, catalog.ClassAggregate, catalog.ClassTimer:
			return showRate
		}
	}
	return showRaw
}

// series holds the samples of a variable: a row for each sample, a column for each rank; NaN: no value.
type series struct {
	id    string
	times []time.Time
	ranks []int
	rows  [][]float64
	words
}

// series finds the samples of a variable; nil: it was read at most once.
func (m *Model) series(id string) *series {
	if i := slices.IndexFunc(m.watching.list, func(s *series) bool { return s.id == id }); i >= 0 {
		return m.watching.list[i]
	}
	return m.past[id]
}

// begin prepares the pins for another back end: their histories continue after a gap.
func (w *watching) begin() {
	w.asked, w.ticking = false, false
	w.past = map[string]*series{}
	for _, s := range w.list {
		if len(s.rows) > 0 {
			s.add(time.Now(), nil)
		}
	}
}

// add appends a sample, and drops the oldest beyond maxSamples.
func (s *series) add(at time.Time, row []float64) {
	if len(s.rows) >= maxSamples {
		s.rows, s.times = append(s.rows[:0], s.rows[1:]...), append(s.times[:0], s.times[1:]...)
	}
	s.rows, s.times = append(s.rows, row), append(s.times, at)
}

// readable says whether an entry is a variable of the library, and explains if it is not.
func (m *Model) readable(e *entry) bool {
	if !e.variable() {
		m.noValue(e)
		return false
	}
	if e.v.Kind == catalog.Virtual {
		m.note("%s is computed inside applications: mpitx sample --pvar %s -- ./app", e.name, e.name)
		return false
	}
	return true
}

func (m *Model) togglePin() tea.Cmd {
	e := m.current()
	if e == nil || !m.alive() {
		return nil
	}
	if e.pinned {
		m.unpin(e.v.ID())
		return m.save()
	}
	switch {
	case !m.readable(e):
		return nil
	case !watchable(e):
		m.note("%s cannot be watched: it cannot be read after MPI_Init", e.name)
		return nil
	}
	m.pin(e)
	m.say("pinned %s: w watches it", e.name)
	return tea.Batch(m.tick(), m.save())
}

func (m *Model) pin(e *entry) {
	if !e.pinned {
		e.pinned = true
		s := m.past[e.v.ID()]
		if s == nil {
			s = &series{id: e.v.ID()}
		}
		delete(m.past, s.id)
		m.watching.list = append(m.watching.list, s)
		m.keepPin(s.id, true)
		m.generation++
	}
}

func (m *Model) unpin(id string) {
	m.watching.list = slices.DeleteFunc(m.watching.list, func(s *series) bool { return s.id == id })
	m.keepPin(id, false)
	if e := m.x.entry(id); e != nil {
		e.pinned = false
	}
	m.at.clamp(len(m.watching.list))
	m.generation++
	m.say("unpinned %s", id)
}

func (m *Model) cmdWatch(args string) tea.Cmd {
	for _, name := range strings.Fields(args) {
		if e := m.named(name); e != nil {
			m.pin(e)
		} else {
			return nil
		}
	}
	return m.startWatch()
}

func (m *Model) startWatch() tea.Cmd {
	m.mode, m.watchOpen = modeWatch, true
	return m.tick()
}

// tick schedules the next reading of the pins. Without pins, or while paused, it does nothing.
func (m *Model) tick() tea.Cmd {
	if len(m.watching.list) == 0 || m.Paused || m.ticking || m.ended != "" || m.x == nil || m.backend == nil {
		return nil
	}
	m.ticking = true
	return m.Wait(m.every)
}

func (m *Model) ticked(msg screen.TickMsg) tea.Cmd {
	if int(msg) != m.Tick {
		return nil
	}
	m.ticking = false
	if m.asked || m.Paused || m.ended != "" || m.x == nil || len(m.watching.list) == 0 {
		return nil
	}
	m.asked = true
	ids := []string{}
	for _, s := range m.watching.list {
		ids = append(ids, s.id)
	}
	return m.read(ids, true)
}

func (m *Model) record(ids []string, s *link.Sample) {
	for i, id := range ids {
		var enum *catalog.Enum
		if e := m.x.entry(id); e != nil {
			enum = m.x.cat.EnumOf(e.v)
		}
		p := m.series(id)
		if p == nil {
			if len(m.past) >= maxPast {
				continue
			}
			p = &series{id: id}
			m.past[id] = p
		}
		row := chart.Gaps(len(p.ranks))
		for _, r := range s.Ranks {
			k := slices.Index(p.ranks, r.Rank)
			if k < 0 {
				k = len(row)
				p.ranks, row = append(p.ranks, r.Rank), append(row, math.NaN())
			}
			if i < len(r.Readings) {
				row[k] = p.number(&r.Readings[i], enum)
			}
		}
		p.add(s.Time, row)
	}
}

// number is the sum of a reading's elements; NaN if it is not numeric.
func number(r *catalog.Reading) float64 {
	if r.Status != catalog.StatusOK || r.Value.IsZero() || r.Value.Type().Form() == catalog.FormText {
		return math.NaN()
	}
	sum := 0.0
	for i := range r.Value.Len() {
		switch r.Value.Type().Form() {
		case catalog.FormFloat:
			sum += r.Value.Float(i)
		case catalog.FormUnsigned, catalog.FormBool:
			sum += float64(r.Value.Uint(i))
		default:
			sum += float64(r.Value.Int(i))
		}
	}
	return sum
}

func (s *series) rank(k int, show showing) []float64 {
	out := chart.Gaps(len(s.rows))
	for i, row := range s.rows {
		if k < len(row) {
			out[i] = row[k]
		}
	}
	return differences(out, s.times, show)
}

// total is the curve of the sum over all ranks that answered, or of the word that most of them have.
func (s *series) total(show showing) []float64 {
	out := chart.Gaps(len(s.rows))
	for i, row := range s.rows {
		if s.are() {
			out[i], _ = most(row)
			continue
		}
		sum, some := 0.0, false
		for _, v := range row {
			if !math.IsNaN(v) {
				sum += v
				some = true
			}
		}
		if some && len(row) == len(s.ranks) {
			out[i] = sum
		}
	}
	return differences(out, s.times, show)
}

func differences(values []float64, times []time.Time, show showing) []float64 {
	if show == showRaw {
		return values
	}
	out := make([]float64, max(0, len(values)-1))
	for i := range out {
		out[i] = values[i+1] - values[i]
		if show == showRate {
			out[i] /= max(times[i+1].Sub(times[i]).Seconds(), 1e-6)
		}
	}
	return out
}

func (m *Model) endWatch() { m.mode, m.watchOpen, m.changes.open = modeNormal, false, false }

func (m *Model) pauseWatch() tea.Cmd {
	m.Paused = !m.Paused
	return m.tick()
}

func (m *Model) pace(factor float64) {
	m.every = min(max(time.Duration(float64(m.every)*factor), 100*time.Millisecond), 10*time.Second)
}

func (m *Model) unpinWatched() {
	if m.at.at < len(m.watching.list) {
		m.unpin(m.watching.list[m.at.at].id)
	}
	if len(m.watching.list) == 0 {
		m.endWatch()
	}
}
