package explorer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export/variables"
	"mpitx/text"
	"mpitx/ui/link"
	"mpitx/ui/screen"
	"mpitx/ui/screen/prompt"
)

type editing struct {
	e        *entry
	text     string // the value to write, once it is typed or chosen
	ranks    []int  // that write it; nil: all
	problem  string // what is wrong with the typed value or ranks; "": nothing
	pick     scroll // in the enumeration
	outcomes catalog.Outcomes
	err      error
	waits    bool
	undo     []change
}

// change is a write that can be undone. One that changed nothing has no old values.
type change struct {
	name string
	old  map[int]string // by rank
}

type outcomeMsg struct {
	name     string
	outcomes catalog.Outcomes
	err      error
	undoes   map[int]string // the values that an undo restores, by rank; nil: not an undo
}

// scopeWords spell out what a scope means for a write (MPI-3.1, Table 14.5).
var scopeWords = map[catalog.Scope]string{
	catalog.ScopeConstant: "its value is constant: the library will refuse",
	catalog.ScopeReadonly: "it is read-only through this interface: the library will probably refuse",
	catalog.ScopeLocal:    "each rank may have its own value",
	catalog.ScopeGroup:    "the ranks of a group must be written together; the description says which",
	catalog.ScopeGroupEq:  "the ranks of a group must all have the same value; the description says which",
	catalog.ScopeAll:      "all ranks must be written together",
	catalog.ScopeAllEq:    "all ranks must have the same value",
}

func (m *Model) editing() bool { return m.mode >= modeEdit && m.mode <= modeOutcome }

func (m *Model) startEdit() {
	if e := m.current(); e != nil {
		m.openEdit(e, "")
	}
}

// openEdit opens the editor for a variable, with a text, or with the present value if the text is empty.
func (m *Model) openEdit(e *entry, text string) {
	r := e.v.After
	switch {
	case m.o.ReadOnly:
		m.showError("%s: nothing is written: started with --read-only", e.name)
		return
	case !e.variable():
		m.noValue(e)
		return
	case e.v.Kind != catalog.Cvars:
		m.note("%s is a performance variable: only control variables can be written", e.name)
		return
	case r == nil && m.alive():
		m.note("%s exists only before MPI_Init: set it for the next run (S copies the line)", e.name)
		return
	case r == nil: // alive has said why
		return
	case r.Status != catalog.StatusOK:
		m.showError("%s cannot be written: %s", e.name, variables.ReadingText(r, nil))
		return
	case !m.alive():
		return
	}
	enum := m.enum(e.v)
	m.edit.e, m.edit.ranks, m.edit.err, m.edit.outcomes = e, nil, nil, nil
	m.mode = modeEdit
	if text == "" {
		text = r.Value.Format(enum)
		if enum != nil && !enum.Flags && len(enum.Items) > 0 && r.Value.Len() == 1 {
			m.mode = modePick
			m.edit.pick = scroll{at: max(0, slices.IndexFunc(enum.Items, func(i catalog.Item) bool { return i.Name == text }))}
		}
	}
	m.Line = prompt.New(text)
	m.validate()
}

// enum is the enumeration whose items can be written to a variable; nil: none.
func (m *Model) enum(v *catalog.Variable) *catalog.Enum {
	if m.o.Items != nil {
		return m.o.Items(m.x.cat, v)
	}
	return m.x.cat.Enum(v.Enum)
}

func (m *Model) validate() {
	_, err := m.typedValue()
	m.edit.problem = ""
	if m.mode == modeSet && m.Line.String() == "" {
		err = errors.New("type the value for the next run")
	}
	if err != nil {
		m.edit.problem = err.Error()
	}
}

