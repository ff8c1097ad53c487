package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/machine"
)

// completing is the MPI whose names complete a command line; it starts no MPI process.
func (a *app) completing(cmd *cobra.Command) (machine.MPI, bool) {
	want, _ := cmd.Flags().GetString("mpi")
	m, err := a.env.Choose(want)
	return m, err == nil
}

// completeNames completes the names of variables and events of the given kinds, after the given words.
func (a *app) completeNames(kinds catalog.Kind, words ...string) cobra.CompletionFunc {
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
			for _, v := range virtual.Matching(prefix + "*") {
				add(v.Name, nameLine(v.Name, v.Description))
			}
		}
		if kinds.Has(catalog.Events) {
			for _, e := range catalog.PeruseEvents() {
				add(e.Name, nameLine(e.Name, e.Meaning))
			}
		}
		if m, ok := a.completing(cmd); ok {
			for v := range cachedVariables(a.env, m) {
				kind := catalog.Cvars
				if _, class := catalog.SplitClass(v.id); class != 0 {
					kind = catalog.Pvars
				}
				if kinds.Has(kind) {
					add(v.id, v.id+"\t"+v.text)
				}
			}
			for e := range cachedEvents(a.env, m, kinds) {
				if catalog.FindPeruseEvent(e.id) != nil {
					continue
				}
				add(e.id, e.id+"\t"+e.text)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCategories completes the names of categories.
func (a *app) completeCategories(cmd *cobra.Command, args []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	if m, ok := a.completing(cmd); ok {
		for c := range cachedCategories(a.env, m) {
			if strings.HasPrefix(c.id, prefix) && !slices.Contains(args, c.id) {
				out = append(out, c.id+"\t"+c.text)
			}
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeWrites completes NAME=VALUE: the names of control variables, then the values that an enumeration or a boolean takes.
func (a *app) completeWrites(cmd *cobra.Command, _ []string, prefix string) (out []string, _ cobra.ShellCompDirective) {
	name, value, ok := strings.Cut(prefix, "=")
	if ok {
		return a.completeValues(cmd, name, value), cobra.ShellCompDirectiveNoFileComp
	}
	names, directive := a.completeNames(catalog.Cvars)(cmd, nil, prefix)
	for _, line := range names {
		name, text, _ := strings.Cut(line, "\t")
		out = append(out, name+"=\t"+text)
	}
	return out, directive | cobra.ShellCompDirectiveNoSpace
}

// completeValues completes the last of several values: a|b, or a,b.
func (a *app) completeValues(cmd *cobra.Command, name, value string) (out []string) {
	m, ok := a.completing(cmd)
	if !ok {
		return nil
	}
	before := value[:strings.LastIndexAny(value, "|,")+1]
	for v := range cachedVariables(a.env, m) {
		if v.id != name {
			continue
		}
		for _, word := range v.values {
			if strings.HasPrefix(before+word, value) {
				out = append(out, name+"="+before+word)
			}
		}
	}
	return out
}
