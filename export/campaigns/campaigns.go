// Package campaigns writes what mpitx tune found out: what was tried, what it changed, and what is recommended.
package campaigns

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
	"mpitx/tune"
	"mpitx/tune/campaign"
	"mpitx/tune/stats"
)

// Formats of the report.
var Formats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV, FormatMarkdown, FormatHTML}

// Formats for a document, and for a browser.
const (
	FormatMarkdown = export.Format("markdown")
	FormatHTML     = export.Format("html") // see package export/html
)

// Answer is a campaign with its result.
type Answer struct {
	Session  *tune.Session
	Dir      string           // of the campaign, as the user calls it
	Result   *campaign.Result // nil: only the candidates are known
	Overhead time.Duration    // of mpitx itself

	File  string   // of the settings that are recommended; "": none are
	Notes []string // about the file
}

// Recommended reports whether something is recommended.
func (a *Answer) Recommended() bool { return a.Result != nil && a.Result.Verdict == campaign.Faster }

// Settle writes the settings that are recommended into a file of the campaign's directory.
func (a *Answer) Settle(c *catalog.Catalog, judge *settings.Judge) error {
	form, name := a.form()
	var lines string
	if c != nil {
		var err error
		var all []settings.Assignment
		if all, err = judge.Assign(bare(c), settings.OfCvars(a.Result.Best.Set)); err == nil {
			var left []string
			lines, left, err = settings.Settings(judge.Impl, form, all, text.UTF8)
			a.Notes = append(a.Notes, left...)
		}
		if err != nil {
			return err
		}
	}
	lines += settings.BeyondLines(a.Session.Launcher(), form, a.Result.Best.Set)
	for _, s := range a.Result.Best.Set {
		if dir, err := filepath.Abs(a.Dir); err == nil && filepath.Dir(s.Value) == dir {
			a.Notes = append(a.Notes, "They name the file "+s.Value+", which has to stay there; mpitx tune --check reads it")
		}
	}
	a.File = filepath.Join(a.Dir, name)
	return os.WriteFile(a.File, []byte(lines), 0o666)
}

// form says in which form the settings are written, and the name of the file.
func (a *Answer) form() (form settings.Form, name string) {
	if a.Session.Family == machine.OpenMPI {
		return settings.File, "settings.conf"
	}
	return settings.Script, "settings.sh"
}

// bare is a catalog without who set what: the file is for runs without these settings.
func bare(c *catalog.Catalog) *catalog.Catalog {
	out := *c
	out.Cvars = slices.Clone(c.Cvars)
	for k := range out.Cvars {
		out.Cvars[k].Origin = nil
	}
	return &out
}

// percent is a change of time, from the logarithm of a ratio.
func percent(change float64) string { return fmt.Sprintf("%+.1f %%", 100*(math.Exp(change)-1)) }

func interval(i stats.Interval) string {
	if !i.Known {
		return ""
	}
	return percent(i.Low) + " to " + percent(i.High)
}

// rows are the candidates.
func (a *Answer) rows() *export.Rows {
	rows := &export.Rows{Schema: "mpitx.tune", Columns: []export.RowColumn{{Name: "settings", Header: "SETTINGS", MinWidth: 24}, {Name: "runs", Header: "RUNS", Right: true},
		{Name: "time_ns", Header: "TIME", Right: true}, {Name: "change", Header: "CHANGE", Right: true}, {Name: "low"}, {Name: "high"}, {Name: "outcome", Header: "OUTCOME", Below: true},
		{Name: "rule", Header: "RULE", Wide: true}, {Name: "reason", Header: "WHY", Wide: true, Below: true}, {Name: "set"}, {Name: "pairs_needed"}}}
	r := a.Result
	for k := range a.Session.Plan.Candidates {
		c := &a.Session.Plan.Candidates[k]
		row := []any{c.Name, nil, nil, nil, nil, nil, "", c.Rule, c.Reason, words(c.Set), nil}
		if r != nil {
			a.fill(row, k+1)
		}
		rows.Rows = append(rows.Rows, row)
	}
	for k := 0; r != nil && k < len(r.Combinations); k++ {
		arm, c := len(a.Session.Plan.Candidates)+k+1, &r.Combinations[k]
		if arm == r.BestArm() || r.Failure(arm) != "" {
			row := []any{c.Name, nil, nil, nil, nil, nil, "", c.Rule, c.Reason, words(c.Set), nil}
			a.fill(row, arm)
			rows.Rows = append(rows.Rows, row)
		}
	}
	rows.About = a.about()
	return rows
}

