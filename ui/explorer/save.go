package explorer

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/export/variables"
	"mpitx/text"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

func (m *Model) saved(msg prompt.Saved) {
	if msg.Err != nil {
		m.showError("save %s: %v", msg.Path, msg.Err)
		return
	}
	m.say("saved %s to %s", msg.What, msg.Path)
}

func (m *Model) copy(what string) tea.Cmd {
	e := m.current()
	if e == nil {
		m.showError("no variable is selected")
		return nil
	}
	text := ""
	switch what {
	case "name":
		text = e.v.Name
	case "value":
		if e.change != nil {
			_, a, b := m.pair(e.change)
			text = m.Terminal.SafeLine(a+" -> "+b, maxMessage)
			break
		}
		if r := e.v.Current(); r == nil || r.Status != catalog.StatusOK {
			m.note("%s has no value to copy", e.name)
			return nil
		}
		text = m.x.value(e)
	case "set":
		if m.o.Diff != nil {
			m.note("a difference has no setting to copy")
			return nil
		}
		return m.copySetting(e)
	}
	return m.toClipboard(text)
}

// toClipboard copies text and reports it.
func (m *Model) toClipboard(text string) tea.Cmd {
	if m.Terminal.Plain && !m.Terminal.Tmux && !m.Terminal.Screen {
		m.showError("this terminal has no clipboard; copy by hand: %s", text)
		return nil
	}
	m.say("copied %s", text)
	return toClipboard(text, m.Terminal)
}

// toClipboard sends text to the clipboard of the user's terminal (OSC 52), also through a multiplexer.
func toClipboard(text string, t term.Term) tea.Cmd {
	switch {
	case t.Tmux:
		return func() tea.Msg {
			c := exec.Command("tmux", "load-buffer", "-w", "-") // also into tmux's own buffer
			c.Stdin = strings.NewReader(text)
			if c.Run() != nil {
				return tea.SetClipboard(text)()
			}
			return nil
		}
	case t.Screen:
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(text), 512))
	}
	return tea.SetClipboard(text)
}

func (m *Model) cmdSnapshot(command, path string) tea.Cmd {
	if m.o.Diff != nil {
		m.note("snapshot: this is a difference of two catalogs; save it with :export FILE.json")
		return nil
	}
	if path == "" {
		m.showError("snapshot: the file name is missing: :snapshot my.json")
		return nil
	}
	var b bytes.Buffer
	if err := catalog.Write(&b, m.x.cat); err != nil {
		m.showError("snapshot: %v", err)
		return nil
	}
	return prompt.Save(command, path, "a snapshot", b.Bytes())
}

func (m *Model) cmdExport(command, path string) tea.Cmd {
	if ext := filepath.Ext(path); m.changes.open || ext == ".sh" || ext == ".conf" {
		return m.saveChanges(command, path)
	}
	format, err := prompt.Format(path)
	if err != nil {
		m.showError("%v", err)
		return nil
	}
	var b bytes.Buffer
	what := m.x.countWords(m.shown)
	switch {
	case m.o.Diff != nil:
		what = text.Count(len(m.shown), "difference")
		err = variables.Diff(&b, m.listedDiff(), format, m.Terminal.Terminal)
	case m.watchOpen: // the samples, not the list
		what = "the samples"
		err = m.writeSamples(&b, format)
	default:
		o := variables.ListOptions{Format: format, Kinds: exportKinds, Terminal: m.Terminal.Terminal, Filtered: true}
		err = variables.List(&b, m.x.cat.Select(m.x.items(m.shown)), o)
	}
	if err != nil {
		m.showError("export: %v", err)
		return nil
	}
	return prompt.Save(command, path, what, b.Bytes())
}

// present is a variable's present value; zero if it has none that a setting could repeat, such as an empty string.
func present(v *catalog.Variable) catalog.Value {
	if r := v.Current(); r != nil && r.Status == catalog.StatusOK && r.Value.String() != "" {
		return r.Value
	}
	return catalog.Value{}
}

// copySetting copies the line that sets a variable for the next run. It asks for a value if the variable has none.
func (m *Model) copySetting(e *entry) tea.Cmd {
	switch {
	case len(m.staging.own) > 0:
		return m.copyStaged()
	case len(m.howToSet(e.v, present(e.v))) == 0:
		m.note("mpitx knows no way to set %s for a run", e.name)
		return nil
	case present(e.v).IsZero():
		m.edit.e, m.mode, m.Line = e, modeSet, prompt.Line{}
		m.validate()
		return nil
	}
	return m.copyLine(e, present(e.v))
}

// copyStaged copies the line that sets everything for the next run.
func (m *Model) copyStaged() tea.Cmd {
	how := m.howToSetAll()
	if len(how) == 0 {
		m.showError("no line sets all for the next run: %s", strings.Join(append(m.staging.left, "C shows why"), "; "))
		return nil
	}
	return m.toClipboard(how[0])
}

func (m *Model) howToSetAll() []string {
	if m.o.HowToSet == nil || len(m.staging.plan) == 0 {
		return nil
	}
	return m.o.HowToSet(m.staging.base, m.staging.plan)
}

func (m *Model) howToSet(v *catalog.Variable, value catalog.Value) []string {
	if m.o.HowToSet == nil || v.Kind != catalog.Cvars {
		return nil
	}
	return m.o.HowToSet(m.x.cat, m.complete([]Setting{{V: v, Value: value}}))
}

func (m *Model) copyLine(e *entry, value catalog.Value) tea.Cmd {
	how := m.howToSet(e.v, value)
	if len(how) == 0 {
		m.note("mpitx knows no way to set %s to %s", e.name, value)
		return nil
	}
	return m.toClipboard(how[0])
}

func (m *Model) typedValue() (catalog.Value, error) {
	return m.parse(m.edit.e.v, m.Line.String())
}
