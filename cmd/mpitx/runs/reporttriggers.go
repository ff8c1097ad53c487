package runs

import (
	"cmp"
	"io"
	"slices"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/sites"
	"mpitx/recording/trigger"
	"mpitx/text"
)

// showTriggers shows what the triggers of a run found.
func showTriggers(r *reading) error {
	all := sites.Triggers(r.run)
	if len(all) == 0 {
		return cli.Lacks(r.run, r.dir, "triggers", "record some with mpitx run --when CONDITION -- ./app")
	}
	part := r.options()
	if part.To > part.From || len(r.Cut.Functions) > 0 {
		r.App.Complain("%s: how often conditions became true is said of the whole run; --function, --from and --to choose the events below", text.Quote(r.dir))
	}
	for _, t := range all {
		t.Ranks = slices.DeleteFunc(t.Ranks, func(of trigger.RankTotals) bool { return !r.part.Has(of.Rank) })
		t.Totals = trigger.Totals{}
		for _, of := range t.Ranks {
			t.Totals.Add(of.Totals)
		}
		t.Events = slices.DeleteFunc(t.Events, func(e trigger.Event) bool {
			return !r.part.Has(e.Rank) || part.To > part.From && (e.Time < part.From || e.Time >= part.To) || !r.Cut.Function(e.Function)
		})
	}
	err := r.rows(func() *export.Rows { return runs.TriggerRows(all) },
		func(w io.Writer, t export.Terminal) error { return runs.Triggers(w, all, r.Form(), 0, "", t) })
	return cmp.Or(err, cli.Partial(r.App, r.run))
}