// validRanks parses the typed ranks; an empty line means all.
func (m *Model) validRanks() {
	ranks, err := text.ParseRanks(m.Line.String())
	m.edit.problem = ""
	size := m.x.cat.Job.Size
	switch {
	case err != nil:
		m.edit.problem = err.Error()
	case len(ranks) > 0 && ranks[len(ranks)-1] >= size:
		m.edit.problem = fmt.Sprintf("no rank %d: ranks are 0 to %d", ranks[len(ranks)-1], size-1)
	case len(ranks) == size:
		ranks = nil
	}
	m.edit.ranks = ranks
}

// confirm asks before a write, unless one rank writes a local value.
func (m *Model) confirm() tea.Cmd {
	m.edit.text = m.Line.String()
	m.mode = modeConfirm
	if m.x.cat.Job.Size == 1 && m.edit.e.v.Scope == catalog.ScopeLocal {
		return m.write()
	}
	return nil
}

func (m *Model) cmdWrite(args string) {
	name, text, ok := strings.Cut(args, "=")
	if !ok {
		m.showError("write: NAME=VALUE is missing: :write my_variable=1")
		return
	}
	if e := m.named(strings.TrimSpace(name)); e != nil {
		m.openEdit(e, strings.TrimSpace(text))
		if m.mode == modeEdit {
			m.keyEdit("enter", "")
		}
	}
}

func (m *Model) keyEdit(key, words string) tea.Cmd {
	if key == "esc" {
		m.mode = m.ground()
		return nil
	}
	switch m.mode {
	case modeOutcome:
		if !m.edit.waits {
			m.mode = m.ground()
		}
	case modePick:
		return m.keyPick(key)
	case modeConfirm:
		switch key {
		case "y", "Y":
			return m.write()
		case "n", "q":
			m.mode = m.ground()
		case "r":
			if m.x.cat.Job.Size > 1 {
				m.mode, m.Line = modeRanks, prompt.New(text.RankList(m.edit.ranks))
			}
		}
	default:
		if key == "enter" {
			return m.accept()
		}
		if m.Line.Key(key, words) {
			m.typed()
		}
	}
	return nil
}

// accept takes the typed value or ranks, unless something is wrong with them.
func (m *Model) accept() tea.Cmd {
	switch {
	case m.edit.problem != "":
	case m.mode == modeRanks:
		m.mode = modeConfirm
	case m.mode == modeSet:
		m.mode = m.ground()
		value, _ := m.typedValue()
		return m.copyLine(m.edit.e, value)
	default:
		return m.confirm()
	}
	return nil
}

func (m *Model) keyPick(key string) tea.Cmd {
	items := m.enum(m.edit.e.v).Items
	switch key {
	case "=":
		m.mode = modeEdit
	case "enter":
		m.Line = prompt.New(items[m.edit.pick.at].Name)
		if m.validate(); m.edit.problem == "" {
			return m.confirm()
		}
		m.mode = modeEdit
	default:
		m.edit.pick.key(key, len(items))
	}
	return nil
}

// write sends the write. The outcome arrives as a message.
func (m *Model) write() tea.Cmd {
	m.mode, m.edit.waits = modeOutcome, true
	w := catalog.WriteRequest{Name: m.edit.e.v.Name, Text: m.edit.text, Ranks: m.edit.ranks, Force: m.edit.ranks != nil}
	return m.send(nil, w)
}

func (m *Model) send(undoes map[int]string, writes ...catalog.WriteRequest) tea.Cmd {
	b := m.backend
	return func() tea.Msg {
		msg := outcomeMsg{name: writes[0].Name, undoes: undoes}
		for _, w := range writes {
			ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
			out, err := b.Write(ctx, w)
			cancel()
			msg.outcomes = append(msg.outcomes, out...)
			if err != nil {
				msg.err = err
				break
			}
		}
		return msg
	}
}

