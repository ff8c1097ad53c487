package runs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"mpitx/export"
	"mpitx/settings"
	"mpitx/text"
	"mpitx/tune/advice"
	"mpitx/tune/campaign"
	"mpitx/tune/placement"
)

// Advice is what may make the program of a run faster.
type Advice struct {
	Subject   *advice.Subject
	Proposals []advice.Proposal
	Run       string   // as the user calls it
	Program   []string // the words that started it; nil: unknown
}

// Formats of a placement of ranks, for launchers.
const (
	FormatRankfile = export.Format(advice.FormRankfile)
	FormatHosts    = export.Format(advice.FormHosts)
	FormatRankmap  = export.Format(advice.FormRankmap)
)

// Places are the formats of a placement of ranks.
var Places = []export.Format{FormatRankfile, FormatHosts, FormatRankmap}

// Write writes the advice.
func (a *Advice) Write(w io.Writer, f export.Format, t export.Terminal) error {
	if slices.Contains(Places, f) {
		return a.placement(w, f)
	}
	if f != export.FormatTable && f != export.FormatWide {
		return a.Rows().Write(w, f, t)
	}
	var b bytes.Buffer
	n := 0
	for _, same := range a.entries() {
		n++
		p := same[0]
		start := fmt.Sprintf("%d. ", n)
		t.Hanging(&b, start, p.Text)
		line := func(words string) { t.Hanging(&b, strings.Repeat(" ", len(start)), words) }
		line("Share of the run time: " + text.RoughPercent(p.Share) + ".")
		for _, words := range a.try(same) {
			line("Try " + words + ".")
		}
		if f == export.FormatWide {
			for _, words := range about(same) {
				line(words)
			}
		}
		if next := a.next(p); next != "" {
			line("Next: " + next)
		}
	}
	if n == 0 {
		b.WriteString("No rule has advice for this run.\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// entries are the useful proposals. Those that say the same are one entry.
func (a *Advice) entries() (all [][]*advice.Proposal) {
	for k := range a.Proposals {
		p := &a.Proposals[k]
		if !a.useful(p) {
			continue
		}
		at := slices.IndexFunc(all, func(same []*advice.Proposal) bool { return same[0].Text == p.Text && a.next(same[0]) == a.next(p) })
		if at < 0 {
			at = len(all)
			all = append(all, nil)
		}
		all[at] = append(all[at], p)
	}
	return all
}

// about are what was left out, when the rules of an entry are wrong, and their sources.
func about(same []*advice.Proposal) (lines []string) {
	for _, p := range same {
		for _, left := range p.Left {
			lines = append(lines, "Left out: "+left+".")
		}
	}
	for _, p := range same {
		lines = append(lines, "Wrong if: "+p.Rule.Wrong+".")
	}
	for _, p := range same {
		lines = append(lines, "Source: "+p.Rule.Source+".")
	}
	return slices.Compact(lines)
}

// Launch says how the program's launcher reads a placement.
func (a *Advice) Launch(form export.Format, file string) string {
	options, but := advice.Launch(a.Subject.Profile.Run.Ranks[0].Library, string(form), text.Quote(file))
	return strings.TrimSuffix(fmt.Sprintf("mpirun -n %d %s %s; %s", len(a.Subject.Profile.Ranks), options, a.program(), but), "; ")
}

// placement writes a better placement of the ranks, which there is.
func (a *Advice) placement(w io.Writer, f export.Format) error {
	better, _, _ := a.Subject.Placement()
	about := fmt.Sprintf("%s: %d of %d bytes of messages crossed nodes; with this placement, %d would", text.Safe(a.Run), better.Now.Bytes, better.All.Bytes, better.Then.Bytes)
	switch f {
	case FormatHosts:
		return placement.Hosts(w, better.Hosts, about)
	case FormatRankmap:
		return placement.Rankmap(w, better.Hosts)
	}
	return placement.Rankfile(w, better.Hosts, about)
}

// useful reports whether a proposal says what to try or where to look: its candidates may be those of another one.
func (a *Advice) useful(p *advice.Proposal) bool {
	return len(p.Try) > 0 || p.Look != "" || a.Subject.Catalog == nil
}

// try are the candidates of an entry: the values of each variable, or several settings together.
func (a *Advice) try(same []*advice.Proposal) (lines []string) {
	var variables []string
	values := map[string][]string{}
	var all []campaign.Candidate
	for _, p := range same {
		all = append(all, p.Try...)
	}
	for _, c := range all {
		name, value, _ := strings.Cut(c.Name, "=")
		if strings.Contains(value, "=") {
			name, value = c.Name, ""
		}
		if !slices.Contains(variables, name) {
			variables = append(variables, name)
		}
		if value == "" && name != c.Name {
			value = `""`
		}
		values[name] = append(values[name], value)
	}
	for _, name := range variables {
		switch now := a.now(name); {
		case strings.Contains(name, "="):
			lines = append(lines, name)
		case now == "":
			lines = append(lines, name+": "+strings.Join(values[name], " | "))
		default:
			lines = append(lines, fmt.Sprintf("%s (now %s): %s", name, now, strings.Join(values[name], " | ")))
		}
	}
	return lines
}

func (a *Advice) now(name string) string { return export.OneLine(a.Subject.Now(name)) }

// next is the command that says more about a proposal.
func (a *Advice) next(p *advice.Proposal) string {
	if len(p.Try) == 0 {
		return strings.ReplaceAll(p.Look, " RUN", " "+a.Run)
	}
	only := p.Rule.Name
	if strings.HasPrefix(p.Subject, "MPI_") || settings.IsEnvironment(p.Subject) || a.Subject.Catalog.Cvar(p.Subject) != nil {
		only = p.Subject
	}
	return fmt.Sprintf("mpitx tune --only %s -n %d -- %s", text.Quote(only), max(len(a.Subject.Profile.Ranks), 1), a.program())
}

func (a *Advice) program() string {
	words := a.Program
	if words == nil {
		return "./app …"
	}
	quoted := make([]string, len(words))
	for k, word := range words {
		quoted[k] = text.Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Rows has a row for each candidate, and for each proposal without one.
func (a *Advice) Rows() *export.Rows {
	r := export.RowsOf("mpitx.advice", "rule subject share text settings present wrong source look next")
	for k := range a.Proposals {
		p := &a.Proposals[k]
		add := func(set, present any) {
			r.Rows = append(r.Rows, []any{p.Rule.Name, p.Subject, p.Share, p.Text, set, present, p.Rule.Wrong, p.Rule.Source, strings.ReplaceAll(p.Look, " RUN", " "+a.Run), a.next(p)})
		}
		for _, c := range p.Try {
			add(a.settings(c))
		}
		if len(p.Try) == 0 && a.useful(p) {
			add(nil, nil)
		}
	}
	return r
}

// settings are the settings of a candidate with what they need, and the values that the variables have.
func (a *Advice) settings(c campaign.Candidate) (set, present string) {
	var sets, presents []string
	for _, s := range c.Set {
		sets = append(sets, s.Name+"="+s.Value)
		presents = append(presents, s.Name+"="+a.now(s.Name))
	}
	return strings.Join(sets, " "), strings.Join(presents, " ")
}