// words are settings; as a text they are words NAME=VALUE, as a shell reads them.
type words []settings.NameValue

func (all words) String() string {
	out := make([]string, len(all))
	for k, s := range all {
		out[k] = text.Quote(s.Name + "=" + s.Value)
	}
	return strings.Join(out, " ")
}

// fill says what the runs of an arm showed.
func (a *Answer) fill(row []any, arm int) {
	r := a.Result
	stages := []campaign.Stage{campaign.Screening, campaign.Combining}
	if r.Best != nil && arm == r.BestArm() {
		stages = []campaign.Stage{campaign.Confirming}
	}
	all := slices.DeleteFunc(r.Of(arm, stages...), func(o campaign.Outcome) bool { return o.Failed != "" })
	row[1] = len(r.Of(arm))
	if len(all) > 0 {
		row[2] = medianTime(all).Nanoseconds()
	}
	var t *campaign.Trial
	if arm <= len(r.Trials) {
		t = &r.Trials[arm-1]
	}
	switch {
	case r.Best != nil && arm == r.BestArm():
		row[3], row[4], row[5], row[6], row[10] = change(r.Interval.Change), change(r.Interval.Low), change(r.Interval.High), "compared in "+text.Count(r.Pairs, "new pair"), r.Needed
	case r.Failure(arm) != "":
		row[6] = r.Failure(arm)
	case t == nil:
	case t.Left:
		row[6] = fmt.Sprintf("not tried: the budget is enough for %d of %d", len(r.Trials)-left(r.Trials), len(r.Trials))
	case t.Pairs > 0:
		row[3], row[10] = change(t.Interval.Change), t.Needed
		if t.Interval.Known {
			row[4], row[5] = change(t.Interval.Low), change(t.Interval.High)
		}
		row[6] = "screened in " + text.Count(t.Pairs, "pair")
	}
}

func left(all []campaign.Trial) (n int) {
	for _, t := range all {
		if t.Left {
			n++
		}
	}
	return n
}

func change(x float64) float64 { return math.Exp(x) - 1 }

func medianTime(all []campaign.Outcome) time.Duration {
	times := make([]float64, len(all))
	for k, o := range all {
		times[k] = float64(o.Time)
	}
	return time.Duration(stats.Median(times))
}

func (a *Answer) about() []export.Member {
	all := []export.Member{{Name: "session", Value: a.Session}, {Name: "directory", Value: a.Dir}}
	if a.Result != nil {
		all = append(all, export.Member{Name: "result", Value: a.Result}, export.Member{Name: "runs", Value: len(a.Result.Outcomes)}, export.Member{Name: "took_ns", Value: a.Result.Took()}, export.Member{Name: "own_ns", Value: a.Overhead},
			export.Member{Name: "recommended", Value: a.Recommended()}, export.Member{Name: "settings_file", Value: a.File}, export.Member{Name: "algorithms", Value: a.algorithms()})
	}
	return all
}