// outcome shows the result of a write, and records how to undo it.
func (m *Model) outcome(msg outcomeMsg) {
	m.edit.waits, m.edit.outcomes, m.edit.err = false, msg.outcomes, msg.err
	m.generation++
	if m.x == nil {
		return
	}
	e := m.x.entry(msg.name)
	if e == nil {
		return
	}
	m.edit.e = e
	m.mode, m.Mode, m.Text = modeOutcome, screen.Keys, nil
	c := m.undoable(e, msg)
	s := &link.Sample{}
	for _, o := range msg.outcomes {
		if !o.Back.IsZero() {
			s.Ranks = append(s.Ranks, link.RankSample{Rank: o.Rank, Readings: []catalog.Reading{{Status: catalog.StatusOK, Value: o.Back, Count: countOf(e.v)}}})
		}
	}
	m.take(e, 0, s)
	m.refill() // the filter may concern values
	last := len(m.edit.undo) - 1
	switch {
	case len(c.old) > 0:
		m.edit.undo = append(m.edit.undo, c)
	case msg.undoes == nil && (last < 0 || len(m.edit.undo[last].old) > 0): // undo concerns this write, not the one before it
		m.edit.undo = append(m.edit.undo, c)
	}
}

func (m *Model) undoes() bool {
	n := len(m.edit.undo)
	return n > 0 && len(m.edit.undo[n-1].old) > 0
}

// undoable is the part of a write that can be undone: on ranks that wrote, and on ranks that did not answer. After a failed undo it is
// the part that was not restored.
func (m *Model) undoable(e *entry, msg outcomeMsg) change {
	c := change{msg.name, maps.Clone(msg.undoes)}
	if c.old == nil {
		c.old = map[int]string{}
	}
	for _, o := range msg.outcomes {
		switch {
		case msg.undoes != nil && o.Back.String() == c.old[o.Rank]:
			delete(c.old, o.Rank)
		case msg.undoes != nil:
		case o.Result == "ok" && !o.Old.IsZero() && o.Old != o.Back:
			c.old[o.Rank] = o.Old.String()
		case o.Result == catalog.WriteNoAnswer:
			if r := known(e.v, o.Rank); r != nil && r.Status == catalog.StatusOK {
				c.old[o.Rank] = r.Value.String()
			}
		}
	}
	return c
}

// known is the last known reading of a rank.
func known(v *catalog.Variable, rank int) *catalog.Reading {
	for k := range v.Ranks {
		if v.Ranks[k].Rank == rank {
			return &v.Ranks[k].Reading
		}
	}
	return v.After
}

func countOf(v *catalog.Variable) int {
	if v.After == nil {
		return 1
	}
	return v.After.Count
}

func (m *Model) undo() tea.Cmd {
	n := len(m.edit.undo)
	if n == 0 {
		m.note("nothing to undo")
		return nil
	}
	if !m.alive() {
		return nil
	}
	c := m.edit.undo[n-1]
	m.edit.undo = m.edit.undo[:n-1] // it comes back if the write fails
	if len(c.old) == 0 {
		text := "the last write, of " + c.name + ", changed nothing: nothing to undo"
		if n > 1 {
			text += "; u again undoes the one before it"
		}
		m.note("%s", text)
		return nil
	}
	return m.revert(c)
}

func (m *Model) revert(c change) tea.Cmd {
	if m.edit.e = m.x.entry(c.name); m.edit.e == nil {
		m.showError("%s does not exist any more", c.name)
		return nil
	}
	byText := map[string][]int{}
	for rank, text := range c.old {
		byText[text] = append(byText[text], rank)
	}
	var writes []catalog.WriteRequest
	for text, ranks := range byText {
		slices.Sort(ranks)
		w := catalog.WriteRequest{Name: c.name, Text: text, Ranks: ranks, Force: true}
		if len(ranks) == m.x.cat.Job.Size {
			w.Ranks, w.Force = nil, false
		}
		writes = append(writes, w)
	}
	m.edit.text = writes[0].Text
	m.mode, m.edit.waits = modeOutcome, true
	return m.send(c.old, writes...)
}
