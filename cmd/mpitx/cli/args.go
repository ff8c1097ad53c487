package cli

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Arguments accepts least to most arguments (most is -1: any number). None may be empty, which an unset shell variable
// would cause. what names them in messages.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return Usagef("%s: name %s; see mpitx help %s", cmd.Name(), what, cmd.Name())
		case most >= 0 && len(args) > most:
			return Usagef("%s: too many arguments; name %s only, and leave %q out", cmd.Name(), what, args[most])
		case slices.Contains(args, ""):
			return Usagef("%s: an argument is empty; name %s", cmd.Name(), what)
		}
		return nil
	}
}

// OnRank0 runs a command on rank 0 only, because its answer is the same on all ranks.
func (a *App) OnRank0(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if a.Env.Launcher().Rank > 0 {
			return nil
		}
		return run(cmd, args)
	}
}

func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s: takes no arguments; leave %q out", cmd.Name(), args[0])
	}
	return nil
}

// RefuseArguments makes a command that only has subcommands refuse other words; cobra would print its help.
func RefuseArguments(root *cobra.Command, name string) {
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
				return Usagef("%s: %q: must be one of %s", name, args[0], strings.Join(words, ", "))
			}
			return Usagef("%s: name one of %s", name, strings.Join(words, ", "))
		}
	}
}

// NewHelp is cobra's help command, except that it fails for unknown commands.
func NewHelp() *cobra.Command {
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
				return Usagef("help: there is no command %q; mpitx help lists all", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			return c.Help()
		}}
}

// RefuseEmpty refuses flags with an empty value, which an unset shell variable causes: they would act as if not given.
func RefuseEmpty(cmd *cobra.Command) (err error) {
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
			err = Usagef("%s: %s", name, what)
		}
	})
	return err
}

// ReadUpTo reads the beginning of a file, which may be a pipe; "-" is standard input.
func ReadUpTo(file string, most int64) ([]byte, error) {
	in := os.Stdin
	if file != "-" {
		var err error
		if in, err = os.Open(file); err != nil {
			return nil, err
		}
		defer in.Close()
	}
	return io.ReadAll(io.LimitReader(in, most))
}
