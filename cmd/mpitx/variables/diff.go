package variables

import (
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
)

// The exit codes of diff are those of diff(1).
const (
	exitSame      = 0
	exitDifferent = 1
	exitTrouble   = 2
)

type diffOptions struct {
	a   *cli.App
	cmd *cobra.Command
	cli.OutFile
	format  export.Format
	from    string
	mpi     string
	n       int
	timeout time.Duration
	values  bool
	only    []string

	kinds   catalog.Kind
	matcher *catalog.Matcher // of names; nil: all
	job     *catalog.Catalog // that rank: and node: without a file refer to
	partial []string         // live sides that could not be read as a whole
}

func NewDiff(a *cli.App) *cobra.Command {
	o := &diffOptions{a: a}
	cmd := &cobra.Command{
		Use:         "diff A B [KIND…] [GLOB…]",
		Annotations: cli.Paged,
		Short:       "Compare two MPI libraries, machines, jobs, ranks or nodes",
		Long: `Compare what two MPI libraries expose: variables, events, categories and
enumerations that appeared, vanished, were renamed, or changed their default,
type, scope, verbosity, binding, category, enumeration or description; also
settings beyond MPI_T (mpitx list settings). Changes that likely matter for
speed come first, each with the reason.

A and B are each one of:
  FILE         a snapshot, or the output of ompi_info --parsable --all
  -            the same from standard input
  mpi:NAME     a live library, named as --mpi names it: mpi:openmpi, mpi:mpich,
               an installation prefix or a libmpi file; mpi: is the default one
  rank:N       a rank of the job in --from FILE, or of a live one (-n)
  node:HOST    the lowest rank on a host of such a job
  rank:N@FILE  the same, of the snapshot FILE; also node:HOST@FILE

With --values, only the values of control variables, and settings beyond MPI_T,
are compared: of two machines, two jobs, or yesterday's snapshot and today.

KIND is ` + strings.Join((catalog.AllKinds&^catalog.Virtual).Words(), ", ") + `
and settings: those beyond MPI_T, such as UCX_TLS.
A GLOB (* ? [a-z]) must match the whole old or new name.

The exit code is 0 if nothing differs, 1 if something does, 2 after an error.
With KIND, GLOB or --only, only what they select counts.`,
		Example: `  mpitx diff openmpi-4.1.4.json openmpi-5.0.7.json
  mpitx diff old.json mpi:openmpi -o markdown --out changes.md
  ompi_info --parsable --all | mpitx diff openmpi-4.1.4.json -
  mpitx diff yesterday.json mpi: --values
  mpitx diff rank:0 rank:3 --from job.json
  mpitx diff node:n1@job.json node:n2@job.json 'btl_*'`,
		Args: cli.Arguments(2, -1, "two snapshots, libraries (mpi:NAME), ranks or nodes"),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", variables.DiffFormats...)
	f.BoolVar(&o.values, "values", false, "compare only the values of control variables, and settings beyond MPI_T")
	f.StringSliceVar(&o.only, "only", nil, "show only these `CHANGES`, separated by commas: "+strings.Join(diff.Words(), ", "))
	f.StringVar(&o.from, "from", "", "the snapshot `FILE` that rank: and node: refer to")
	cli.ChooseMPI(cmd, &o.mpi, "the `MPI` of the live job that rank: and node: refer to, and of mpi: without a name", true)
	f.IntVarP(&o.n, "ranks", "n", 0, "start `N` ranks of each live library with its launcher")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "stop waiting for an MPI library after this `TIME`")
	cmd.MarkFlagsMutuallyExclusive("from", "mpi")
	cmd.MarkFlagFilename("from", "json")
	cmd.RegisterFlagCompletionFunc("only", wordList(diff.Words()...))
	o.OutFile.Flags(cmd, "md", "json", "csv")
	return cmd
}