// Served is what part of a function's calls an algorithm served, in percent.
type Served struct {
	What   string  `json:"what"` // "MPI_Bcast by tuned: binomial"
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// algorithms are those of the program as it was, and with what was compared last, if they differ.
func (a *Answer) algorithms() (all []Served) {
	r := a.Result
	if r.Best == nil {
		return nil
	}
	before, after := served(r.Of(0, campaign.Confirming)), served(r.Of(r.BestArm(), campaign.Confirming))
	if before == nil || after == nil {
		return nil
	}
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if math.Abs(before[name]-after[name]) >= 1 {
			all = append(all, Served{name, before[name], after[name]})
		}
	}
	return all
}

// served is the mean of what algorithms served in runs; nil: unknown in one.
func served(all []campaign.Outcome) map[string]float64 {
	sum := map[string]float64{}
	for _, o := range all {
		if len(o.Algorithms) == 0 {
			return nil
		}
		for name, share := range o.Algorithms {
			sum[name] += share / float64(len(all))
		}
	}
	return sum
}

// Write writes the report.
func (a *Answer) Write(w io.Writer, f export.Format, t export.Terminal) error {
	switch f {
	case export.FormatTable, export.FormatWide:
		return a.text(w, f, t)
	case FormatMarkdown:
		return a.markdown(w)
	}
	return a.rows().Write(w, f, t)
}

// Table is the table of candidates for people.
func (a *Answer) Table(t export.Terminal) *export.Rows {
	rows := a.rows()
	for _, row := range rows.Rows {
		if ns, ok := row[2].(int64); ok {
			row[2] = t.Units(text.Duration(time.Duration(ns)))
		}
		if x, ok := row[3].(float64); ok {
			row[3] = fmt.Sprintf("%+.1f %%", 100*x)
		}
		if n, ok := row[1].(int); ok && n == 0 {
			row[1] = ""
		}
	}
	return rows
}

