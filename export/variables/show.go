package variables

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// ShowOptions are the options of Show.
type ShowOptions struct {
	Format   export.Format // "" is text
	Fields   []*Field
	Terminal export.Terminal
	// HowToSet returns the lines that set a control variable for the next run, in characters that the terminal can show; nil if
	// unknown.
	HowToSet func(*catalog.Variable) []string
	// Effect returns what is known about the effect of settings of a control variable.
	Effect func(*catalog.Variable) tuning.Effect
	// Enums returns the enumeration of a control variable, also one that the library only describes; nil: those of the catalog.
	Enums tuning.Enums
}

// Show writes everything about some variables, events and event sources of a catalog.
func Show(w io.Writer, c *catalog.Catalog, entries []catalog.Entry, opts ShowOptions) error {
	switch opts.Format {
	case export.FormatTable, "":
	case export.FormatWide:
		opts.Terminal.Width = 0
	case export.FormatJSON, export.FormatNDJSON:
		if opts.Fields == nil {
			return showData(w, c, entries, opts)
		}
		fallthrough
	default:
		return List(w, c.Select(entries), ListOptions{
			Format: opts.Format, Kinds: catalog.AllKinds &^ catalog.Groups, Fields: opts.Fields, Terminal: opts.Terminal,
		})
	}
	p := &page{out: bufio.NewWriter(w), term: opts.Terminal, c: c}
	for i, e := range entries {
		if i > 0 {
			p.line("", "")
		}
		switch e := e.(type) {
		case *catalog.Variable:
			p.variable(e, opts)
		case *catalog.Event:
			p.event(e)
		case *catalog.Source:
			p.source(e)
		}
	}
	return p.out.Flush()
}

// page writes the text about entries. The writer keeps its first error.
type page struct {
	out  *bufio.Writer
	term export.Terminal
	c    *catalog.Catalog
}

// labelWidth is the width of the column of labels.
const labelWidth = 14

func (p *page) variable(v *catalog.Variable, opts ShowOptions) {
	e := p.c.Enum(v.Enum)
	p.heading(v.Name)
	p.metadata(v)
	named := e
	if e == nil && opts.Enums != nil && v.Kind == catalog.Cvars {
		named = opts.Enums(v)
	}
	p.readings(v, named)
	p.setting(v, opts)
	var conflicts []string
	for _, x := range v.Conflicts {
		conflicts = append(conflicts, p.term.Safe(conflictText(x))+" (MPI-3.1, Table 14.1: it must be equal)")
	}
	p.several("conflict", conflicts)
	p.description(v.Description)
	if named != nil {
		p.items(v, named)
	}
}

func (p *page) metadata(v *catalog.Variable) {
	if v.Kind == catalog.Virtual {
		p.entry("kind", "performance variable of mpitx, available on any MPI")
	} else {
		p.entry("kind", v.Kind.Info().Name)
	}
	if v.Class != 0 {
		p.entry("class", worded(v.Class.String(), v.Class, classWords))
	}
	p.entry("type", p.typeText(v))
	if v.Scope != 0 {
		p.entry("scope", worded(v.Scope.String(), v.Scope, scopeWords))
	}
	if v.Verbosity != 0 {
		p.entry("verbosity", verbosityText(v.Verbosity))
	}
	if v.Bind != 0 {
		p.entry("binding", worded(v.Bind.String(), v.Bind, bindWords))
	}
	if v.Kind == catalog.Pvars {
		p.entry("flags", flagWords(v))
	}
	if v.Unit != "" {
		p.entry("unit", v.Unit)
	}
	if v.Kind == catalog.Virtual {
		p.entry("exists", "inside applications: mpitx sample --pvar "+v.Name+" -- ./app")
		return
	}
	p.entry("exists", stageWords(p.c, v))
	var paths []string
	for _, name := range v.Categories {
		paths = append(paths, p.term.Safe(p.path(name)))
	}
	p.several("category", paths)
}

func (p *page) typeText(v *catalog.Variable) string {
	s := numbered(v.Type)
	count := 0
	if r := v.Current(); r != nil {
		count = r.Count
	}
	switch {
	case v.Type.Form() == catalog.FormText && count > 1:
		s += fmt.Sprintf(", a string of at most %d bytes", count)
	case v.Type.Form() == catalog.FormText:
		s += ", a string"
	case count > 1:
		s += fmt.Sprintf(", %d elements", count)
	case v.Type != 0 && v.Type.Size() == 0:
		s += ", unknown to mpitx; values are hexadecimal"
	}
	if v.Enum != "" {
		s += ", of the enumeration " + p.term.Safe(v.Enum)
	}
	return s
}

