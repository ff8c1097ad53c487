// Package tune has the command that makes an application faster by settings, with proof.
package tune

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/campaigns"
	"mpitx/export/html"
	"mpitx/export/variables"
	"mpitx/text"
)

// options are those of mpitx tune -- ./app.
type options struct {
	cli.Source
	cli.FormatOut
	only, add   []string
	dir, resume string
	workdir     string
	budget      time.Duration
	runs        int
	seed        uint64
	dry         bool
	kernel      bool
	app         []string
	check       *checking
	collectives *collectives
}

// How experiments get their working directories.
const (
	sameDir = "same"
	copyDir = "copy"
)

// NewTune makes the command.
func NewTune(a *cli.App) *cobra.Command {
	o := &options{Source: cli.Source{App: a}}
	o.check, o.collectives = &checking{Source: &o.Source}, &collectives{Source: &o.Source}
	cmd := &cobra.Command{
		Use:   "tune -n N [flags] -- APP…",
		Short: "Find settings that make an application faster, with proof",
		Long: `Find settings of the MPI library that make an application faster. One run is
profiled. Rules that you can read say which variables act on what takes its
time: the algorithms of collectives, limits of eager messages, transports,
single copies, waiting, binding. Settings that the library lacks, or that
cannot act here, are left out.

Then the application itself runs again and again, with each candidate and
without, in random order. Slower candidates are dropped early; the best of each
group are combined. What is left is compared with the application as it was, in
new pairs of runs. Only this comparison concludes: it recommends something if
the interval of its change does not touch zero. Its error is at most 5 %,
however many candidates there were. What is compared is the time from MPI_Init
to MPI_Finalize.

The result is a report and a file of settings for mpitx run --settings, for
yourself or for a site. The directory of the campaign (--dir) keeps each run; a
campaign that was stopped goes on with --resume DIRECTORY.

With --kernel, the screening runs the application's distinct collectives, with
synchronised starts, in place of the application: quicker for a long
application whose time in MPI is in collectives. It also tries a file that
chooses the fastest algorithm for each size and communicator of the
application.

The application must end by itself, and do the same work in each run. If it
writes files, --workdir copy gives each run a copy of the working directory. On
a machine with few cores, or beside other programs, results hold for that only:
run it where the application will run.

With --collectives, mpitx tune measures the algorithms of collectives on this
machine, and writes a file with which the library chooses the faster ones. With
--check, it reads such a file as the library does: Open MPI's dynamic rules and
the rules of coll han, MPICH's selection of algorithms or compositions in JSON.

The exit code is 0 if something is recommended, 1 if nothing is, and 2 if the
campaign could not be made.`,
		Example: `  mpitx tune -n 4 -- ./app input
  mpitx tune -n 4 --budget 2h --only 'MPI_All*' -- ./app input
  mpitx tune -n 4 --add btl_vader_eager_limit='1024|65536' -- ./app
  mpitx tune --resume mpitx-tune-app
  mpitx tune --collectives -n 4 --only allreduce,bcast --sizes 8..64k
  mpitx tune --check rules --function MPI_Bcast --size 64k --comm-size 4`,
		Args: cli.Arguments(0, -1, "an application, after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.check.File != "" || o.collectives.On {
				return o.aboutFiles(cmd, args)
			}
			return a.NoVerdict(o.run(cmd, args))
		},
	}
	o.Source.Flags(cmd, false)
	o.FormatOut.Flags(cmd, "reports", campaigns.Formats...)
	o.check.flags(cmd)
	o.collectives.flags(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&o.only, "only", nil, "try only what is about this `GLOB`: a function, a variable or the name of a rule; may be repeated")
	f.StringArrayVar(&o.add, "add", nil, "also try these values (`NAME='A|B|C'`) of a control variable, a variable of UCX, or an option of the launcher (--add --bind-to=none); may be repeated")
	f.DurationVar(&o.budget, "budget", 30*time.Minute, "the runs may take this `TIME` together")
	f.IntVar(&o.runs, "runs", 0, "make at most `N` runs (default: as many as the budget allows)")
	f.Uint64Var(&o.seed, "seed", 1, "order the runs by this `NUMBER`: the same one gives the same order")
	f.StringVar(&o.dir, "dir", "", "keep the campaign in this new `DIRECTORY` (default: mpitx-tune-APP)")
	f.StringVar(&o.resume, "resume", "", "go on with the campaign in this `DIRECTORY`")
	f.BoolVar(&o.kernel, "kernel", false, "screen by the application's distinct collectives (function, size, communicator) instead of the application; it is still what the last comparison runs")
	f.BoolVar(&o.dry, "dry-run", false, "only profile the application, and list the candidates")
	cli.Choose(cmd, &o.workdir, "workdir", "", sameDir, "`WHERE` each run works: in the same directory, or in a copy of it", sameDir, copyDir)
	cmd.MarkFlagDirname("dir")
	cmd.MarkFlagDirname("resume")
	cmd.MarkFlagsMutuallyExclusive("dir", "resume")
	return cmd
}

