package variables

import (
	"fmt"
	"io"
	"slices"

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
	Changes       []experiment.Change
	NoCores       string // in how many runs ranks had no core; "": in none
	Incomplete    string // in how many runs ranks are incomplete; "": in none
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
		for _, words := range []string{v.NoCores, v.Incomplete} {
			if words != "" {
				say(words)
			}
		}
	}
	if err := v.rows(people, t).Write(w, f, t); err != nil || !people {
		return err
	}
	_, err := fmt.Fprintln(w, export.Wrap(verdict(v.Changes), t.Width))
	return err
}

// rows are the quantities with and without the settings.
func (v *Verified) rows(people bool, t export.Terminal) *export.Rows {
	rows := &export.Rows{Schema: "mpitx.verify", Columns: []export.RowColumn{{Name: "what", Header: "WHAT"}, {Name: "unit"}, {Name: "without", Header: "WITHOUT", Right: true},
		{Name: "with", Header: "WITH", Right: true}, {Name: "change", Header: "CHANGE", Right: true}, {Name: "low"}, {Name: "high"},
		{Name: "interval", Header: "95 % INTERVAL", Below: true, Label: "95 % interval: "}, {Name: "changed"}}}
	percent := func(part float64) string { return fmt.Sprintf("%+.1f %%", 100*part) }
	for _, c := range v.Changes {
		without, with := c.Delta.Base.Median(), c.Delta.New.Median()
		row := []any{c.What, c.Unit, without, with, nil, nil, nil, "", c.Changed}
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
	rows.About = []export.Member{{Name: "settings", Value: v.Settings}, {Name: "ran", Value: v.Ran}, {Name: "ranks", Value: v.Ranks}, {Name: "rounds", Value: v.Rounds},
		{Name: "changed", Value: slices.ContainsFunc(v.Changes, func(c experiment.Change) bool { return c.Changed })},
		{Name: "traffic_changed", Value: slices.ContainsFunc(v.Changes, func(c experiment.Change) bool { return c.Traffic })}}
	if v.NoCores != "" {
		rows.About = append(rows.About, export.Member{Name: "processor", Value: v.NoCores})
	}
	if v.Incomplete != "" {
		rows.About = append(rows.About, export.Member{Name: "incomplete", Value: v.Incomplete})
	}
	return rows
}

// verdict says for people what the experiment showed.
func verdict(changes []experiment.Change) string {
	some, traffic, compared, unseen := false, false, false, 0.0
	for _, c := range changes {
		some, traffic, compared, unseen = some || c.Changed, traffic || c.Traffic, compared || c.Known, max(unseen, -c.Low, c.High)
	}
	text := "\n"
	if !traffic {
		text = "\nTraffic: calls send the same to the same peers. What the library sends by itself, as in collectives, is not seen.\n"
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
