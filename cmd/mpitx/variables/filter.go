package variables

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
)

// filterFlags are the flags that choose variables and events.
type filterFlags struct {
	search, regex, category []string
	verbosity               string
	scope, class, typ, bind []string
	writable, changed       bool
	differing               bool
	stage                   string
	compiled                catalog.Filter
}

var (
	pvarClasses = []string{"state", "level", "size", "percentage", "highwatermark", "lowwatermark", "counter", "aggregate", "timer", "generic"}
	bindKinds   = []string{"none", "comm", "datatype", "errhandler", "file", "group", "op", "request", "win", "message", "info", "session"}
)

// filterKinds maps each filter flag to the kinds that it applies to.
var filterKinds = []struct {
	flag  string
	kinds catalog.Kind
}{
	{"scope", catalog.Cvars}, {"writable", catalog.Cvars}, {"changed", catalog.Cvars}, {"class", catalog.Pvars | catalog.Virtual},
	{"category", catalog.Variables | catalog.Events}, {"verbosity", catalog.Variables | catalog.Events},
	{"type", catalog.Variables | catalog.Events}, {"bind", catalog.Variables | catalog.Events},
	{"stage", catalog.Variables | catalog.EventKinds}, {"differing", catalog.Variables | catalog.EventKinds}, {"search", catalog.Variables | catalog.EventKinds},
}

// checkKinds checks that each filter flag applies to a kind that is listed.
func (f *filterFlags) checkKinds(cmd *cobra.Command, kinds catalog.Kind) error {
	left, by := catalog.AllKinds, ""
	for _, g := range filterKinds {
		if !cmd.Flags().Changed(g.flag) {
			continue
		}
		about := g.kinds.Info()
		names, entries := about.Names, "variables"
		if g.kinds.Has(catalog.Events) {
			names, entries = "variables and events", "variables and events"
		}
		switch {
		case !kinds.Has(catalog.AllKinds &^ catalog.Groups):
			return cli.Usagef("--%s applies to %s only; choose categories and enumerations by name or with --regex", g.flag, entries)
		case left&g.kinds == 0:
			return cli.Usagef("--%s applies to %s and --%s to %s; no variable matches both", by, left.Info().Names, g.flag, names)
		case !kinds.Has(g.kinds):
			return cli.Usagef("--%s applies to %s only; use mpitx list %s --%s", g.flag, names, about.Word, g.flag)
		}
		left, by = left&g.kinds, g.flag
	}
	return nil
}

func (f *filterFlags) flags(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.search, "search", nil, "only variables and events whose name, description or purpose matches all these `WORDS`, or has words near in meaning, best matches first, as / in the explorer does")
	fl.StringArrayVar(&f.regex, "regex", nil, "only names that match this regular `EXPRESSION`; case does not matter")
	fl.StringArrayVar(&f.category, "category", nil, "only variables and events in a category that matches this `GLOB`, or in one of its subcategories")
	fl.StringVar(&f.verbosity, "verbosity", "", "only variables and events up to this verbosity `LEVEL`: user-basic to mpidev-all, or 1 to 9")
	fl.StringSliceVar(&f.scope, "scope", nil, "only control variables of these `SCOPES`: constant, readonly, local, group, group-eq, all, all-eq")
	fl.StringSliceVar(&f.class, "class", nil, "only performance variables of these `CLASSES`: "+strings.Join(pvarClasses, ", "))
	fl.StringSliceVar(&f.typ, "type", nil, "only variables of these `DATATYPES`, and events with such an element: int, unsigned-long, char, …")
	fl.StringSliceVar(&f.bind, "bind", nil, "only variables and events bound to these `KINDS` of object: "+strings.Join(bindKinds, ", "))
	fl.BoolVar(&f.writable, "writable", false, "only control variables that can be written now")
	fl.StringVar(&f.stage, "stage", "", "only variables and events that exist in this `STAGE`: before MPI_Init (before), after it (after), or in both (both)")
	fl.BoolVar(&f.changed, "changed", false, "only control variables that you changed: in the environment, with a launcher option, or in a parameter file")
	fl.BoolVar(&f.differing, "differing", false, "only variables whose value differs between ranks")
	words := func(words ...string) cobra.CompletionFunc {
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	}
	cmd.RegisterFlagCompletionFunc("verbosity", words("user-basic", "user-detail", "user-all", "tuner-basic", "tuner-detail", "tuner-all", "mpidev-basic", "mpidev-detail", "mpidev-all"))
	cmd.RegisterFlagCompletionFunc("scope", wordList("constant", "readonly", "local", "group", "group-eq", "all", "all-eq"))
	cmd.RegisterFlagCompletionFunc("class", wordList(pvarClasses...))
	cmd.RegisterFlagCompletionFunc("type", wordList(catalog.DatatypeNames()...))
	cmd.RegisterFlagCompletionFunc("bind", wordList(bindKinds...))
	cmd.RegisterFlagCompletionFunc("stage", words("before", "after", "both"))
}

// wordList completes the last of several words separated by commas.
func wordList(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		given := strings.Split(before, ",")
		var out []string
		for _, w := range words {
			if strings.HasPrefix(before+w, typed) && !slices.Contains(given, w) {
				out = append(out, before+w)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// compile turns the flags and globs into a filter.
func (f *filterFlags) compile(globs []string) (m *catalog.Matcher, filtered bool, err error) {
	out := catalog.Filter{Names: globs, Regexps: f.regex, Categories: f.category, Writable: f.writable, Set: f.changed, Differing: f.differing}
	if f.verbosity != "" {
		if out.Verbosity, err = catalog.ParseVerbosity(f.verbosity); err != nil {
			return nil, false, cli.Usagef("--verbosity: %v", err)
		}
	}
	if f.stage != "" {
		if out.Stage, err = catalog.ParseStageFilter(f.stage); err != nil {
			return nil, false, cli.Usagef("--stage: %v", err)
		}
	}
	if out.Scopes, err = parseAll("--scope", f.scope, catalog.ParseScope); err != nil {
		return nil, false, err
	}
	if out.Classes, err = parseAll("--class", f.class, catalog.ParseClass); err != nil {
		return nil, false, err
	}
	if out.Types, err = parseAll("--type", f.typ, catalog.ParseDatatype); err != nil {
		return nil, false, err
	}
	if out.Binds, err = parseAll("--bind", f.bind, catalog.ParseBind); err != nil {
		return nil, false, err
	}
	if _, err := (&catalog.Filter{Regexps: f.regex}).Compile(); err != nil {
		return nil, false, cli.Usagef("--regex: %v", err)
	}
	if _, err := (&catalog.Filter{Categories: f.category}).Compile(); err != nil {
		return nil, false, cli.Usagef("--category: %v", err)
	}
	f.compiled = out
	if m, err = out.Compile(); err != nil {
		return nil, false, cli.Usagef("%v", err)
	}
	return m, !out.IsZero() || f.search != nil, nil
}

func parseAll[T any](flag string, words []string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for _, w := range words {
		v, err := parse(strings.TrimSpace(w))
		if err != nil {
			return nil, cli.Usagef("%s: %v", flag, err)
		}
		out = append(out, v)
	}
	return out, nil
}
