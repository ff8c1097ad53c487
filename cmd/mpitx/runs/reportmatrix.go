package runs

import (
	"cmp"
	"io"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/text"
)

// showMatrix shows which rank sends to which.
func showMatrix(r *reading) error {
	p, err := r.Read(r.run, r.dir)
	if err != nil {
		return err
	}
	pairs, what := p.Pairs, "point-to-point messages"
	if r.oneSided {
		pairs, what = p.OneSided, "one-sided operations"
	}
	if len(pairs) == 0 {
		r.App.Complain("%s: there were no %s", text.Quote(r.dir), what)
	}
	err = r.rows(func() *export.Rows { return runs.MatrixRows(p, pairs) }, func(w io.Writer, t export.Terminal) error { return runs.Matrix(w, p, pairs, r.Form(), t) })
	return cmp.Or(err, cli.Partial(r.App, r.run))
}
