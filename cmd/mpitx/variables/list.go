package variables

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/variables"
	"mpitx/inspect"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
	"mpitx/ui/explorer"
)

type listOptions struct {
	cli.Source
	filterFlags
	outputFlags
	asked catalog.Kind // the kinds named on the command line
	kinds catalog.Kind // the kinds listed; 0 means all
	globs []string
	tree  bool

	essential bool
}

// outputFlags choose the format and columns of the output.
type outputFlags struct {
	format     export.Format
	fieldNames string
	fields     []*variables.Field
}

func (o *outputFlags) flags(cmd *cobra.Command) {
	cli.ChooseFormat(cmd, &o.format, "output `FORMAT`", export.Formats...)
	cmd.Flags().StringVar(&o.fieldNames, "fields", "", "print these `COLUMNS`, separated by commas: "+strings.Join(variables.FieldNames(), ", "))
	cmd.RegisterFlagCompletionFunc("fields", wordList(variables.FieldNames()...))
}

func (o *outputFlags) parse() (err error) {
	if o.fieldNames != "" {
		if o.fields, err = variables.ParseFields(o.fieldNames); err != nil {
			return cli.Usagef("--fields: %v", err)
		}
	}
	return nil
}

func NewList(a *cli.App) *cobra.Command {
	o := &listOptions{Source: cli.Source{App: a, RanksMayLeaveEarly: true}}
	cmd := &cobra.Command{
		Use:         "list [KIND…] [GLOB…]",
		Annotations: cli.Paged,
		Short:       "List variables, events, categories and enumerations",
		Long: `List control variables, performance variables, events of MPI_T and their
sources, categories and enumerations: all of them, or only these kinds.
KIND is ` + strings.Join(catalog.AllKinds.Words(), ", ") + `.

The list is the union of two stages, before and after MPI_Init, because
MPI_Init unloads the components that it does not choose. Each variable says in
which stages it exists. Under a launcher there is one row per variable, and
values that differ between ranks are marked.

Virtual variables, such as mpitx:calls, are computed by mpitx itself: mpitx
sample and mpitx record count them inside applications, with any MPI. They are
listed if you ask for them by kind or by name, and in the table of everything.
Most also exist per function: mpitx list 'mpitx:*/MPI_Send'. Those of the
node, mpitx:os/… and mpitx:net/…, are counted by the operating system.

What sets the library from outside, MPI_T or not, is listed by mpitx list
settings.

A GLOB (* ? [a-z]) must match the whole name; case does not matter. NAME:CLASS
chooses a performance variable by its class.`,
		Example: `  mpitx list
  mpirun -n 4 mpitx list cvars --changed
  mpitx list pvars --class counter,timer -o csv
  mpitx list events
  mpitx list --search 'eager limit'
  mpitx list --essential
  mpitx list 'btl_*' --verbosity user-all --writable
  mpitx list --from snapshot.json --tree`,
		Args:              cli.Arguments(0, -1, "variables"),
		ValidArgsFunction: o.completeArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.asked, o.globs = takeKinds(args)
			o.kinds = o.asked
			return o.run(cmd)
		},
	}
	o.Source.Flags(cmd, false)
	o.filterFlags.flags(cmd)
	o.CommFlag(cmd)
	o.outputFlags.flags(cmd)
	cmd.RegisterFlagCompletionFunc("category", a.CompleteCategories)
	cmd.Flags().BoolVar(&o.essential, "essential", false, "only the control variables that users commonly tune, by purpose, and settings beyond MPI_T")
	cmd.Flags().BoolVar(&o.tree, "tree", false, "draw a tree of the categories with their variables and events")
	cmd.AddCommand(newSettings(a))
	return cmd
}

// completeArgs completes kinds, and the names of entries of the kinds listed.
func (o *listOptions) completeArgs(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	kinds, _ := takeKinds(args)
	names := kinds
	if kinds == 0 {
		names = catalog.AllKinds &^ catalog.Groups
	}
	out, directive := o.App.CompleteNames(names, catalog.AllKinds.Words()...)(cmd, args, prefix)
	if kinds != 0 && kinds.Has(catalog.Categories) {
		categories, _ := o.App.CompleteCategories(cmd, args, prefix)
		out = append(out, categories...)
	}
	return out, directive
}