func (o *diffOptions) run(cmd *cobra.Command, args []string) error {
	d, err := o.compare(cmd, args)
	if err != nil {
		return &cli.ExitError{Code: exitTrouble, Err: err}
	}
	term, err := o.a.Terminal()
	if err != nil {
		return &cli.ExitError{Code: exitTrouble, Err: err}
	}
	if o.Named() {
		term = export.Terminal{UTF8: true}
		err = o.Create(func(w io.Writer) error { return variables.Diff(w, d, o.format, term) })
	} else {
		err = variables.Diff(o.a.Out, d, o.format, term)
	}
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE): // the reader closed the pipe
		return &cli.ExitError{Code: exitTrouble, Err: err}
	case d.Same() && len(o.partial) > 0:
		return &cli.ExitError{Code: exitTrouble, Err: cli.Failf("diff: no differences in what could be read, but %s could not be read as a whole", strings.Join(o.partial, " and "))}
	case len(o.partial) > 0:
		o.a.Complain("%s could not be read as a whole, so differences may be missing, or due to that", strings.Join(o.partial, " and "))
	case d.Same():
		return nil
	}
	return cli.Exit(exitDifferent)
}

// compare opens both sides and compares them.
func (o *diffOptions) compare(cmd *cobra.Command, args []string) (*diff.Diff, error) {
	o.cmd = cmd
	if err := o.parse(cmd, args); err != nil {
		return nil, err
	}
	var operands [2]operand
	for i := range operands {
		var err error
		if operands[i], err = parseOperand(args[i]); err != nil {
			return nil, err
		}
	}
	if err := o.checkOperands(operands); err != nil {
		return nil, err
	}
	var sides [2]diff.Side
	for i, p := range operands {
		var err error
		if sides[i], err = o.open(p); err != nil {
			return nil, err
		}
	}
	if o.matcher != nil && !slices.ContainsFunc(sides[:], func(s diff.Side) bool {
		return slices.ContainsFunc(s.Catalog.Names(catalog.AllKinds), o.matcher.MatchName) ||
			slices.ContainsFunc(s.Catalog.Outside, func(x catalog.Setting) bool { return o.matcher.MatchName(x.Name) })
	}) {
		return nil, cli.Usagef("diff: neither side has a name that matches %s", strings.Join(args[2:], " or "))
	}
	d := diff.Compare(sides[0], sides[1], diff.Options{Values: o.values})
	o.cut(d)
	return d, nil
}

// parse checks the flags and the arguments after A and B.
func (o *diffOptions) parse(cmd *cobra.Command, args []string) error {
	if o.timeout <= 0 {
		return cli.Usagef("--timeout: must be positive")
	}
	if err := o.a.CheckRanks(cmd, o.n); err != nil {
		return err
	}
	for _, w := range o.only {
		if !slices.Contains(diff.Words(), w) {
			return cli.Usagef("--only %s: must be one of %s", w, strings.Join(diff.Words(), ", "))
		}
		if words := []string{"appeared", "vanished", "changed", "value", "reading"}; o.values && !slices.Contains(words, w) {
			return cli.Usagef("--only %s: --values compares the values only; use one of %s", w, strings.Join(words, ", "))
		}
	}
	var globs []string
	for _, word := range args[2:] {
		if kind, is := catalog.ParseKind(word); is {
			o.kinds |= kind
		} else if strings.EqualFold(word, catalog.Outside.Info().Word) {
			o.kinds |= catalog.Outside
		} else {
			globs = append(globs, word)
		}
	}
	if len(globs) > 0 {
		m, err := (&catalog.Filter{Names: globs}).Compile()
		if err != nil {
			return cli.Usagef("%v", err)
		}
		o.matcher = m
	}
	return o.Check()
}

// cut leaves only the changes that were asked for.
func (o *diffOptions) cut(d *diff.Diff) {
	if len(o.only) == 0 && o.kinds == 0 && o.matcher == nil {
		return
	}
	d.Library, d.LeftOut = nil, len(d.Items)
	defer func() { d.LeftOut -= len(d.Items) }()
	d.Items = slices.DeleteFunc(d.Items, func(it diff.Item) bool {
		named := o.matcher == nil || o.matcher.MatchName(it.Name) || it.NewName != "" && o.matcher.MatchName(it.NewName)
		word := len(o.only) == 0 || slices.ContainsFunc(o.only, it.Is)
		return !named || !word || !o.kinds.Has(it.Kind)
	})
}
