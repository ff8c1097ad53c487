package variables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/inspect"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
)

type writeOptions struct {
	cli.Source
	format export.Format
	stage  string
	ranks  string
	force  bool
	dryRun bool
	reset  bool
	read   bool        // and reset
	file   cli.OutFile // of settings for the next run
}

func NewWrite(a *cli.App) *cobra.Command {
	o := &writeOptions{Source: cli.Source{App: a}}
	cmd := &cobra.Command{
		Use:   "write {NAME=VALUE…|--reset NAME…|--readreset NAME…}",
		Short: "Write variables and verify the result",
		Long: `Write variables and verify the result: mpitx reads the old value, writes the new
one, and reads it back. The result is one of:

    ok                the library accepted the value
    ok but unchanged  the library reported success, but kept the old value
    not now           the library does not allow the write at this point
    never             the variable cannot be written
    faulty            the write crashes the library, so mpitx did not do it
    invalid           not a value of this variable; nothing was written
    refused           it would be set on some of its ranks only; see --force
    would be written  with --dry-run: the value is valid
    for the next run  with --export: nothing was written, a file sets it
    error             the library returned another error, which the reason names
    no answer         the result is not known: a rank did not answer in time

VALUE is a number (decimal or hexadecimal, also with a unit: 64k is 65536), true
or false, the name of an item of the variable's enumeration, a set of flags a|b,
or a list of elements a,b,c.

mpitx writes in its own processes only, to show what the library accepts. It
prints the lines that set the variables for a run.

With --export FILE, mpitx writes nothing to the library. It checks the values,
adds the settings that they need to have an effect, and saves all of them for
the next run: as a script for the shell (FILE.sh), as a parameter file
(FILE.conf), or as options of the launcher (any other name; - prints them). So
you can also set variables that the library reads only when it starts.

Variables of scope all and all-eq concern all processes: with --rank, --force
writes them on some ranks only. --force also writes values that are not items of
a variable's enumeration.

Performance variables are written, too, unless the library says that they are
readonly; most are. --reset sets them to their starting value, and --readreset
reads and resets them in one step, which only atomic variables allow.`,
		Example: `  mpitx write coll_tuned_bcast_algorithm=binomial
  mpirun -n 4 mpitx write --stage before coll_tuned_alltoall_algorithm=pairwise
  mpirun -n 4 mpitx write --rank 1,3 coll_base_verbose=5
  mpitx write --mpi demo --reset demo_bytes_sent
  mpitx write --export tuned.sh coll_tuned_bcast_algorithm=binomial`,
		Args:              cli.Arguments(1, -1, "the variables and their values (NAME=VALUE)"),
		ValidArgsFunction: a.CompleteWrites,
		RunE:              o.run,
	}
	o.Source.Flags(cmd, true)
	f := cmd.Flags()
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cli.Choose(cmd, &o.stage, "stage", "", "after", "write in this `STAGE`: after MPI_Init (after), or in a process that never calls it (before)", "before", "after")
	f.StringVar(&o.ranks, "rank", "", "write on these `RANKS` only, such as 0,2-5 (default: all)")
	f.BoolVar(&o.force, "force", false, "also write values that are not items of an enumeration, and, with --rank, variables of scope all and all-eq")
	f.BoolVar(&o.dryRun, "dry-run", false, "check names and values without writing")
	f.BoolVar(&o.reset, "reset", false, "reset performance variables")
	f.BoolVar(&o.read, "readreset", false, "read and reset performance variables in one step")
	cmd.MarkFlagsMutuallyExclusive("reset", "readreset")
	o.file.FlagsAs(cmd, "export", "write nothing, but save the settings, and what they need, for the next run to `FILE`: .sh, .conf, or other names for options of the launcher", "sh", "conf", "txt")
	for _, other := range []string{"stage", "rank", "force", "dry-run", "reset", "readreset"} {
		cmd.MarkFlagsMutuallyExclusive("export", other)
	}
	return cmd
}

