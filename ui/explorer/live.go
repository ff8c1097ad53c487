package explorer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/link"
	"mpitx/ui/screen"
	"mpitx/ui/screen/program"
)

const (
	readLimit  = 2 * time.Second
	writeLimit = 10 * time.Second
	maxLog     = 2000 // lines of output that are kept
)

type live struct {
	msgs     chan tea.Msg // from the goroutines that wait for the back end
	backend  link.Backend
	exclude  []string
	ended    string // how the back end ended; "": it runs
	culprit  string // the variable that was accessed when it died
	log      []string
	quiet    map[int]string // ranks that do not answer, with the variable they read
	workload string
	stale    bool // the library's variables differ from the catalog

	lastPlace kept // what the user saw when the back end was lost
	serial    int  // of the back end: messages of earlier ones are dropped
}

type (
	startedMsg struct {
		backend link.Backend
		err     error
	}
	eventMsg struct {
		link.Event
		serial int
	}
	catalogMsg struct {
		loadedMsg
		serial int
	}
	sampleMsg struct {
		ids    []string
		sample *link.Sample
		err    error
		watch  bool
		serial int
	}
	workloadMsg struct {
		name string
		err  error
	}
)

func (m *Model) listen() tea.Cmd {
	msgs := m.live.msgs
	return func() tea.Msg { return <-msgs }
}

// start replaces the back end and waits for the new catalog.
func (m *Model) start(old link.Backend) tea.Cmd {
	set := m.staging.environ
	m.serial++
	m.x, m.failed, m.ended, m.phase, m.workload = nil, "", "", "starting the back end", ""
	m.quiet, m.edit, m.stale = map[int]string{}, editing{}, false // the new library has none of the writes
	m.watching.begin()
	o, exclude := m.o, slices.Clone(m.exclude)
	return func() tea.Msg {
		if old != nil {
			old.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		b, err := o.Start(ctx, exclude, set)
		return startedMsg{b, err}
	}
}

func (m *Model) attach(b link.Backend) {
	msgs, serial, t, own := m.live.msgs, m.serial, m.Terminal, m.o.Virtual
	crash := func(c program.Crash) { msgs <- c }
	go func() {
		defer program.Guard(crash)
		for e := range b.Events() {
			msgs <- eventMsg{e, serial}
		}
	}()
	go func() {
		defer program.Guard(crash)
		c, err := b.Catalog(context.Background(), func(phase string) {
			select {
			case msgs <- phaseMsg(phase):
			default: // an outdated phase is dropped
			}
		})
		if err != nil {
			msgs <- catalogMsg{loadedMsg{err: err}, serial}
			return
		}
		msgs <- catalogMsg{loadedMsg{x: ready(c, own, t)}, serial}
	}()
}

func (m *Model) liveMsg(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case startedMsg:
		if msg.err != nil {
			m.failed = msg.err.Error()
			return nil
		}
		m.backend = msg.backend
		m.attach(msg.backend)
	case phaseMsg:
		m.phase = string(msg)
		return m.listen()
	case catalogMsg:
		if msg.serial == m.serial {
			m.loaded(msg.loadedMsg)
			return tea.Batch(m.listen(), m.tick(), m.pressEarly())
		}
		return m.listen()
	case refreshedMsg:
		m.refreshed(msg)
	case eventMsg:
		if msg.serial == m.serial {
			m.event(msg.Event)
		}
		return m.listen()
	case sampleMsg:
		return m.sampled(msg)
	case screen.TickMsg:
		return m.ticked(msg)
	case outcomeMsg:
		return m.outcome(msg)
	case workloadMsg:
		if msg.err != nil {
			m.showError("workload %s: %v", msg.name, msg.err)
			break
		}
		m.workload = msg.name
		m.say("workload: %s", map[bool]string{true: "none", false: msg.name}[msg.name == ""])
	}
	return nil
}

func (m *Model) event(e link.Event) {
	m.generation++
	switch e.Kind {
	case link.EventLog:
		text := e.Text
		if e.Rank >= 0 {
			text = fmt.Sprintf("[%d] %s", e.Rank, text)
		}
		if len(m.log) >= maxLog {
			m.log = append(m.log[:0], m.log[maxLog/10:]...)
		}
		m.log = append(m.log, m.Terminal.SafeLine(text, 2000))
	case link.EventSilent:
		m.quiet[e.Rank] = e.Variable
		where := ""
		if e.Variable != "" {
			where = " in " + e.Variable
		}
		m.showError("rank %d does not answer%s", e.Rank, where)
	case link.EventAnswers:
		delete(m.quiet, e.Rank)
		m.say("rank %d answers again", e.Rank)
	case link.EventChanged:
		m.stale = true
		m.say("the library's variables or categories have changed: r reads them again")
	case link.EventEnded:
		m.ended, m.culprit, m.workload = e.Text, e.Variable, ""
		if m.ended == "" {
			m.ended = "it exited"
		}
		m.lost()
	}
}

func (m *Model) lost() {
	text := "back end lost (R restarts it): " + m.ended
	if m.culprit != "" {
		text = fmt.Sprintf("back end lost in %s (R restarts it without that variable): %s", m.culprit, m.ended)
	}
	if m.x == nil {
		m.failed = text
	}
	m.showError("%s", text)
}

