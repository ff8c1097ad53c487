package variables

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/export"
	"mpitx/text"
)

// importantWeight is the weight from which a change is in the first section, and mostImportant how many are there.
const (
	importantWeight = 70
	mostImportant   = 25
)

// diffMarkdown writes release notes.
func diffMarkdown(w io.Writer, d *diff.Diff, t export.Terminal) error {
	m := &markdown{diff: d, term: t}
	a, b := &d.Sides[0], &d.Sides[1]
	x, y := diff.LibraryName(&a.Library), diff.LibraryName(&b.Library)
	if x == y {
		x, y = a.Name, b.Name
	}
	m.line("# What changed from %s to %s", m.text(x), m.text(y))
	m.line("\n- A: %s\n- B: %s", m.text(sideLine(a)), m.text(sideLine(b)))
	if len(d.Library) > 0 {
		m.line("- Different: %s", m.text(libraryChanges(d)))
	}
	for _, n := range d.Notes {
		m.line("\n> %s.", m.text(n))
	}
	m.line("\n%s", diffCounts(d))
	m.important()
	m.renamed()
	m.changed("Changed defaults", "default", nil)
	m.changed("Changed settings", "value", func(it *diff.Item) bool { return it.Set() })
	m.changed("Changed values that nobody set", "value", func(it *diff.Item) bool { return !it.Set() })
	m.others()
	m.alone("New", diff.Appeared)
	m.alone("Removed", diff.Vanished)
	_, err := w.Write(m.b.Bytes())
	return err
}

type markdown struct {
	b    bytes.Buffer
	diff *diff.Diff
	term export.Terminal
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

// text escapes what Markdown would take for markup.
func (m *markdown) text(s string) string {
	return markdownText.Replace(m.term.Safe(export.OneLine(s)))
}

var markdownText = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "|", `\|`, "<", `\<`, "[", `\[`, "#", `\#`)

// code is a text as code, also in a table.
func (m *markdown) code(s string) string {
	s = m.term.Safe(export.OneLine(diff.ValueText(s)))
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

func (m *markdown) items(chosen func(*diff.Item) bool) (some []*diff.Item) {
	for i := range m.diff.Items {
		if it := &m.diff.Items[i]; chosen(it) {
			some = append(some, it)
		}
	}
	return some
}

// important has the changes that matter most for speed.
func (m *markdown) important() {
	some := m.items(func(it *diff.Item) bool { return it.Weight >= importantWeight })
	if len(some) == 0 {
		return
	}
	m.line("\n## Most likely to change speed\n")
	for _, it := range some[:min(len(some), mostImportant)] {
		m.line("- %s (%s)", m.sentence(it), m.text(it.Reason))
	}
	if n := len(some) - mostImportant; n > 0 {
		m.line("- and %s below", text.Count(n, "other"))
	}
}

// sentence says what happened to an entry.
func (m *markdown) sentence(it *diff.Item) string {
	name := m.code(it.Name)
	switch it.Change {
	case diff.Appeared:
		text := "New: " + name
		if it.Value != "" {
			text += ", " + m.code(it.Value)
		}
		for _, f := range it.Fields {
			text += ", also known as " + m.code(f.A+f.B)
		}
		return text
	case diff.Vanished:
		return "Removed: " + name
	case diff.Renamed:
		name = fmt.Sprintf("Renamed: %s → %s", name, m.code(it.NewName))
	}
	var parts []string
	for _, f := range it.Fields {
		parts = append(parts, m.fieldText(f))
	}
	if len(parts) == 0 {
		return name
	}
	return name + ": " + strings.Join(parts, "; ")
}

// fieldText is a field's change: "default `0` → `35`".
func (m *markdown) fieldText(f diff.Field) string {
	switch {
	case f.Name == "description":
		return "description reworded"
	case diff.IsList(f.Name) && f.A == "":
		return fmt.Sprintf("%s: new %s", f.Name, m.code(f.B))
	case diff.IsList(f.Name) && f.B == "":
		return fmt.Sprintf("%s: without %s", f.Name, m.code(f.A))
	}
	return fmt.Sprintf("%s %s → %s", f.Name, m.code(f.A), m.code(f.B))
}

func (m *markdown) renamed() {
	some := m.items(func(it *diff.Item) bool { return it.Change == diff.Renamed })
	if len(some) == 0 {
		return
	}
	m.line("\n## Renamed\n\n| A | B | likely | also |\n|---|---|---|---|")
	for _, it := range some {
		m.line("| %s | %s | %s | %s |", m.code(it.Name), m.code(it.NewName), confidenceText(it), strings.Join(export.Mapped(it.Fields, m.fieldText), "; "))
	}
}

// changed writes a table of the variables whose field changed. some limits it to these items; nil means all.
func (m *markdown) changed(title, field string, among func(*diff.Item) bool) {
	some := m.items(func(it *diff.Item) bool {
		return it.Change == diff.Changed && it.Is(field) && (among == nil || among(it))
	})
	if len(some) == 0 {
		return
	}
	m.line("\n## %s\n\n| variable | A | B |\n|---|---|---|", title)
	for _, it := range some {
		for _, f := range it.Fields {
			if f.Name == field {
				m.line("| %s | %s | %s |", m.code(it.Name), m.code(f.A), m.code(f.B))
			}
		}
	}
}

// others has the other changes of fields.
func (m *markdown) others() {
	title := "\n## Other changes\n"
	for _, it := range m.items(func(it *diff.Item) bool { return it.Change == diff.Changed }) {
		var parts []string
		for _, f := range it.Fields {
			if f.Name != "default" && f.Name != "value" {
				parts = append(parts, m.fieldText(f))
			}
		}
		if len(parts) == 0 {
			continue
		}
		if title != "" {
			m.line("%s", title)
			title = ""
		}
		m.line("- %s: %s", m.entry(it), strings.Join(parts, "; "))
	}
}

// entry names an entry, with its kind if it is not a control variable.
func (m *markdown) entry(it *diff.Item) string {
	if it.Kind == catalog.Cvars {
		return m.code(it.Name)
	}
	return it.Kind.Info().Name + " " + m.code(it.Name)
}

// alone lists what only one side has, by kind and the first words of the names.
func (m *markdown) alone(title string, change diff.Change) {
	some := m.items(func(it *diff.Item) bool { return it.Change == change })
	if len(some) == 0 {
		return
	}
	m.line("\n## %s", title)
	for _, k := range diffKinds {
		groups := map[string][]string{}
		n := 0
		for _, it := range some {
			if it.Kind == k.Kind {
				group := component(it.Name)
				name := m.code(it.Name)
				for _, f := range it.Fields {
					name += fmt.Sprintf(" (also known as %s)", m.code(f.A+f.B))
				}
				groups[group] = append(groups[group], name)
				n++
			}
		}
		if n == 0 {
			continue
		}
		m.line("\n### %s (%d)\n", k.Title, n)
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			names := groups[group]
			slices.Sort(names)
			m.line("- %s (%d): %s", m.text(group), len(names), strings.Join(names, ", "))
		}
	}
}

// diffKinds are the kinds of items.
var diffKinds = append(slices.Collect(catalog.AllKinds.Table()), catalog.Outside.Info())

// component is the first two words of a name, which Open MPI's variables share with their component, or MPICH's third.
func component(name string) string {
	if rest, ok := strings.CutPrefix(name, "MPIR_CVAR_"); ok {
		first, _, _ := strings.Cut(rest, "_")
		return "MPIR_CVAR_" + first
	}
	words := strings.SplitN(name, "_", 3)
	return strings.Join(words[:min(2, len(words))], "_")
}
