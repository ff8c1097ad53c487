package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/inspect"
	"mpitx/machine"
)

// completing is the MPI whose names complete a command line; it starts no MPI process.
func (a *App) completing(cmd *cobra.Command) (machine.MPI, bool) {
	want, _ := cmd.Flags().GetString("mpi")
	m, err := a.Env.Choose(want)
	return m, err == nil
}

// CompleteNames completes the names of variables and events of the given kinds, after the given words.
func (a *App) CompleteNames(kinds catalog.Kind, words ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
		add := func(name, line string) {
			if strings.HasPrefix(name, prefix) && !slices.Contains(args, name) {
				out = append(out, line)
			}
		}
		for _, w := range words {
			add(w, w)
		}
		if kinds.Has(catalog.Virtual) {
			for _, v := range virtual.Matching(true, prefix+"*") {
				add(v.Name, inspect.NameLine(v.Name, v.Description))
			}
		}
		if kinds.Has(catalog.Events) {
			for _, e := range catalog.PeruseEvents() {
				add(e.Name, inspect.NameLine(e.Name, e.Meaning))
			}
		}
		if m, ok := a.completing(cmd); ok {
			for v := range inspect.CachedVariables(a.Env, m) {
				kind := catalog.Cvars
				if _, class := catalog.SplitClass(v.ID); class != 0 {
					kind = catalog.Pvars
				}
				if kinds.Has(kind) {
					add(v.ID, v.ID+"\t"+v.Text)
				}
			}
			for e := range inspect.CachedEvents(a.Env, m, kinds) {
				if catalog.FindPeruseEvent(e.ID) != nil {
					continue
				}
				add(e.ID, e.ID+"\t"+e.Text)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteCategories completes the names of categories.
func (a *App) CompleteCategories(cmd *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	if m, ok := a.completing(cmd); ok {
		for c := range inspect.CachedCategories(a.Env, m) {
			if strings.HasPrefix(c.ID, prefix) && !slices.Contains(args, c.ID) {
				out = append(out, c.ID+"\t"+c.Text)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// CompleteWrites completes NAME=VALUE: the names of control variables, then the values that an enumeration or a boolean takes.
func (a *App) CompleteWrites(cmd *cobra.Command, _ []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	name, value, ok := strings.Cut(prefix, "=")
	if ok {
		return a.completeValues(cmd, name, value), cobra.ShellCompDirectiveNoFileComp
	}
	names, directive := a.CompleteNames(catalog.Cvars)(cmd, nil, prefix)
	for _, line := range names {
		name, text, _ := strings.Cut(line, "\t")
		out = append(out, name+"=\t"+text)
	}
	return out, directive | cobra.ShellCompDirectiveNoSpace
}

// completeValues completes the last of several values: a|b, or a,b.
func (a *App) completeValues(cmd *cobra.Command, name, value string) (out []string) {
	m, ok := a.completing(cmd)
	if !ok {
		return nil
	}
	before := value[:strings.LastIndexAny(value, "|,")+1]
	for v := range inspect.CachedVariables(a.Env, m) {
		if v.ID != name {
			continue
		}
		for _, word := range v.Values {
			if strings.HasPrefix(before+word, value) {
				out = append(out, name+"="+before+word)
			}
		}
	}
	return out
}