func (o *listOptions) run(cmd *cobra.Command) error {
	if err := o.checkFlags(cmd); err != nil {
		return err
	}
	filter, filtered, err := o.compile(o.globs)
	if err != nil {
		return err
	}
	all, err := o.Open(cmd, nil, "")
	if err != nil {
		var unread *inspect.Error
		if o.changed && errors.As(err, &unread) && !unread.Quiet { // perhaps because of a setting
			o.nameDropped(o.Unread())
		}
		return err
	}
	code := o.Warn(all)
	all = all.WithPeruse()
	all.Virtual = virtual.Matching(o.From == "" && (o.asked != 0 || len(o.globs) > 0), o.globs...) // interfaces only if they are asked for
	if o.changed && o.From == "" {
		o.nameUnknown(all)
	}
	if o.essential {
		return o.Answer(code, func() error { return o.essentials(all, filter) })
	}
	c := o.selected(all, filter, filtered)
	hints := (&settings.Listing{Kinds: o.kinds, Asked: o.asked, Names: o.globs, Categories: o.category, From: o.From}).Hints(all)
	switch left := c.Count(o.kinds); {
	case len(hints) > 0 && left == 0:
		code = cli.ExitFailed
	case len(hints) > 0:
		code = max(code, cli.ExitPartial)
	}
	return o.Answer(code, func() error {
		opts := variables.ListOptions{Format: o.format, Kinds: o.kinds, Fields: o.fields, Terminal: o.Term, Tree: o.tree, Filtered: filtered, Changed: o.changed}
		if err := variables.List(o.App.Out, c, opts); err != nil {
			return err
		}
		if c.Count(o.kinds) == 0 {
			hints = slices.Concat([]string{o.empty(all)}, settings.FilterHints(all, o.kinds, &o.compiled), hints)
		}
		for _, hint := range hints {
			o.App.Complain("%s", hint)
		}
		o.comment(all, c)
		return nil
	})
}

// checkFlags reads the flags, and refuses those that do not go together.
func (o *listOptions) checkFlags(cmd *cobra.Command) error {
	if err := o.parse(); err != nil {
		return err
	}
	switch {
	case o.tree && o.fields != nil:
		return cli.Usagef("--tree: --fields has no effect on the tree; leave one out")
	case o.tree && o.format != export.FormatTable && o.format != export.FormatWide:
		return cli.Usagef("--tree: only -o table and wide draw the tree; -o json has the categories of each variable")
	case o.tree && o.kinds != 0 && o.kinds&(catalog.Cvars|catalog.Pvars|catalog.EventKinds) == 0:
		return cli.Usagef("--tree: the tree has cvars, pvars, events and sources only; leave the other kinds out")
	}
	if err := o.checkKinds(cmd, o.kinds); err != nil || !o.essential {
		return err
	}
	return o.checkEssential()
}

// nameDropped names the settings that nothing takes.
func (o *listOptions) nameDropped(found []settings.Influence) {
	for _, i := range found {
		if words := i.Ignored(); words != "" {
			o.App.Complain("%s", words)
		}
	}
}

// nameUnknown names the settings of no control variable.
func (o *listOptions) nameUnknown(all *catalog.Catalog) {
	names := all.Names(catalog.Cvars)
	o.nameDropped(o.Influences(all))
	for _, u := range o.Unknown {
		place, on := u.Where+" is set in the environment", " of "
		if u.Kind != catalog.OriginEnvironment {
			place, on = u.Name+" is set ("+u.Where+")", " on "
		}
		if u.Ranks != nil {
			place += on + text.Ranks(u.Ranks)
		}
		o.App.Complain("%s, but no control variable has this name%s", place, didYouMean(names, u.Name))
	}
}

// selected is what the filter, the search and the kinds leave. It also sets the kinds, if none were asked for.
func (o *listOptions) selected(all *catalog.Catalog, filter *catalog.Matcher, filtered bool) *catalog.Catalog {
	found := all
	if o.search != nil {
		known, _ := settings.ReadKnowledge(o.App.Env) // what judges settings names a wrong file
		found = all.Select(explorer.Search(all, purposes(known, all), strings.Join(o.search, " ")))
	}
	c := filter.Apply(found)
	named := len(o.globs)+len(o.regex)+len(o.search) > 0
	document := o.format == export.FormatJSON && o.fields == nil // JSON includes the enumerations of its variables
	if filtered && o.kinds == 0 && !o.tree && !document {        // categories and enumerations only matter if they are asked for
		o.kinds = catalog.Variables | all.Present(catalog.EventKinds)
	}
	if !o.asksForPeruse() {
		c = c.WithoutUnraised()
	}
	if o.asked == 0 && !named && (filtered || !o.forPeople()) {
		c = inspect.WithoutVirtual(c)
	}
	if filtered && o.kinds != 0 && o.kinds&^catalog.Groups == 0 {
		c = groupsByName(filter, all)
	}
	return c
}

