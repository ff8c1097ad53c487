package tune

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/settings/decision"
)

// checking is mpitx tune --check FILE: what a library does with a decision file. Ranks, the MPI and the snapshot are those of the source.
type checking struct {
	*cli.Source
	File     string // "": not asked for
	function string
	size     string
	element  string
	ranks    int
	nodes    int
}

func (o *checking) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.File, "check", "", "read a decision `FILE` as the library does, instead of tuning: errors, what each line serves, whether it is in use")
	f.StringVar(&o.function, "function", "", "with --check: which line serves a call of this `FUNCTION`, such as MPI_Allreduce")
	f.StringVar(&o.size, "size", "8", "with --function: `BYTES` of the call: count of one rank times size of the datatype, such as 64k")
	f.StringVar(&o.element, "element", "1", "with --function: `BYTES` of one element of the datatype")
	f.IntVar(&o.ranks, "comm-size", 0, "with --function: `RANKS` of the communicator; those of -n otherwise")
	f.IntVar(&o.nodes, "nodes", 1, "with --function: `NODES` of the communicator")
	cmd.MarkFlagFilename("check")
}

// call is the call that is looked up; no function if none was asked for.
func (o *checking) call() (c decision.Call, err error) {
	c = decision.Call{Function: decision.Function(o.function), Ranks: o.ranks, Nodes: o.nodes}
	if o.function != "" && !decision.IsCollective(c.Function) {
		return c, cli.Usagef("--function %s: must be a collective with algorithms to choose, such as MPI_Allreduce", o.function)
	}
	if c.Bytes, err = cli.ParseSize(o.size); err != nil {
		return c, cli.Usagef("--size: %v", err)
	}
	if c.Element, err = cli.ParseSize(o.element); err != nil || c.Element == 0 {
		return c, cli.Usagef("--element %s: must be a number of bytes of at least 1", o.element)
	}
	if o.ranks < 0 || o.nodes < 1 {
		return c, cli.Usagef("--comm-size %d, --nodes %d: must be at least 1", o.ranks, o.nodes)
	}
	return c, nil
}

func (o *checking) run(cmd *cobra.Command, f export.Format) error {
	call, err := o.call()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(o.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Failf("--check %s: there is no such file", o.File)
	case err != nil:
		return cli.Failf("--check: %v", err)
	case len(data) > decision.MaxSize:
		return cli.Failf("--check %s: it has %d bytes; decision files have at most %d", o.File, len(data), decision.MaxSize)
	}
	c, err := o.Open(cmd, nil, "")
	if err != nil {
		return err
	}
	code := o.Warn(c)
	if call.Ranks == 0 {
		call.Ranks = c.Job.Size
	}
	if call.Function != "" && (call.Ranks < 2 || call.Nodes > call.Ranks) {
		return cli.Usagef("--function: a communicator of %d ranks on %d nodes; name its size with --comm-size", call.Ranks, call.Nodes)
	}
	l := decision.LibraryOf(c)
	if o.From == "" {
		l = decision.Installed(c)
	}
	judge := o.Judge(c)
	r, err := decision.Check(o.File, data, l, c, judge.Effects(c), o.isFile, call)
	if err != nil {
		return cli.Failf("--check %s: %v", o.File, err)
	}
	if r.Table.Wrong() {
		code = cli.ExitFailed
	}
	return o.Answer(code, func() error { return variables.Decisions(o.App.Out, r, f, o.Term) })
}

// isFile reports whether the value of a variable names the file.
func (o *checking) isFile(value string) bool {
	here, err := os.Stat(o.File)
	if err != nil || value == "" {
		return false
	}
	there, err := os.Stat(o.App.Env.File(value))
	return err == nil && os.SameFile(here, there)
}
