package variables

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"mpitx/check"
	"mpitx/export"
	"mpitx/text"
)

// CheckFormats are the formats of mpitx check.
var CheckFormats = []export.Format{export.FormatTable, export.FormatJSON, FormatJUnit, FormatMarkdown}

// Formats for test reports, and for people.
const (
	FormatJUnit    export.Format = "junit"
	FormatMarkdown export.Format = "markdown"
)

// Check writes a report of mpitx check.
func Check(w io.Writer, r *check.Report, f export.Format, t export.Terminal) error {
	switch f {
	case export.FormatJSON:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	case FormatJUnit:
		return checkJUnit(w, r)
	case FormatMarkdown:
		return checkMarkdown(w, r)
	}
	return checkText(w, r, t)
}

// checkText is the report for people: the verdict, then the violations, and what is less.
func checkText(w io.Writer, r *check.Report, t export.Terminal) error {
	var b strings.Builder
	line := func(indent, words string) { fmt.Fprintln(&b, export.WrapAt(indent+words, t.Width, indent+"  ")) }
	verdict := export.WrapAt(fmt.Sprintf("%s, MPI %s: %s (%.1f s)", t.Safe(r.Library), r.Standard, summary(r), r.Seconds), t.Width, "  ")
	for _, s := range []check.Status{check.Violated, check.Hung, check.Crashed, check.Failed} {
		verdict = paintWord(t, verdict, string(s), statusStyle(s))
	}
	fmt.Fprintln(&b, verdict)
	if len(r.Known) > 0 {
		line("", "Left out: "+text.Count(len(r.Known), "violation")+" that the baseline has.")
	}
	for _, words := range baselineLimits(r) {
		line("", t.Safe(words))
	}
	fmt.Fprintln(&b)
	brokenText(&b, r, t)
	lesser := func(s check.Status, title string) {
		if r.Count(s) == 0 {
			return
		}
		fmt.Fprintln(&b, title)
		for _, one := range r.Results {
			if one.Status == s {
				why := one.Why
				if s == check.Unchecked {
					why = withWhy(fmt.Sprintf("%d of %d: %s", one.Bad, one.Items, firstGot(one)), one)
				}
				line("  ", one.Name+": "+t.Safe(why))
			}
		}
		fmt.Fprintln(&b)
	}
	lesser(check.Failed, "failed: could not be tested")
	lesser(check.Unchecked, "unchecked: not as documented, which the standard allows")
	if r.Count(check.NotApplicable) > 0 {
		fmt.Fprintln(&b, "not applicable")
		for _, words := range inapplicable(r) {
			line("  ", t.Safe(words))
		}
		fmt.Fprintln(&b)
	}
	if len(r.Features) > 0 {
		fmt.Fprintln(&b, "mpitx on this library")
		for _, f := range r.Features {
			fmt.Fprintln(&b, featureText(f, t))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// brokenText has a line for each broken rule, if there are several, and then their violations.
func brokenText(b *strings.Builder, r *check.Report, t export.Terminal) {
	var broken []*check.Result
	name := 0
	for _, one := range r.Results {
		if one.Status.Bad() {
			broken, name = append(broken, one), max(name, len(one.Name))
		}
	}
	if len(broken) > 1 {
		for _, one := range broken {
			text := fmt.Sprintf("%-8s  %-*s  %s", upperStatus(one.Status), name, one.Name, one.Promise)
			if t.Width > 0 {
				text = t.Cut(text, t.Width)
			}
			fmt.Fprintln(b, paintWord(t, text, upperStatus(one.Status), statusStyle(one.Status)))
		}
		fmt.Fprintln(b)
	}
	for _, one := range broken {
		violatedText(b, one, t)
	}
	if len(broken) > 0 {
		fmt.Fprint(b, export.WrapAt("mpitx check --reproduce RULE writes a C program that shows a violation.", t.Width, "  "), "\n\n")
	}
}

func upperStatus(s check.Status) string { return strings.ToUpper(string(s)) }

func statusStyle(s check.Status) lipgloss.Style {
	if s.Bad() {
		return export.FaultyStyle
	}
	return export.DiffersStyle
}

// paintWord styles the first occurrence of a word, after lines were wrapped.
func paintWord(t export.Terminal, text, word string, s lipgloss.Style) string {
	return strings.Replace(text, word, t.Paint(s, word), 1)
}

func featureText(f check.Feature, t export.Terminal) string {
	const indent = 31
	text := fmt.Sprintf("  %-28s %s", f.Name, f.State)
	style := map[string]lipgloss.Style{"works": export.SetStyle, "partly": export.DiffersStyle}[f.State]
	if f.State == "no" {
		style = export.GoneStyle
	}
	switch {
	case f.Why == "":
	case f.State == "works":
		text += "; " + t.Safe(f.Why)
	default:
		text += ": " + t.Safe(f.Why)
	}
	text = export.WrapAt(text, t.Width, strings.Repeat(" ", indent))
	if len(text) < indent { // a terminal that is narrower than the names
		return text
	}
	return text[:indent] + paintWord(t, text[indent:], f.State, style)
}

// inapplicable has a line for each cause why rules do not apply, with the rule or the number of rules.
func inapplicable(r *check.Report) (lines []string) {
	var causes []string
	rules := map[string][]string{}
	for _, one := range r.Results {
		if one.Status != check.NotApplicable {
			continue
		}
		if rules[one.Why] == nil {
			causes = append(causes, one.Why)
		}
		rules[one.Why] = append(rules[one.Why], one.Name)
	}
	for _, why := range causes {
		who := rules[why][0]
		if n := len(rules[why]); n > 1 {
			who = text.Count(n, "rule")
		}
		lines = append(lines, who+": "+why)
	}
	return lines
}

// baselineLimits says where a comparison with a baseline is not one of the same rules and the same library.
func baselineLimits(r *check.Report) (lines []string) {
	if r.Baseline != "" && r.Baseline != r.Library {
		lines = append(lines, "The baseline is of "+r.Baseline+".")
	}
	if n := len(r.Gone); n > 0 {
		lines = append(lines, text.Count(n, "violation")+" of the baseline did not happen: "+check.Some(r.Gone, 3)+". To renew the baseline: mpitx check -o json > FILE")
	}
	if len(r.Untested) > 0 {
		lines = append(lines, "The baseline has no result of "+check.Some(r.Untested, 6)+": all their violations count as new.")
	}
	return lines
}

// withWhy adds why not all items of a rule were tested.
func withWhy(text string, one *check.Result) string {
	if one.Why == "" {
		return text
	}
	return text + "; " + one.Why
}

func firstGot(one *check.Result) string {
	if len(one.Violations) == 0 {
		return ""
	}
	v := one.Violations[0]
	return v.Item + ": " + v.Got
}

// summary counts the rules by status.
func summary(r *check.Report) string {
	var parts []string
	for _, s := range []check.Status{check.Passed, check.Known, check.Violated, check.Crashed, check.Hung, check.Unchecked, check.NotApplicable, check.Failed} {
		if n := r.Count(s); n > 0 || s == check.Passed {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return text.Count(len(r.Results), "rule") + ": " + strings.Join(parts, ", ")
}

func violatedText(b *strings.Builder, one *check.Result, t export.Terminal) {
	line := func(indent, text string) { fmt.Fprintln(b, export.WrapAt(indent+text, t.Width, indent+"  ")) }
	heading := export.WrapAt(fmt.Sprintf("%s: %s (%s)", upperStatus(one.Status), one.Name, one.Section), t.Width, "  ")
	fmt.Fprintln(b, paintWord(t, heading, upperStatus(one.Status), statusStyle(one.Status)))
	line("  ", one.Promise)
	if one.Bad > 1 {
		line("  ", t.Safe(withWhy(fmt.Sprintf("%d of %d: %s", one.Bad, one.Items, check.Some(one.BadItems, 6)), one)))
	}
	if len(one.Violations) > 0 {
		v := one.Violations[0]
		field := func(label, text, indent string) {
			fmt.Fprintln(b, export.WrapAt(fmt.Sprintf("  %-10s%s", label, t.Safe(text)), t.Width, strings.Repeat(" ", 12)+indent))
		}
		field("item", v.Item, "")
		label := "called"
		for _, c := range lastCalls(v.Called, 6) {
			field(label, c, "  ")
			label = ""
		}
		field("expected", v.Expected, "")
		field("got", v.Got, "")
	}
	fmt.Fprintln(b)
}

// lastCalls are the last n calls, after a line that counts those before.
func lastCalls(all []string, n int) []string {
	before := len(all) - n
	if before <= 1 { // the line would take as much room
		return all
	}
	return slices.Concat([]string{fmt.Sprintf("… %d earlier calls", before)}, all[before:])
}

// checkMarkdown is a table of all rules, and a section for each violated one.
func checkMarkdown(w io.Writer, r *check.Report) error {
	var b strings.Builder
	cell := func(s string) string {
		return strings.ReplaceAll(text.Safe(strings.Join(strings.Fields(s), " ")), "|", "\\|")
	}
	fmt.Fprintf(&b, "# %s, MPI %s\n\n%s.\n\n", cell(r.Library), r.Standard, summary(r))
	for _, words := range baselineLimits(r) {
		fmt.Fprintf(&b, "%s\n\n", cell(words))
	}
	fmt.Fprint(&b, "| rule | standard | result | items | what came back |\n|---|---|---|---:|---|\n")
	for _, one := range r.Results {
		words := one.Why
		if len(one.Violations) > 0 {
			words = firstGot(one)
			if one.Bad > 1 {
				words = withWhy(fmt.Sprintf("%d items; %s", one.Bad, words), one)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %s |\n", one.Name, one.Section, one.Status, one.Items, cell(words))
	}
	for _, one := range r.Results {
		if !one.Status.Bad() || len(one.Violations) == 0 {
			continue
		}
		v := one.Violations[0]
		var called []string
		for _, c := range lastCalls(v.Called, 8) {
			called = append(called, strings.ReplaceAll(text.Safe(c), "```", "'''"))
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nBroken by: %s.\n\n```c\n%s\n```\n\nExpected: %s. Got: %s.\n", one.Name, one.Promise,
			cell(check.Some(one.BadItems, 10)), strings.Join(called, "\n"), cell(v.Expected), cell(v.Got))
	}
	if len(r.Features) > 0 {
		b.WriteString("\n## mpitx on this library\n\n| feature | works | why |\n|---|---|---|\n")
		for _, f := range r.Features {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", f.Name, f.State, cell(f.Why))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Out      string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *junitText `xml:"skipped"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// checkJUnit is a test suite: violations are failures, crashes and hangs are errors.
func checkJUnit(w io.Writer, r *check.Report) error {
	s := junitSuite{Name: "mpitx check: " + r.Library, Tests: len(r.Results), Time: fmt.Sprintf("%.3f", r.Seconds), Out: strings.Join(baselineLimits(r), "\n")}
	for _, one := range r.Results {
		c := junitCase{Name: one.Name, Class: "mpitx.check." + one.Subject, Time: fmt.Sprintf("%.3f", one.Seconds)}
		var text strings.Builder
		fmt.Fprintf(&text, "%s (%s)\n", one.Promise, one.Section)
		for _, v := range one.Violations {
			fmt.Fprintf(&text, "%s: %s\n  expected: %s\n  got: %s\n", v.Item, strings.Join(v.Called, "; "), v.Expected, v.Got)
		}
		message := fmt.Sprintf("%s: %d of %d items", one.Status, one.Bad, one.Items)
		if one.Status == check.Unchecked {
			message += ", which the standard allows"
		}
		message = withWhy(message, one)
		switch one.Status {
		case check.Violated:
			c.Failure, s.Failures = &junitText{message, text.String()}, s.Failures+1
		case check.Crashed, check.Hung:
			c.Error, s.Errors = &junitText{message, text.String()}, s.Errors+1
		case check.Failed:
			c.Error, s.Errors = &junitText{Message: one.Why}, s.Errors+1
		case check.NotApplicable:
			c.Skipped, s.Skipped = &junitText{Message: one.Why}, s.Skipped+1
		case check.Known:
			c.Out = one.Why
		case check.Unchecked:
			c.Out = message + "\n" + text.String()
		}
		s.Cases = append(s.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// CheckRules lists rules, without a test.
func CheckRules(w io.Writer, chosen []check.Rule, f export.Format, term export.Terminal) error {
	r := &check.Report{Schema: check.Schema, Version: check.Version}
	if f == export.FormatTable {
		subject := ""
		for _, rule := range chosen {
			if rule.Subject != subject {
				if subject != "" {
					fmt.Fprintln(w)
				}
				subject = rule.Subject
				fmt.Fprintln(w, term.Heading(subject))
			}
			fmt.Fprintln(w, export.WrapLine(fmt.Sprintf("  %-24s %s (%s)", rule.Name, rule.Promise, rule.Section), term.Width, strings.Repeat(" ", 27)))
		}
		return nil
	}
	for _, rule := range chosen {
		r.Results = append(r.Results, &check.Result{Rule: rule, Status: check.NotApplicable, Why: "listed, not tested"})
	}
	return Check(w, r, f, term)
}