// forPeople reports whether a table is printed, and no format for programs.
func (o *listOptions) forPeople() bool {
	return o.format == export.FormatTable || o.format == export.FormatWide
}

// comment says, after the list, what it does not show.
func (o *listOptions) comment(all, listed *catalog.Catalog) {
	if o.asked&catalog.Events != 0 && listed.Count(o.kinds) > 0 && o.forPeople() {
		if text := settings.WithoutEvents(all); text != "" {
			o.App.Complain("%s", text)
		}
	}
	if o.changed {
		o.warnNoEffect(all, listed)
	} else {
		o.NoteUnreported(all, slices.Collect(listed.Variables()), o.format)
	}
}

// asksForPeruse reports whether events of PERUSE are listed that the library does not raise: if events are asked for by kind, by name
// or in a search.
func (o *listOptions) asksForPeruse() bool {
	return o.asked&catalog.Events != 0 || o.search != nil ||
		slices.ContainsFunc(slices.Concat(o.globs, o.regex), func(name string) bool { return strings.Contains(strings.ToLower(name), "peruse") })
}

// warnNoEffect warns of settings that have no effect, among those listed.
func (o *listOptions) warnNoEffect(all, listed *catalog.Catalog) {
	effect := o.Judge(all).Effects(all)
	for k := range listed.Cvars {
		v, place := &listed.Cvars[k], ""
		if v.Origin != nil && v.Origin.Kind == catalog.OriginFile {
			place = v.Origin.Where + ": "
		}
		for _, text := range effect(v).Doubts(v.Name, all.Job.Size) {
			o.App.Complain("%s%s", place, text)
		}
	}
}

// empty says why nothing is listed.
func (o *listOptions) empty(all *catalog.Catalog) string {
	if text := settings.WithoutEvents(all); text != "" && o.kinds != 0 && o.kinds&^catalog.EventKinds == 0 {
		return "no " + o.kinds.Describe(false) + ": " + text
	}
	text := variables.EmptyMessage(all, o.kinds)
	described := slices.ContainsFunc(slices.Collect(all.Variables()), func(v *catalog.Variable) bool { return v.Enum == "" && all.EnumOf(v) != nil })
	if described && o.kinds == catalog.Enums {
		text += ", but it describes the values of control variables: mpitx show NAME lists them, and mpitx list cvars --fields name,value,item those that are set"
	}
	if o.kinds == catalog.Pvars && all.Count(o.kinds) == 0 {
		text += o.whyNoPvars(all)
	}
	return text
}

// whyNoPvars says how the library might have performance variables, after the message that it has none.
func (o *listOptions) whyNoPvars(all *catalog.Catalog) (text string) {
	if all.Before.Read && !all.After.Read {
		text = " before MPI_Init; they may exist after it, which was not reached"
	}
	m := o.Chosen
	m.Impl = o.Family(all)
	if how := settings.HowToGet(m, "", func(string) (string, bool) { return "", false }, ""); m.Impl == machine.MPICH {
		return text + how
	}
	if all.Job.Size <= 1 && o.From == "" {
		text += "; in a job it may have some: mpitx list pvars -n 2"
	}
	return text + "; mpitx:* variables work with any MPI: mpitx list virtual"
}

// takeKinds splits the arguments into kinds, in any case, and globs.
func takeKinds(args []string) (kinds catalog.Kind, globs []string) {
	for _, word := range args {
		if kind, ok := catalog.ParseKind(word); ok {
			kinds |= kind
		} else {
			globs = append(globs, word)
		}
	}
	return kinds, globs
}

// groupsByName filters categories and enumerations by their own names; it serves lists of nothing else.
func groupsByName(filter *catalog.Matcher, all *catalog.Catalog) *catalog.Catalog {
	c := *all
	c.Keep(catalog.Groups, func(e catalog.Entry) bool { return filter.MatchName(e.ID()) })
	return &c
}
