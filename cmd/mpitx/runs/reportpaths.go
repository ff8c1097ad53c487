package runs

import (
	"cmp"
	"io"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
)

// showPaths shows over which transports ranks reached each other.
func showPaths(r *reading) error {
	p, err := r.Read(r.run, r.dir)
	if err != nil {
		return err
	}
	if len(p.Paths) == 0 {
		return cli.Lacks(r.run, r.dir, "paths", "record them with mpitx profile, without --no-paths")
	}
	err = r.rows(func() *export.Rows { return runs.PathRows(p.Paths) }, func(w io.Writer, t export.Terminal) error { return runs.Paths(w, p, r.Form(), t) })
	return cmp.Or(err, cli.Partial(r.App, r.run))
}
