package runs

import (
	"cmp"
	"io"
	"slices"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/export/variables"
	"mpitx/recording/columns"
	"mpitx/recording/trace"
	"mpitx/settings"
	"mpitx/text"
)

// showEvents shows how often the events of MPI_T and PERUSE were raised.
func showEvents(r *reading) error {
	name := text.Quote(r.dir)
	o := r.options()
	var all []trace.EventTotal
	if trace.Has(r.run) {
		all = trace.EventTotals(r.run, trace.Options{From: o.From, To: o.To, Rank: o.Rank})
	}
	if len(all) == 0 && len(trace.Asked(r.run)) == 0 {
		return cli.Lacks(r.run, r.dir, "events", "record some with mpitx trace --event GLOB -- ./app, which also derives them from calls")
	}
	for _, glob := range r.Globs {
		if !slices.ContainsFunc(all, func(e trace.EventTotal) bool { return glob.MatchName(e.Name) }) {
			return cli.Failf("%s: no such event was raised%s", text.Quote(glob.Text), settings.EventHints(namesOf(all), glob.Text))
		}
	}
	all = slices.DeleteFunc(all, func(e trace.EventTotal) bool {
		return len(r.Globs) > 0 && !slices.ContainsFunc(r.Globs, func(g *columns.Glob) bool { return g.MatchName(e.Name) })
	})
	if len(all) == 0 {
		r.App.Complain("%s: none of the events that --event asked for was raised, or none in this part", name)
	}
	rows := func(people bool) *export.Rows { return variables.EventTotals(all, people, r.term) }
	err := r.rows(func() *export.Rows { return rows(false) },
		func(w io.Writer, t export.Terminal) error {
			if people := !rowFormat(r.Form()); !people || len(all) > 0 { // a message says why there are none
				return rows(people).Write(w, r.Form(), t)
			}
			return nil
		})
	for _, line := range runs.GapLines(r.run, trace.EventGaps(r.run, o.Rank), nil) {
		r.App.Complain("%s: %s", name, line)
	}
	return cmp.Or(err, cli.Partial(r.App, r.run))
}

func namesOf(all []trace.EventTotal) (names []string) {
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}
