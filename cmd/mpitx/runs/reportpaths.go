package runs

import (
	"cmp"
	"io"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/recording/paths"
	"mpitx/text"
)

// showPaths shows over which transports ranks reached each other.
func showPaths(r *reading) error {
	p, err := r.Read(r.run, r.dir)
	if err != nil {
		return err
	}
	if !paths.Recorded(r.run) {
		return cli.Lacks(r.run, r.dir, "paths", "record them with mpitx profile, without --no-paths")
	}
	if len(p.Paths) == 0 {
		r.App.Complain("%s: no rank was seen to reach another one", text.Quote(r.dir))
	}
	err = r.rows(func() *export.Rows { return runs.PathRows(p.Paths) }, func(w io.Writer, t export.Terminal) error { return runs.Paths(w, p, r.Form(), t) })
	return cmp.Or(err, cli.Partial(r.App, r.run))
}
