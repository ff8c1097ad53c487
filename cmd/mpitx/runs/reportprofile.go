package runs

import (
	"cmp"
	"io"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/recording/network"
	"mpitx/recording/sites"
	"mpitx/text"
)

var (
	profileFlags = []string{"phase", "function", "comm"}
	tableFormats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV, cli.FormatParquet}
)

// profileViews are the tables of a profile.
func profileViews() (all []view) {
	about := map[string]string{
		runs.ViewFunctions: "MPI functions, by time (of mpitx profile, as all up to sizes)", runs.ViewSites: "call sites, by time",
		runs.ViewRanks: "ranks: time in MPI and outside, processor time", runs.ViewPhases: "phases of the program",
		runs.ViewCommunicators: "communicators, windows and files", runs.ViewSizes: "message sizes of each function",
		runs.ViewAlgorithms: "which algorithms served collective calls, by size", runs.ViewArrivals: "who came last to collective calls, how often and how late",
	}
	for _, name := range runs.ReportTables {
		takes := profileFlags
		switch name {
		case runs.ViewFunctions:
			takes = append(takes[:len(takes):len(takes)], "by-rank")
		case runs.ViewSizes: // they are counted for all communicators together
			takes = []string{"phase", "function"}
		}
		all = append(all, view{name: name, about: about[name], formats: tableFormats, takes: takes, show: showProfile})
	}
	return all
}

// showProfile shows the overview of a profile or one of its tables.
func showProfile(r *reading) error {
	p, err := r.Read(r.run, r.dir)
	if err != nil {
		return err
	}
	if why := p.AlgorithmsUnknown(); r.view.name == runs.ViewAlgorithms && why != "" {
		return cli.Lacks(r.run, r.dir, "algorithms", why)
	}
	if why := p.ArrivalsUnknown(); r.view.name == runs.ViewArrivals && why != "" {
		return cli.Lacks(r.run, r.dir, "arrivals", why)
	}
	unread := cmp.Or(cli.ResolveSites(r.App, p), cli.ReportJob(r.App, r.run.Dir))
	o := runs.ReportOptions{Run: text.Quote(r.dir), Findings: append(network.Findings(r.run, r.options()), p.Findings()...), Triggers: sites.Triggers(r.run), Tools: launch.Tools(r.run.Dir),
		Lost: len(launch.Reduced(r.run))+len(r.run.IncompleteRanks()) > 0}
	if r.view.name != runs.ViewOverview {
		o.Table = r.view.name
	}
	err = r.write(func(w io.Writer, t export.Terminal) error {
		if o.Terminal = t; r.byRank {
			return runs.FunctionsByRank(p).Write(w, r.Form(), t)
		}
		return cli.WriteReport(w, p, r.Form(), o)
	})
	return cmp.Or(err, cli.Partial(r.App, r.run), unread)
}
