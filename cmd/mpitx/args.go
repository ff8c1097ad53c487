package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// arguments accepts least to most arguments (most is -1: any number). None may be empty, which an unset shell variable
// would cause. what names them in messages.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s: name %s; see mpitx help %s", cmd.Name(), what, cmd.Name())
		case most >= 0 && len(args) > most:
			return usagef("%s: too many arguments; name %s only, and leave %q out", cmd.Name(), what, args[most])
		case slices.Contains(args, ""):
			return usagef("%s: an argument is empty; name %s", cmd.Name(), what)
		}
		return nil
	}
}

// once runs a command on rank 0 only, because its answer is the same on all ranks.
func (a *app) once(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if a.env.Launcher().Rank > 0 {
			return nil
		}
		return run(cmd, args)
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s: takes no arguments; leave %q out", cmd.Name(), args[0])
	}
	return nil
}

// refuseArguments makes a command that only has subcommands refuse other words; cobra would print its help.
func refuseArguments(root *cobra.Command, name string) {
	for _, c := range root.Commands() {
		if c.Name() != name {
			continue
		}
		var words []string
		for _, sub := range c.Commands() {
			words = append(words, sub.Name())
		}
		c.Args = nil
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("%s: %q: must be one of %s", name, args[0], strings.Join(words, ", "))
			}
			return usagef("%s: name one of %s", name, strings.Join(words, ", "))
		}
	}
}

// newHelp is cobra's help command, except that it fails for unknown commands.
func newHelp() *cobra.Command {
	return &cobra.Command{Use: "help [COMMAND]", Short: "Explain a command: what it does, its flags, examples",
		Long: "Explain a command: what it does, its flags, examples. mpitx COMMAND --help prints\nthe same.",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, prefix string) (names []string, _ cobra.ShellCompDirective) {
			for _, c := range cmd.Root().Commands() {
				if len(args) == 0 && c.IsAvailableCommand() && strings.HasPrefix(c.Name(), prefix) {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("help: there is no command %q; mpitx help lists all", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		}}
}

// refuseEmpty refuses flags with an empty value, which an unset shell variable causes: they would act as if not given.
func refuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if err == nil && (len(values) == 0 || slices.Contains(values, "")) {
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand
			}
			what := "must not be empty"
			if len(values) > 1 {
				what = "one of its values is empty"
			}
			err = usagef("%s: %s", name, what)
		}
	})
	return err
}
