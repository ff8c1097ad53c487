package main

import (
	"fmt"
	"strings"

	"mpitx/export"

	"github.com/spf13/cobra"
)

// joined makes one line of each paragraph, to be wrapped; lines that are indented stay.
func joined(text string) string {
	var b strings.Builder
	last := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch flows := func(line string) bool { return line != "" && line[0] != ' ' }; {
		case b.Len() == 0:
		case flows(last) && flows(line):
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		b.WriteString(line)
		last = line
	}
	return b.String()
}

// helpWidth is the width of all help, whatever the terminal's.
const helpWidth = 80

// groups are the commands in the order of the root's help.
var groups = []struct{ title, names string }{
	{"Explore a library", "tui list show read write verify tune snapshot diff"},
	{"Observe an application", "profile report compare trace timeline run where sample record top export runs recover tools"},
	{"Set up mpitx", "doctor check setup completion version help"},
}

// help prints what a command does, and then its usage.
func help(cmd *cobra.Command, _ []string) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", export.Wrap(joined(strings.TrimSpace(text)), helpWidth), usage(cmd))
}

// usage is a command's synopsis, examples and flags.
func usage(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%s:\n%s\n", title, text)
		}
	}
	line := "  " + cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = "  " + cmd.CommandPath() + " COMMAND [flags]"
	}
	section("Usage", line)
	if !cmd.HasParent() {
		for _, g := range groups {
			section(g.title, commandLines(cmd, strings.Fields(g.names)))
		}
	} else {
		section("Commands", commandLines(cmd, commandNames(cmd)))
	}
	section("Examples", cmd.Example)
	section("Flags", cmd.LocalFlags().FlagUsagesWrapped(helpWidth))
	section("Global flags", cmd.InheritedFlags().FlagUsagesWrapped(helpWidth))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun %s COMMAND --help for the flags and examples of a command.\n", cmd.CommandPath())
	}
	return b.String()
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// commandLines has a line for each command that exists.
func commandLines(parent *cobra.Command, names []string) string {
	var b strings.Builder
	for _, name := range names {
		for _, c := range parent.Commands() {
			if c.Name() == name {
				fmt.Fprintf(&b, "  %-10s  %s\n", name, c.Short)
			}
		}
	}
	return b.String()
}