func (o *writeOptions) run(cmd *cobra.Command, args []string) error {
	ranks, err := text.ParseRanks(o.ranks)
	if err != nil {
		return cli.Usagef("--rank: %v", err)
	}
	if o.stage == "before" && ranks != nil && !slices.Equal(ranks, []int{0}) {
		return cli.Usagef("--rank: one process of each node writes before MPI_Init; leave --rank out")
	}
	writes, err := parseWrites(args, ranks, o.change())
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("export") {
		return o.export(cmd, writes)
	}
	for k := range writes {
		writes[k].DryRun, writes[k].Force = o.dryRun, o.force
	}
	c, err := o.Open(cmd, writes, inspect.Stage(o.stage))
	if err != nil {
		return err
	}
	code := o.Warn(c)
	if !o.known(c, writes) {
		return o.End(cli.ExitFailed, nil)
	}
	if outside, _ := slices.BinarySearch(ranks, c.Job.Size); outside < len(ranks) {
		return o.End(code, cli.Usagef("--rank: %s: the job has ranks 0 to %d", text.RankList(ranks[outside:]), c.Job.Size-1))
	}
	o.whyMissing(c)
	outcomes := o.Job.Outcomes.Same()
	seen := map[string]bool{}
	for _, w := range outcomes {
		if w.Result != catalog.WriteOK && w.Result != catalog.WriteDry {
			code = max(code, cli.ExitPartial)
		}
		if w.Result == catalog.WriteInvalid && !seen[w.Name] {
			seen[w.Name] = true
			o.App.Complain("%s: %s", w.Name, w.Detail)
		}
	}
	if silent := o.silent(c, writes); silent != "" {
		o.App.Complain("%s", silent)
		code = max(code, cli.ExitPartial)
	}
	return o.Answer(code, func() error {
		if len(outcomes) > 0 {
			if err := variables.Outcomes(o.App.Out, c, outcomes, o.format, o.Term); err != nil {
				return err
			}
		}
		if o.format == export.FormatTable {
			o.advice(c, outcomes)
		}
		return nil
	})
}

// known reports whether a library has all variables, and names those that it does not have.
func (o *writeOptions) known(c *catalog.Catalog, writes []catalog.WriteRequest) bool {
	var unknown []string
	for _, w := range writes {
		if len(c.Lookup(w.Name)) == 0 {
			unknown = append(unknown, w.Name)
		}
	}
	if len(unknown) > 0 {
		sayUnknown(o.App, c, catalog.Variables, unknown)
		o.App.Complain("nothing was written")
	}
	return len(unknown) == 0
}

// whyMissing says why variables that exist before MPI_Init only cannot be written after it.
func (o *writeOptions) whyMissing(c *catalog.Catalog) {
	for k := range o.Job.Outcomes {
		w := &o.Job.Outcomes[k]
		v := c.Cvar(w.Name)
		if w.Result != catalog.WriteInvalid || o.stage != "after" || v == nil || v.Before == nil || v.After != nil || !c.After.Read {
			continue
		}
		w.Detail += ", which unloaded its component: it is not in use with " + text.Count(c.Job.Size, "rank") + "; use --stage before"
		if c.Job.Size == 1 {
			w.Detail += ", or try -n 2"
		}
	}
}

// silent reports outcomes that did not arrive.
func (o *writeOptions) silent(c *catalog.Catalog, writes []catalog.WriteRequest) string {
	want := c.Job.Size
	if writes[0].Ranks != nil {
		want = len(writes[0].Ranks)
	}
	if o.stage == "before" {
		want = 1
	}
	if got := len(o.Job.Outcomes); got < want*len(writes) {
		return fmt.Sprintf("only %d of %d writes were answered", got, want*len(writes))
	}
	return ""
}

