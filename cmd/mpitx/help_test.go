package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

// allCommands are mpitx and all its commands that are not hidden.
func allCommands(root *cobra.Command) []*cobra.Command {
	if !root.HasParent() {
		root.InitDefaultHelpCmd()
	}
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			all = append(all, allCommands(c)...)
		}
	}
	return all
}

// Help fits into 80 columns and describes each flag. A description does not start in the middle of a sentence.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
	root.SetOut(&out)
	for _, cmd := range allCommands(root) {
		out.Reset()
		cmd.InitDefaultHelpFlag()
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		for line := range strings.SplitSeq(text, "\n") {
			if n := utf8.RuneCountInString(line); n > helpWidth || line != strings.TrimRight(line, " ") {
				t.Errorf("%s --help: %d columns: %q", cmd.CommandPath(), n, line)
			}
		}
		description, _, _ := strings.Cut(text, "\n\nUsage:\n")
		last := ""
		for line := range strings.SplitSeq(description, "\n") {
			word, _, _ := strings.Cut(line, " ")
			if last != "" && word != "" && last[0] != ' ' && utf8.RuneCountInString(last+" "+word) <= helpWidth {
				t.Errorf("%s --help: a line breaks before %q: %q", cmd.CommandPath(), word, last)
			}
			last = line
		}
		if !strings.Contains(text, "\nUsage:\n  mpitx") || !strings.Contains(text, "--help") {
			t.Errorf("%s --help:\n%s", cmd.CommandPath(), text)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, usage := pflag.UnquoteUsage(f); !f.Hidden && (len(usage) < 10 || regexp.MustCompile(`^(that|whose|those)\b`).MatchString(usage) || f.NoOptDefVal == "" && name != strings.ToUpper(name)) {
				t.Errorf("%s --%s %s: %s", cmd.CommandPath(), f.Name, name, usage)
			}
		})
	}
}

// The help of mpitx itself lists each command once.
func TestGroups(t *testing.T) {
	var grouped, names []string
	for _, g := range groups {
		grouped = append(grouped, strings.Fields(g.names)...)
	}
	root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if !cmd.Hidden || cmd.Name() == "completion" {
			names = append(names, cmd.Name())
		}
	}
	slices.Sort(grouped)
	slices.Sort(names)
	if !slices.Equal(grouped, names) {
		t.Errorf("the groups have %q, mpitx has %q", grouped, names)
	}
}

// Examples are valid command lines.
func TestExamples(t *testing.T) {
	count := 0
	for _, c := range allCommands(newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})) {
		for line := range strings.SplitSeq(strings.ReplaceAll(c.Example, "\\\n", " "), "\n") {
			line = strings.ReplaceAll(strings.ReplaceAll(strings.TrimRight(line, " &"), " | head", ""), "'", "")
			_, args, ok := strings.Cut(line, "mpitx ")
			if c.HasParent() && c.Parent().Name() == "completion" || line == "" {
				continue // of cobra
			}
			root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
			cmd, rest, err := root.Find(strings.Fields(args))
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.Args(cmd, cmd.Flags().Args())
			}
			if count++; !ok || err != nil || cmd == root {
				t.Errorf("%s: %s: %v", c.CommandPath(), line, err)
			}
		}
	}
	if count < 30 {
		t.Errorf("%d examples", count)
	}
}