// markdown is the report as a document.
func (a *Answer) markdown(w io.Writer) error {
	var b strings.Builder
	cell := func(x any) string {
		if x == nil {
			return ""
		}
		return strings.ReplaceAll(text.Safe(strings.Join(strings.Fields(fmt.Sprint(x)), " ")), "|", "\\|")
	}
	b.WriteString("# Settings for " + cell(filepath.Base(a.Session.App[0])) + "\n\n")
	for _, line := range a.Head() {
		b.WriteString(cell(line) + "\n\n")
	}
	if rows := a.Table(export.Terminal{UTF8: true}); len(rows.Rows) > 0 {
		b.WriteString("| settings | runs | time | change | outcome | why |\n|---|---:|---:|---:|---|---|\n")
		for _, row := range rows.Rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(row[0]), cell(row[1]), cell(row[2]), cell(row[3]), cell(row[6]), cell(row[8]))
		}
	}
	for _, paragraph := range a.Conclusion() {
		b.WriteString("\n")
		for _, line := range paragraph {
			b.WriteString(cell(line) + "\n\n")
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// text is the report for a terminal.
func (a *Answer) text(w io.Writer, f export.Format, t export.Terminal) error {
	say := func(words string) { fmt.Fprintln(w, export.Wrap(t.SafeText(words), t.Width)) }
	for _, line := range a.Head() {
		say(line)
	}
	fmt.Fprintln(w)
	if rows := a.Table(t); len(rows.Rows) > 0 {
		if err := rows.Write(w, f, t); err != nil {
			return err
		}
	}
	for _, paragraph := range a.Conclusion() {
		fmt.Fprintln(w)
		for _, line := range paragraph {
			say(line)
		}
	}
	return nil
}

// Head says what the campaign was about.
func (a *Answer) Head() (lines []string) {
	s := a.Session
	where := ""
	for _, n := range s.Nodes {
		where += ", " + text.Count(len(n.Ranks), "rank") + " on " + n.Host
		if n.Cores > 0 {
			where += " with " + text.Count(n.Cores, "core")
		}
	}
	lines = append(lines, a.app()+" with "+s.Library+where)
	if len(s.Plan.Candidates) == 0 {
		return append(lines, "No rule proposes a setting for what this run shows.")
	}
	if r := a.Result; r != nil {
		base, what := r.Of(0, campaign.Confirming), "the program takes"
		if len(base) == 0 {
			if base = r.Of(0); len(s.Kernel) > 0 {
				what = "its collectives take"
			}
		}
		lines = append(lines, fmt.Sprintf("%s in %s; as it is %s %s (median of %s)", text.Count(len(r.Outcomes), "run"), text.RoughDuration(r.Took()), what,
			text.Duration(medianTime(base)), text.Count(len(base), "run")))
		if differing := tune.Differing(slices.DeleteFunc(base, func(o campaign.Outcome) bool { return o.Calls == nil })); len(differing) > 0 {
			lines = append(lines, "The program's calls differ from run to run ("+strings.Join(differing[:min(len(differing), 3)], ", ")+" calls); its times are compared all the same.")
		}
		return lines
	}
	return append(lines, text.Count(len(s.Plan.Candidates), "candidate")+":")
}

// app is the application with its arguments, for a shell.
func (a *Answer) app() string {
	out := make([]string, len(a.Session.App))
	for k, word := range a.Session.App {
		out[k] = text.Quote(word)
	}
	return strings.Join(out, " ")
}

// Conclusion are paragraphs about what is recommended.
func (a *Answer) Conclusion() (all [][]string) {
	r := a.Result
	if r == nil {
		return nil
	}
	error := fmt.Sprintf("%.0f %%", 100*campaign.Level)
	switch {
	case r.Verdict == campaign.Faster:
		lines := []string{fmt.Sprintf("RECOMMENDED: %s: the program takes %.1f %% less time (%.1f to %.1f %%; %s; the campaign errs in at most %s of such cases)", r.Best.Name,
			-100*change(r.Interval.Change), -100*change(r.Interval.High), -100*change(r.Interval.Low), text.Count(r.Pairs, "new pair"), error)}
		for _, s := range a.algorithms() {
			lines = append(lines, fmt.Sprintf("%s: %.0f %% of the calls before, %.0f %% after", s.What, s.Before, s.After))
		}
		all = append(all, lines, a.install())
	case r.Verdict == campaign.Unknown:
		lines := []string{fmt.Sprintf("Nothing is recommended: %s changes the time by %s (%s), which may be none; %s.", r.Best.Name, percent(r.Interval.Change), interval(r.Interval), text.Count(r.Pairs, "new pair"))}
		if r.Needed > 0 {
			lines = append(lines, fmt.Sprintf("If that is its change, %s would show it in 4 of 5 campaigns.", text.Count(r.Needed, "pair")))
		}
		all = append(all, lines)
	case r.Verdict == campaign.Failed && slices.ContainsFunc(r.Outcomes, func(o campaign.Outcome) bool { return o.Stage == campaign.Confirming }):
		all = append(all, []string{"Nothing is recommended: what was to be compared with the program as it is failed."})
	case r.Verdict == campaign.Short:
		all = append(all, []string{"Nothing is recommended: the budget was used up before a comparison. To go on: mpitx tune --resume " + text.Quote(a.Dir) + " with a greater --budget or --runs"})
	case r.Verdict == campaign.Failed:
		all = append(all, []string{"Nothing is recommended: what was tried failed."})
	case r.Best != nil && r.Interval.Low > 0:
		all = append(all, []string{fmt.Sprintf("Nothing is recommended: the best candidate, %s, makes the program slower (%s; %s).", r.Best.Name, interval(r.Interval), text.Count(r.Pairs, "new pair"))})
	case r.Best != nil:
		all = append(all, []string{fmt.Sprintf("Nothing is recommended: the best candidate, %s, makes the program at most %.0f %% faster (%s; %s).", r.Best.Name, 100*campaign.Worth, interval(r.Interval), text.Count(r.Pairs, "new pair"))})
	case len(a.Session.Plan.Candidates) > 0:
		all = append(all, []string{"Nothing is recommended: no candidate was faster than the program as it is."})
	}
	if told := a.untold(); told != "" {
		all = append(all, []string{told})
	}
	if few := a.fewCores(); few != "" {
		all = append(all, []string{few})
	}
	return all
}

// untold says what the screening could not tell.
func (a *Answer) untold() string {
	var best *campaign.Trial
	for k := range a.Result.Trials {
		t := &a.Result.Trials[k]
		if t.Pairs > 1 && t.Interval.Change < 0 && t.Needed > 0 && (a.Result.Best == nil || a.Result.BestArm() != k+1) && (best == nil || t.Needed < best.Needed) {
			best = t
		}
	}
	if best == nil || a.Recommended() {
		return ""
	}
	return fmt.Sprintf("Screening concludes nothing: to tell whether %s, which seemed %s, has an effect would take about %s.", a.Session.Plan.Candidates[best.Candidate].Name, percent(best.Interval.Change), text.Count(best.Needed, "pair"))
}

// fewCores says that a machine shows the procedure rather than speed.
func (a *Answer) fewCores() string {
	for _, n := range a.Session.Nodes {
		if n.Cores > 0 && len(n.Ranks) > n.Cores {
			return fmt.Sprintf("%s has %s for %s: times there are about sharing cores. Run this where the application will run.", n.Host, text.Count(n.Cores, "core"), text.Count(len(n.Ranks), "rank"))
		}
	}
	if a.Session.Shortage != "" {
		return "The machine's cores were shared when the application was profiled: " + a.Session.Shortage + ". The times are about that, too: run this where the application will run, with nothing else there."
	}
	return ""
}

// install says how runs get the settings.
func (a *Answer) install() (lines []string) {
	file := text.Quote(a.File)
	app := a.app()
	lines = append(lines, fmt.Sprintf("The settings are in %s. For a run: mpitx run -n %d --settings %s -- %s", a.File, a.Session.Ranks, file, app))
	if a.Session.Family == machine.OpenMPI {
		lines = append(lines, "For all your runs: cat "+file+" >> ~/.openmpi/mca-params.conf", "For all runs of a site: add its lines to etc/openmpi-mca-params.conf of the installation")
		if names := a.Session.Hides(a.Result.Best.Set); len(names) > 0 {
			lines = append(lines, "These files have no effect while the environment sets the same, as it does here: unset "+strings.Join(names, " ")+", also in job scripts and startup files")
		}
	} else {
		lines = append(lines, "For runs from a shell or a job script: . ./"+strings.TrimPrefix(a.File, "./"), "For all runs of a site: add its lines to the module of the library")
	}
	form, _ := a.form()
	if words := settings.ByHand(a.Session.Launcher(), form, a.Result.Best.Set); words != "" {
		lines = append(lines, "The file cannot hold all of them: without mpitx, start the program with "+strings.TrimSuffix(words, " ./app"))
	}
	return append(lines, a.Notes...)
}

// Change is what the runs of a candidate showed, in percent of the program's time.
type Change struct {
	Name               string
	Percent, Low, High float64 // without an interval, the three are the same
	Compared           bool    // in new runs: it has an interval
}

// Changes are those of all candidates that ran, the greatest gain first.
func (a *Answer) Changes() (all []Change) {
	for _, row := range a.rows().Rows {
		x, ok := row[3].(float64)
		if !ok {
			continue
		}
		c := Change{Name: fmt.Sprint(row[0]), Percent: 100 * x, Low: 100 * x, High: 100 * x}
		if low, ok := row[4].(float64); ok && strings.HasPrefix(fmt.Sprint(row[6]), "compared") {
			c.Compared, c.Low, c.High = true, 100*low, 100*row[5].(float64)
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(x, y Change) int { return cmp.Compare(x.Percent, y.Percent) })
	return all
}
