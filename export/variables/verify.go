package variables

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mpitx/export"
	"mpitx/recording/experiment"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// Verified is what mpitx verify found out about settings.
type Verified struct {
	Settings      []VerifiedSetting
	Ran           string // the workload, or the application
	Ranks, Rounds int
	Experiments   []Experiment
}

// Experiment compares the runs without the settings with those with one of their values, of messages of one size.
type Experiment struct {
	Settings   string // NAME=VALUE; "": there is only one value
	Bytes      int64  // of the messages; 0: of several sizes
	Changes    []experiment.Change
	NoCores    string // in how many runs ranks had no core; "": in none
	Incomplete string // in how many runs ranks are incomplete; "": in none
	Same       bool   // the same algorithms served collective calls in all runs
}

// Changes are those of all experiments.
func (v *Verified) Changes() (all []experiment.Change) {
	for _, e := range v.Experiments {
		all = append(all, e.Changes...)
	}
	return all
}

// VerifiedSetting is a setting and what is known about its effect.
type VerifiedSetting struct {
	Name   string        `json:"name"`
	Value  string        `json:"value"`
	Effect tuning.Effect `json:"effect"`
	Same   bool          `json:"same,omitzero"`   // the library has the value without the setting, too
	Origin string        `json:"origin,omitzero"` // which has set it then
}

// lines says it for people.
func (s *VerifiedSetting) lines(ranks int) (lines []string) {
	switch s.Effect.Arrived {
	case tuning.Yes:
		lines = append(lines, "arrived: the library has this value")
	case tuning.CannotTell:
		lines = append(lines, "whether it arrived cannot be told")
	} // Effect.Lines names another value, and says why it cannot be told
	if s.Same {
		why := "it is the default"
		if s.Origin != "" {
			why = s.Origin + " sets it"
		}
		lines = append(lines, "THE SAME WITHOUT: the library has this value without the setting, too; "+why)
	}
	return append(lines, s.Effect.Lines(ranks)...)
}

// Write writes what is known, and what was measured.
func (v *Verified) Write(w io.Writer, f export.Format, t export.Terminal) error {
	people := f == export.FormatTable || f == export.FormatWide
	say := func(words string) { fmt.Fprintln(w, export.Wrap(words, t.Width)) }
	if people {
		for _, s := range v.Settings {
			fmt.Fprintf(w, "%s\n", t.Safe(s.Name+"="+s.Value))
			for _, line := range s.lines(v.Ranks) {
				say("  " + t.SafeText(line))
			}
		}
		say(fmt.Sprintf("\nMeasured: %d runs of %s without the settings and %d with them, alternating, %s", v.Rounds, t.Safe(v.Ran), v.Rounds, text.Count(v.Ranks, "rank")))
	}
	if !people {
		return v.rows(v.Experiments, people, t).Write(w, f, t)
	}
	for _, e := range v.Experiments {
		if title := e.title(); title != "" {
			say("\n" + t.Safe(title))
		}
		for _, words := range []string{e.NoCores, e.Incomplete} {
			if words != "" {
				say(words)
			}
		}
		if err := v.rows([]Experiment{e}, people, t).Write(w, f, t); err != nil {
			return err
		}
		say(verdict(e.Changes, e.Same))
	}
	return nil
}

// title names an experiment by what differs from the others.
func (e *Experiment) title() string {
	parts := []string{}
	if e.Settings != "" {
		parts = append(parts, e.Settings)
	}
	if e.Bytes > 0 {
		parts = append(parts, "messages of "+text.Count(e.Bytes, "byte"))
	}
	return strings.Join(parts, ", ")
}

// rows are the quantities with and without the settings.
func (v *Verified) rows(experiments []Experiment, people bool, t export.Terminal) *export.Rows {
	rows := &export.Rows{Schema: "mpitx.verify", Columns: []export.RowColumn{{Name: "what", Header: "WHAT"}, {Name: "unit"}, {Name: "without", Header: "WITHOUT", Right: true},
		{Name: "with", Header: "WITH", Right: true}, {Name: "change", Header: "CHANGE", Right: true}, {Name: "low"}, {Name: "high"},
		{Name: "interval", Header: "95 % INTERVAL", Below: true, Label: "95 % interval: "}, {Name: "changed"},
		{Name: "settings"}, {Name: "size"}}}
	percent := func(part float64) string { return fmt.Sprintf("%+.1f %%", 100*part) }
	about := map[string][]string{}
	for _, e := range experiments {
		for _, c := range e.Changes {
			without, with := c.Delta.Base.Median(), c.Delta.New.Median()
			row := []any{c.What, c.Unit, without, with, nil, nil, nil, "", c.Changed, e.Settings, nil}
			if e.Bytes > 0 {
				row[10] = e.Bytes
			}
			switch {
			case people:
				row[2], row[3] = t.Amount(without, c.Unit), t.Amount(with, c.Unit)
				if c.Known {
					row[4], row[7] = percent(c.By), percent(c.Low)+" to "+percent(c.High)
				} else if c.Changed {
					row[7] = "ranges do not overlap"
				}
			case c.Known:
				row[4], row[5], row[6] = c.By, c.Low, c.High
			}
			rows.Rows = append(rows.Rows, row)
		}
		for name, words := range map[string]string{"processor": e.NoCores, "incomplete": e.Incomplete} {
			if words != "" && !slices.Contains(about[name], words) {
				about[name] = append(about[name], words)
			}
		}
	}
	all := v.Changes()
	rows.About = []export.Member{{Name: "settings", Value: v.Settings}, {Name: "ran", Value: v.Ran}, {Name: "ranks", Value: v.Ranks}, {Name: "rounds", Value: v.Rounds},
		{Name: "changed", Value: slices.ContainsFunc(all, func(c experiment.Change) bool { return c.Changed })},
		{Name: "algorithms_changed", Value: slices.ContainsFunc(all, func(c experiment.Change) bool { return c.Algorithm })},
		{Name: "traffic_changed", Value: slices.ContainsFunc(all, func(c experiment.Change) bool { return c.Traffic })}}
	for _, name := range []string{"processor", "incomplete"} {
		if len(about[name]) > 0 {
			rows.About = append(rows.About, export.Member{Name: name, Value: strings.Join(about[name], " ")})
		}
	}
	return rows
}

// verdict says for people what the experiment showed.
func verdict(changes []experiment.Change, same bool) string {
	some, traffic, compared, unseen := false, false, false, 0.0
	for _, c := range changes {
		some, traffic, compared, unseen = some || c.Changed, traffic || c.Traffic, compared || c.Known, max(unseen, -c.Low, c.High)
	}
	text := "\n"
	if !traffic {
		text = "\nTraffic: calls send the same to the same peers. What the library sends by itself, as in collectives, is not seen.\n"
	}
	if same {
		text += "Algorithms: the same ones served the collective calls of all runs.\n"
	}
	switch {
	case some:
		return text + "Something measurable changed."
	case !compared:
		return text + "No time could be compared: no function was called in every run."
	case unseen > 1:
		return text + "Nothing measurable changed. The runs are too noisy: only a change by a factor of several would be detected."
	}
	return text + fmt.Sprintf("Nothing measurable changed. A change of up to %.0f %% would not be seen; more --rounds see smaller ones.", 100*unseen)
}