// aboutFiles makes or checks a file that chooses algorithms of collectives.
func (o *options) aboutFiles(cmd *cobra.Command, args []string) error {
	flag, formats := "--collectives", variables.DecisionFormats
	if o.check.File != "" {
		flag = "--check"
	}
	switch {
	case o.check.File != "" && o.collectives.On:
		return cli.Usagef("--collectives makes a file, and --check reads one; leave one of them out")
	case len(args) > 0:
		return cli.Usagef("%s runs no application; leave %s out", flag, text.Quote(args[0]))
	case o.Named():
		return cli.Usagef("%s writes to standard output; leave --out out", flag)
	case !slices.Contains(formats, o.Form()):
		return cli.Usagef("-o %s: %s has the formats %s; choose one of these", o.Form(), flag, strings.Join(cli.Texts(formats), ", "))
	case o.check.File != "":
		return o.check.run(cmd, o.Form())
	}
	o.collectives.Only, o.collectives.Budget, o.collectives.Dir, o.collectives.Seed = o.only, o.budget, cmp.Or(o.dir, "mpitx-collectives"), o.seed
	return o.collectives.run(cmd, o.Form())
}

// starters start ranks themselves, or hand a script to a batch system.
var starters = map[string]string{"mpirun": "", "mpiexec": "", "srun": "", "prterun": "", "prun": "", "orterun": "", "aprun": "",
	"sbatch": "job", "qsub": "job", "bsub": "job"}

// checkFlags checks what does not depend on the machine.
func (o *options) checkFlags(cmd *cobra.Command, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	if dash > 0 {
		return cli.Usagef("%s: name the application after --: mpitx tune -n 4 -- ./app", text.Quote(args[0]))
	}
	o.app = args[dash:]
	switch {
	case o.From != "":
		return cli.Usagef("--from is for --check: a campaign runs the library itself")
	case o.App.Env.Launcher().Name != "":
		return cli.Usagef("tune starts its own jobs: run it without a launcher, as mpitx tune -n 4 …")
	case o.budget <= 0:
		return cli.Usagef("--budget: must be positive")
	case o.runs < 0:
		return cli.Usagef("--runs: must be positive")
	}
	if err := o.FormatOut.Check(); err != nil {
		return err
	}
	if o.resume != "" {
		for _, name := range []string{"ranks", "mpi", "only", "add", "seed", "workdir", "dry-run", "kernel"} {
			if cmd.Flags().Changed(name) {
				return cli.Usagef("--%s: the campaign of --resume has it; leave it out", name)
			}
		}
		if len(o.app) > 0 {
			return cli.Usagef("--resume goes on with the application of the campaign; leave %s out", text.Quote(o.app[0]))
		}
		return nil
	}
	if len(o.app) == 0 {
		return cli.Usagef("name the application, after --: mpitx tune -n 4 -- ./app")
	}
	if kind, starts := starters[filepath.Base(o.app[0])]; starts && kind == "" {
		return cli.Usagef("%s starts ranks itself; name the program after --, and its ranks with -n", o.app[0])
	} else if starts {
		return cli.Usagef("%s hands a script to a batch system; call mpitx tune in that script instead", o.app[0])
	}
	if err := o.App.CheckRanks(cmd, o.N); err != nil {
		return err
	}
	if o.N == 0 {
		return cli.Usagef("-n: say with how many ranks the application runs")
	}
	return nil
}

func (o *options) run(cmd *cobra.Command, args []string) (err error) {
	if err := o.checkFlags(cmd, args); err != nil {
		return err
	}
	if o.Term, err = o.App.Terminal(); err != nil {
		return undecided(err)
	}
	c := &campaigning{options: o}
	if o.resume != "" {
		err = c.load(cmd)
	} else {
		err = c.prepare(cmd)
	}
	if err != nil {
		return undecided(err)
	}
	if o.dry {
		return cli.Ended(cli.ExitDone, c.write())
	}
	if err := c.experiment(); err != nil {
		return undecided(err)
	}
	code := cli.ExitFailed
	if c.answer.Recommended() {
		code = cli.ExitDone
	}
	return cli.Ended(code, c.write())
}

// write writes the report.
func (c *campaigning) write() error {
	write := func(w io.Writer, t export.Terminal) error {
		if c.Form() == campaigns.FormatHTML {
			return html.Campaign(w, &c.answer)
		}
		return c.answer.Write(w, c.Form(), t)
	}
	if c.Named() {
		return c.Create(func(w io.Writer) error { return write(w, export.Terminal{UTF8: true}) })
	}
	return write(c.App.Out, c.Term)
}

// parseAdd reads the values of --add: commas are part of them.
func parseAdd(words []string) (all [][2]string, err error) {
	for _, word := range words {
		name, values, ok := strings.Cut(word, "=")
		if !ok || name == "" || values == "" || strings.ContainsAny(word, "\n\x00") {
			return nil, cli.Usagef("--add: %q: must be NAME=VALUE, or NAME='A|B|C'", word)
		}
		for value := range strings.SplitSeq(values, "|") {
			if value == "" {
				return nil, cli.Usagef("--add: %q: a value is empty", word)
			}
			if slices.Contains(all, [2]string{name, value}) {
				return nil, cli.Usagef("--add: %s=%s is given twice", name, value)
			}
			all = append(all, [2]string{name, value})
		}
	}
	return all, nil
}