func flagWords(v *catalog.Variable) string {
	pick := func(on bool, yes, no string) string {
		if on {
			return yes
		}
		return no
	}
	return pick(v.Readonly, "read-only", "can be written and reset") + ", " +
		pick(v.Continuous, "always running", "must be started") + ", " +
		pick(v.Atomic, "atomic read-and-reset", "no atomic read-and-reset")
}

// path returns a category with its parents: "btl > btl_tcp".
func (p *page) path(name string) string {
	parts := []string{name}
	seen := map[string]bool{name: true}
	for at := name; len(parts) < 16; {
		parent := ""
		for i := range p.c.Categories {
			g := &p.c.Categories[i]
			for _, sub := range g.Categories {
				if sub == at && !seen[g.Name] && parent == "" {
					parent = g.Name
				}
			}
		}
		if parent == "" {
			break
		}
		seen[parent] = true
		parts = append([]string{parent}, parts...)
		at = parent
	}
	return strings.Join(parts, " > ")
}

func (p *page) readings(v *catalog.Variable, e *catalog.Enum) {
	reading := func(r *catalog.Reading) string {
		s := p.term.Safe(ReadingText(r, e))
		if e != nil && r.Status == catalog.StatusOK {
			if n := r.Value.String(); p.term.Safe(n) != s {
				s += " (" + n + ")"
			}
		}
		if r.Status == catalog.StatusFaulty {
			return p.term.Paint(export.FaultyStyle, s)
		}
		return s
	}
	if v.Before != nil {
		p.entry("before init", reading(v.Before))
	}
	for _, n := range v.Nodes {
		p.entry("", fmt.Sprintf("on rank %d's node: %s", n.Rank, reading(&n.Reading)))
	}
	if !existsAfter(v) {
		return
	}
	groups := p.c.RankGroups(v)
	if len(groups) == 1 && v.After != nil {
		p.entry("after init", reading(v.After))
		return
	}
	var texts []string
	for _, g := range groups {
		texts = append(texts, text.Ranks(g.Ranks)+": "+reading(&g.Reading))
	}
	p.several("after init", texts)
}

func (p *page) setting(v *catalog.Variable, opts ShowOptions) {
	p.origins(v)
	if v.Kind != catalog.Cvars {
		return
	}
	asked, unused := false, ""
	if opts.Effect != nil {
		e := opts.Effect(v)
		asked, unused = e.Arrived != "", e.Written
		p.effect(e)
	}
	if opts.HowToSet != nil {
		for i, l := range opts.HowToSet(v) {
			label := ""
			if i == 0 {
				label = "to set it"
			}
			p.unwrapped(label, p.term.SafeCommand(l))
		}
	}
	if chooses := strings.TrimPrefix(v.Name, "MPIR_CVAR_"); strings.HasPrefix(v.Name, "coll_") && strings.HasSuffix(v.Name, "_algorithm") ||
		chooses != v.Name && !strings.HasPrefix(chooses, "I") && strings.HasSuffix(chooses, "_INTRA_ALGORITHM") {
		p.entry("what ran", "mpitx profile records which algorithm serves each call; mpitx report RUN algorithms shows it")
	}
	if r := v.Current(); r != nil && !asked && (r.Writable != catalog.WritableUnknown || r.Status == catalog.StatusOK && r.Reason != "") {
		label := "writable now"
		if v.After == nil {
			label = "writable"
		}
		if r.Writable == catalog.WritableUnknown {
			p.entry(label, "unknown: "+p.term.Safe(r.Reason))
			return
		}
		p.entry(label, either(writableWords[r.Writable], p.term.Safe(string(r.Writable))))
		if unused != "" {
			p.entry("if written", "no effect: "+unused)
		}
	}
}

