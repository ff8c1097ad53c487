package explorer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/export/variables"
	"mpitx/text"
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

	next  bool                   // the value is for the next run
	why   string                 // it is for the next run only; "": the user wants it so
	needs []Setting              // what it needs to have an effect
	queue []catalog.WriteRequest // writes after the present one
	done  []string               // the outcomes of writes before it
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
	e := m.current()
	if e == nil {
		return
	}
	if e.variable() && e.v.Kind == catalog.Cvars && m.ended == "" && m.frozen() == "" {
		if why := m.onlyNext(e); why != "" {
			m.openNext(e, "", why)
			return
		}
	}
	m.openEdit(e, "")
}

// openEdit opens the editor for writing a variable, with a text, or with the present value if the text is empty.
func (m *Model) openEdit(e *entry, text string) {
	r := e.v.After
	switch {
	case m.o.ReadOnly:
		m.showError("%s: nothing is written: started with --read-only", e.name)
		return
	case !e.variable():
		m.noValue(e)
		return
	case e.v.Kind == catalog.Virtual:
		m.note("%s is computed inside applications: it cannot be written", e.name)
		return
	case e.v.NoChange(catalog.WriteValue) != "":
		m.note("%s cannot be written: %s", e.name, e.v.NoChange(catalog.WriteValue))
		return
	case r == nil && e.v.Kind == catalog.Pvars && m.alive():
		m.note("%s exists only before MPI_Init", e.name)
		return
	case r == nil && m.alive():
		m.note("%s exists only before MPI_Init: :stage sets it for the next run, S copies the line", e.name)
		return
	case r == nil: // alive has said why
		return
	case r.Status != catalog.StatusOK:
		m.showError("%s cannot be written: %s", e.name, variables.ReadingText(r, nil))
		return
	case !m.alive():
		return
	}
	m.edit = editing{e: e, undo: m.edit.undo, needs: m.needs(e)}
	m.beginEdit(text, text == "")
}

// beginEdit opens the line for a value, or the list of items if there is one and picks is set. The text stands for the present value if
// it is empty.
func (m *Model) beginEdit(text string, picks bool) {
	m.mode = modeEdit
	enum, r := m.enum(m.edit.e.v), m.edit.e.v.Current()
	if r != nil && r.Status == catalog.StatusOK {
		if text == "" {
			text = r.Value.Format(enum)
		}
		if picks && enum != nil && !enum.Flags && len(enum.Items) > 0 && r.Value.Len() == 1 {
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
	value, err := m.typedValue()
	m.edit.problem = ""
	switch {
	case m.mode == modeSet && m.Line.String() == "":
		err = errors.New("type the value for the next run")
	case m.edit.next && (err == nil || m.Line.String() == ""):
		err = m.validNext(value)
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
	if m.x.cat.Job.Size == 1 && m.edit.e.v.Scope == catalog.ScopeLocal && len(m.edit.needs) == 0 {
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

// cmdReset resets a performance variable, or reads and resets it in one step (MPI-3.1, section 14.3.7).
func (m *Model) cmdReset(kind catalog.WriteKind) func(name string) tea.Cmd {
	return func(name string) tea.Cmd {
		e := m.current()
		if name = strings.TrimSpace(name); name != "" {
			e = m.named(name)
		}
		switch {
		case e == nil:
			return nil
		case m.o.ReadOnly:
			m.showError("%s: nothing is written: started with --read-only", e.name)
			return nil
		case !e.variable() || e.v.Kind != catalog.Pvars:
			m.note("%s is not a performance variable: only these are reset", e.name)
			return nil
		case e.v.NoChange(kind) != "":
			m.note("%s has no %s: %s", e.name, kind, e.v.NoChange(kind))
			return nil
		case !m.alive():
			return nil
		}
		m.edit = editing{e: e, undo: m.edit.undo, queue: []catalog.WriteRequest{{Name: e.v.ID(), Kind: kind}}}
		return m.writeNext()
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
		case "b", "s":
			return m.confirmOther(key)
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
		return m.taken()
	}
	return nil
}

// taken goes on with the typed or chosen value.
func (m *Model) taken() tea.Cmd {
	if m.edit.next {
		m.mode = m.ground()
		m.stage(m.edit.e, m.Line.String())
		return nil
	}
	return m.confirm()
}

// writesBoth reports whether what a value needs can be written with it.
func (m *Model) writesBoth() bool {
	return len(m.edit.needs) > 0 && !slices.ContainsFunc(m.edit.needs, func(s Setting) bool {
		e := m.x.entry(s.V.Name)
		return e == nil || !writable(e.v) || m.o.AtStart != nil && m.o.AtStart(m.x.cat, e.v) != ""
	})
}

// confirmOther writes what the value needs as well (b), or sets it for the next run, if what it needs cannot be written or only the
// next run is wanted (s).
func (m *Model) confirmOther(key string) tea.Cmd {
	switch {
	case key == "b" && m.writesBoth():
		own := m.edit.text
		for _, s := range m.edit.needs {
			m.edit.queue = append(m.edit.queue, m.writeRequest(s.V.Name, s.Value.Format(m.enum(s.V))))
		}
		m.edit.queue = append(m.edit.queue, m.writeRequest(m.edit.e.v.ID(), own))
		return m.writeNext()
	case key == "b" && len(m.edit.needs) == 0, len(m.howToSet(m.edit.e.v, catalog.Value{})) == 0:
		return nil
	}
	m.mode = m.ground()
	m.stage(m.edit.e, m.edit.text)
	return nil
}

func (m *Model) writeRequest(name, text string) catalog.WriteRequest {
	return catalog.WriteRequest{Name: name, Text: text, Ranks: m.edit.ranks, Force: m.edit.ranks != nil}
}

// writeNext sends the first write of the queue.
func (m *Model) writeNext() tea.Cmd {
	w := m.edit.queue[0]
	m.edit.queue, m.edit.text = m.edit.queue[1:], w.Text
	m.mode, m.edit.waits = modeOutcome, true
	return m.send(nil, w)
}

func (m *Model) keyPick(key string) tea.Cmd {
	items := m.enum(m.edit.e.v).Items
	switch key {
	case "=":
		m.mode = modeEdit
	case "enter":
		m.Line = prompt.New(items[m.edit.pick.at].Name)
		if m.validate(); m.edit.problem == "" {
			return m.taken()
		}
		m.mode = modeEdit
	default:
		m.edit.pick.key(key, len(items))
	}
	return nil
}

// write sends the write. The outcome arrives as a message.
func (m *Model) write() tea.Cmd {
	m.edit.queue = []catalog.WriteRequest{m.writeRequest(m.edit.e.v.ID(), m.edit.text)}
	return m.writeNext()
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