// advice explains what the write means, and how to set the variables for a run.
func (o *writeOptions) advice(c *catalog.Catalog, outcomes []catalog.SameOutcome) {
	written := slices.ContainsFunc(outcomes, func(w catalog.SameOutcome) bool {
		return w.Result == catalog.WriteOK || w.Result == catalog.WriteUnchanged
	})
	if written {
		fmt.Fprintf(o.App.Out, "\nmpitx wrote in its own processes only, which have exited.\n")
	}
	judge := o.Judge(c)
	lines, set := o.setLines(c, judge, outcomes)
	seen := map[string]bool{}
	effects, asked := o.effects(c, judge, outcomes)
	for _, w := range outcomes {
		v := c.Cvar(w.Name)
		if v == nil || seen[v.Name] {
			continue
		}
		seen[v.Name] = true
		if w.Result == catalog.WriteOK || w.Result == catalog.WriteDry {
			o.explain(v.Name, effects[v.Name], asked[v.Name], c.Job.Size)
		}
		if v.Scope == catalog.ScopeGroup || v.Scope == catalog.ScopeGroupEq {
			fmt.Fprintf(o.App.Out, "\n%s is of scope %s; its description must name the group:\n  %s\n", o.Term.Safe(v.Name), v.Scope, o.Term.SafeText(v.Description))
		}
		if why := settings.Fixed(o.Chosen.Impl, v); why != "" && settable(c, o.Chosen.Impl, v, &w) {
			fmt.Fprintf(o.App.Out, "\n%s cannot be set for a run: %s\n", o.Term.Safe(v.Name), o.Term.Safe(why))
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(o.App.Out, "\n%s\n", export.Wrap(o.Term.Safe("To set "+set+":"), o.Term.Width))
		for _, line := range lines {
			fmt.Fprintf(o.App.Out, "  %s\n", o.Term.SafeCommand(line))
		}
	}
}

// settable reports whether a value that was written can be one for a run.
func settable(c *catalog.Catalog, impl string, v *catalog.Variable, w *catalog.SameOutcome) bool {
	return w.New.String() != "" && settings.IsItem(impl, v, settings.Enums(impl, c)(v), w.New.String()) == nil && w.Result != catalog.WriteInvalid && v.Scope != catalog.ScopeConstant
}

// setLines are the lines that set what was written for a run, together with what it needs, and words for them.
func (o *writeOptions) setLines(c *catalog.Catalog, j *settings.Judge, outcomes []catalog.SameOutcome) (lines []string, words string) {
	var all []settings.Assignment
	var names, instead, needed []string
	for _, w := range outcomes {
		v := c.Cvar(w.Name)
		if v == nil || slices.Contains(names, v.Name) || !settable(c, o.Chosen.Impl, v, &w) {
			continue
		}
		a := settings.Assignment{Variable: v, Enum: c.Enum(v.Enum), Value: w.New}
		if len(settings.HowToSet(o.Chosen.Impl, "", []settings.Assignment{a}, text.UTF8)) == 0 {
			continue
		}
		all, names = append(all, a), append(names, v.Name)
		if v.Origin != nil && v.Origin.Kind == catalog.OriginLauncher {
			instead = append(instead, v.Origin.Where)
		}
	}
	all = j.Complete(c, all)
	for _, a := range all {
		if a.NeededBy != nil {
			needed = append(needed, a.Variable.Name)
		}
	}
	words = strings.Join(names, " and ") + " for a run"
	if instead != nil {
		words += ", in place of " + strings.Join(instead, " and ")
	}
	if needed != nil {
		words += ", with " + strings.Join(needed, " and ") + ", which must be set, too"
	}
	return settings.HowToSet(o.Chosen.Impl, o.App.Env.Word(o.Chosen.Launcher), all, text.Charset(o.Term.UTF8)), words
}

// effects judges what was written in one command: what the effect of each variable depends on with the values that the library has now,
// and with all values that were asked for.
func (o *writeOptions) effects(c *catalog.Catalog, j *settings.Judge, outcomes []catalog.SameOutcome) (now, asked map[string]tuning.Effect) {
	effect := j.Effects(c)
	judge := func(taken func(w *catalog.SameOutcome) (catalog.Value, bool)) map[string]tuning.Effect {
		for k := range outcomes {
			if value, ok := taken(&outcomes[k]); ok && (o.stage == "before" || len(outcomes[k].Ranks) == c.Job.Size) {
				settings.Assume(c, outcomes[k].Name, value)
			}
		}
		all := map[string]tuning.Effect{}
		for k := range outcomes {
			if v := c.Cvar(outcomes[k].Name); v != nil {
				all[v.Name] = effect(v)
			}
		}
		return all
	}
	now = judge(func(w *catalog.SameOutcome) (catalog.Value, bool) {
		if w.Result == catalog.WriteDry {
			return w.New, true
		}
		return w.Back, w.Result == catalog.WriteOK
	})
	return now, judge(func(w *catalog.SameOutcome) (catalog.Value, bool) { return w.New, !w.New.IsZero() })
}

// explain says when a value that the library accepted takes effect. A condition that is met with everything that was asked for needs no
// advice: only the library refused it here.
func (o *writeOptions) explain(name string, e, asked tuning.Effect, ranks int) {
	e.Arrived, e.Unreported = "", "" // of what was set before
	var lines []string
	var refused []string
	e.Conditions = slices.DeleteFunc(slices.Clone(e.Conditions), func(cond tuning.Condition) bool {
		met := cond.Met == tuning.No && slices.ContainsFunc(asked.Conditions, func(other tuning.Condition) bool { return other.Text == cond.Text && other.Met == tuning.Yes })
		if met {
			refused = append(refused, cond.Text)
		}
		return met
	})
	for _, text := range refused {
		lines = append(lines, name+" takes effect in a run that is started with both settings: "+text+", which the library did not take here.")
	}
	if e.Written != "" {
		lines = append(lines, name+" has no effect when it is written: "+e.Written+".")
	}
	if e.Read != tuning.Unknown && e.Read != tuning.Never {
		lines = append(lines, "The library reads "+name+" "+e.Read.Words()+".")
	}
	for _, text := range e.Doubts(name, ranks) {
		lines = append(lines, text+".")
	}
	for k, line := range lines {
		if k == 0 {
			fmt.Fprintln(o.App.Out)
		}
		fmt.Fprintln(o.App.Out, export.Wrap(o.Term.SafeText(line), o.Term.Width))
	}
}

// change is what to do with the variables.
func (o *writeOptions) change() catalog.WriteKind {
	switch {
	case o.reset:
		return catalog.WriteReset
	case o.read:
		return catalog.WriteReadReset
	}
	return catalog.WriteValue
}

func parseWrites(args []string, ranks []int, change catalog.WriteKind) ([]catalog.WriteRequest, error) {
	var out []catalog.WriteRequest
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		name = strings.TrimSpace(name)
		switch {
		case ok && change != catalog.WriteValue:
			return nil, cli.Usagef("%q: --%s takes names without a value", arg, change)
		case change != catalog.WriteValue:
		case !ok || name == "":
			return nil, cli.Usagef("%q: must be NAME=VALUE", arg)
		}
		if text.IsGlob(name) {
			return nil, cli.Usagef("%s is a pattern; write names the variables one by one", name)
		}
		if strings.HasPrefix(name, virtual.Prefix) {
			return nil, cli.Usagef("%s: virtual variables cannot be written", name)
		}
		if slices.ContainsFunc(out, func(w catalog.WriteRequest) bool { return w.Name == name }) {
			return nil, cli.Usagef("%s is given twice", name)
		}
		out = append(out, catalog.WriteRequest{Name: name, Text: value, Kind: change, Ranks: ranks})
	}
	return out, nil
}