// effect writes whether a setting arrived and is accepted, when the value is read, and what its effect depends on. Of a variable that
// the user set, it also says what is not known.
func (p *page) effect(e tuning.Effect) {
	asked := e.Arrived != ""
	switch e.Arrived {
	case tuning.Yes:
		p.entry("arrived", "yes: the library has this value")
	case tuning.No:
		p.entry("arrived", p.term.Paint(export.FaultyStyle, "no")+": the library has "+p.term.Safe(e.Have))
	case tuning.CannotTell:
		why := "not known"
		if e.Unreported != "" {
			why += ": " + e.Unreported
		}
		p.entry("arrived", why)
	}
	if asked {
		p.entry("accepted", e.AcceptedWords()+": "+p.term.Safe(e.Trial))
		if e.Written != "" {
			p.entry("if written", "no effect: "+e.Written)
		}
	}
	if e.Read != tuning.Unknown {
		p.entry("is read", e.Read.Words()+" ("+p.term.Safe(e.Why)+")")
	} else if asked {
		p.entry("is read", "not known")
	}
	for _, c := range e.Conditions {
		words := p.term.Safe(c.Advice()) + " (" + p.term.Safe(c.Source) + ")"
		switch c.Met {
		case tuning.Yes:
			words = "met: " + words
		case tuning.No:
			words = p.term.Paint(export.FaultyStyle, "not met") + ": " + words
		}
		p.entry("condition", words)
	}
	if asked && e.Unused {
		p.entry("condition", p.term.Paint(export.FaultyStyle, "not met")+": its component must be in use; MPI_Init unloaded it with "+text.Count(max(1, p.c.Job.Size), "rank"))
	} else if asked && len(e.Conditions) == 0 {
		p.entry("condition", "none known")
	}
}

// items lists an enumeration's items and marks the current one, or all current flags.
func (p *page) items(v *catalog.Variable, e *catalog.Enum) {
	title := "values of " + p.term.Safe(e.Name) + ":"
	switch {
	case e.Name == "":
		title = "values that the description names:"
	case e.Flags:
		title = "flags of " + p.term.Safe(e.Name) + ", which combine:"
	}
	p.line("", "")
	p.text("  ", "  ", title)
	digits := 0
	for _, it := range e.Items {
		digits = max(digits, len(strconv.Itoa(it.Value)))
	}
	for _, it := range e.Items {
		mark := "  "
		if current(v.Current(), e, it) {
			mark = currentSign(p.term) + " "
		}
		p.text("  "+mark, "      ", fmt.Sprintf("%*d  %s", digits, it.Value, p.term.Safe(it.Name)))
	}
}

func currentSign(t export.Terminal) string {
	if t.UTF8 {
		return "▸"
	}
	return ">"
}

// current reports whether a reading contains an item.
func current(r *catalog.Reading, e *catalog.Enum, it catalog.Item) bool {
	if r == nil || r.Status != catalog.StatusOK {
		return false
	}
	switch r.Value.Type().Form() {
	case catalog.FormSigned, catalog.FormUnsigned, catalog.FormBool:
	default:
		return false
	}
	for i := range r.Value.Len() {
		n := r.Value.Int(i)
		if n == int64(it.Value) {
			return true
		}
		if flag := int64(it.Value); e.Flags && flag != 0 && n&flag == flag {
			return true
		}
	}
	return false
}

// entry writes a label and a wrapped text next to it.
func (p *page) entry(label, text string) {
	if p.term.Width > 0 && p.term.Width < 2*labelWidth+8 { // too narrow for two columns
		if label != "" {
			p.line("  ", p.term.Paint(export.LabelStyle, p.term.Cut(label, max(p.term.Width-2, 1))))
		}
		p.text("    ", "    ", text)
		return
	}
	blank := strings.Repeat(" ", labelWidth+2)
	head := "  " + p.term.Paint(export.LabelStyle, label) + strings.Repeat(" ", labelWidth-len(label))
	p.text(head, blank, text)
}

// unwrapped writes a label and an unbroken line, for copying.
func (p *page) unwrapped(label, s string) {
	width := p.term.Width
	p.term.Width = 0
	p.entry(label, s)
	p.term.Width = width
}

// text writes a text wrapped to the terminal, with the prefix first on the first line and rest on the others.
func (p *page) text(first, rest, text string) {
	width := 0
	if p.term.Width > 0 {
		width = max(p.term.Width-max(export.Width(first), export.Width(rest)), 1)
	}
	for i, l := range export.Lines(text, width) {
		if i == 0 {
			p.line(first, l)
		} else {
			p.line(rest, l)
		}
	}
}

func (p *page) line(indent, s string) {
	p.out.WriteString(strings.TrimRight(indent+s, " ") + "\n")
}