func (m *Model) restart() tea.Cmd {
	failed := m.broken()
	switch {
	case !failed && !m.pending() && len(m.staging.set) > 0:
		m.note("restart: the back end is running, with all that is set for the next run")
		return nil
	case !failed && !m.pending():
		m.note("restart: the back end is running; e sets variables for the next run, C shows them")
		return nil
	}
	if m.culprit != "" && !slices.Contains(m.exclude, m.culprit) {
		m.exclude = append(m.exclude, m.culprit)
		m.keepPin(m.culprit, false) // else the next session would crash as well
	}
	m.culprit, m.Text = "", nil
	m.mode = m.ground()
	if m.x != nil {
		m.lastPlace = m.keep()
	}
	m.staging.environ = m.arm(failed)
	return m.start(m.backend)
}

// frozen is the reason why MPI_Init failed: nothing can be read or written. "": it did not fail.
func (m *Model) frozen() string {
	if m.x == nil || m.x.cat.After.Read {
		return ""
	}
	return m.x.cat.After.Error
}

// alive says whether the back end can be asked, and complains if it cannot.
func (m *Model) alive() bool {
	switch {
	case m.ended != "":
		m.lost()
		return false
	case m.frozen() != "":
		m.showError("MPI is not available: nothing can be read or written; R restarts the back end")
		return false
	}
	return m.backend != nil && m.x != nil
}

func (m *Model) silent() []int {
	return slices.Sorted(maps.Keys(m.quiet))
}

func (m *Model) liveState() string {
	var parts []string
	switch {
	case m.o.Start == nil:
		parts = append(parts, "offline")
	case m.ended != "":
		parts = append(parts, "BACK END LOST")
	case m.o.ReadOnly || m.frozen() != "":
		parts = append(parts, "read-only")
	}
	if m.x != nil {
		switch c := m.x.cat; {
		case m.frozen() != "":
			parts = append(parts, "ONLY BEFORE MPI_Init")
		case !c.Before.Read && c.Before.Error != "":
			parts = append(parts, "ONLY AFTER MPI_Init")
		}
		if lost := lostRanks(m.x.cat); len(lost) > 0 {
			parts = append(parts, "LOST: r"+text.RankList(lost))
		}
	}
	if s := m.silent(); len(s) > 0 {
		parts = append(parts, "SILENT: r"+text.RankList(s))
	}
	if m.stale {
		parts = append(parts, "NEW VARIABLES: r")
	}
	if m.pending() {
		parts = append(parts, fmt.Sprintf("NEXT RUN %d: R", len(m.staging.plan)))
	}
	if m.workload != "" {
		parts = append(parts, "workload "+m.workload)
	}
	return strings.Join(parts, "  ")
}

// lostRanks lists the ranks without a complete answer.
func lostRanks(c *catalog.Catalog) (ranks []int) {
	for i := range c.Job.Ranks {
		if c.Job.Ranks[i].Error != "" {
			ranks = append(ranks, c.Job.Ranks[i].Rank)
		}
	}
	return ranks
}

// missing names the missing parts of a catalog, with the reasons; "": none.
func missing(c *catalog.Catalog) string {
	var parts []string
	for _, st := range []struct {
		name string
		*catalog.Stage
	}{{"before MPI_Init", &c.Before}, {"after MPI_Init", &c.After}} {
		if st.Error != "" && !st.Read {
			parts = append(parts, "nothing was read "+st.name+": "+st.Error)
		} else if st.Error != "" {
			parts = append(parts, st.name+": "+st.Error)
		}
	}
	if lost := lostRanks(c); len(lost) > 0 {
		i := slices.IndexFunc(c.Job.Ranks, func(r catalog.Rank) bool { return r.Rank == lost[0] })
		words := "incomplete answer from " + text.Ranks(lost) + ": "
		if len(lost) > 1 {
			words += fmt.Sprintf("rank %d: ", lost[0])
		}
		parts = append(parts, words+c.Job.Ranks[i].Error)
	}
	return strings.Join(parts, "; ")
}

// broken says whether a restart may help.
func (m *Model) broken() bool {
	return m.ended != "" || m.failed != "" || m.x != nil && missing(m.x.cat) != ""
}

func (m *Model) cmdWorkload(name string) tea.Cmd {
	if !m.alive() {
		return nil
	}
	if name != "" && !slices.Contains(link.Workloads, name) {
		m.showError("no workload %q: one of %s", name, strings.Join(link.Workloads, ", "))
		return nil
	}
	b := m.backend
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
		defer cancel()
		return workloadMsg{name, b.Workload(ctx, name)}
	}
}

var workloads = append([]string{""}, link.Workloads...)

var workloadHelp = map[string]string{
	"":           "Stop the workload.",
	"pingpong":   "Pairs of ranks send 8 bytes back and forth: many short messages.",
	"alltoall":   "Every rank sends 1 KB to every rank in each round.",
	"unexpected": "Messages arrive before their receives are posted: the queue of unexpected messages grows and shrinks.",
	"halo":       "Each rank exchanges 4 KB with its four neighbours in a periodic grid.",
	"idle":       "The ranks only exchange the messages that keep them in step.",
}

func (m *Model) openWork() {
	if m.alive() {
		m.mode, m.work = modeWork, scroll{at: max(0, slices.Index(workloads, m.workload))}
	}
}

func (m *Model) keyWork(key string) tea.Cmd {
	switch key {
	case "enter", "space":
		m.mode = m.ground()
		return m.cmdWorkload(workloads[m.work.at])
	case "esc", "q", "W":
		m.mode = m.ground()
	default:
		if i := int(key[0] - '0'); len(key) == 1 && i >= 0 && i < len(workloads) {
			m.mode = m.ground()
			return m.cmdWorkload(workloads[i])
		}
		m.work.key(key, len(workloads))
	}
	return nil
}
