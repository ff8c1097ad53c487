package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/machine"
	"mpitx/recording"
)

// choice is the value of a flag that accepts one of several words, in any case.
type choice[T ~string] struct {
	value *T
	words []T
}

func (c choice[T]) String() string { return string(*c.value) }
func (c choice[T]) Type() string   { return "string" }
func (c choice[T]) Set(text string) error {
	word := T(strings.ToLower(text))
	if word != "" && !slices.Contains(c.words, word) { // refuseEmpty refuses ""
		return errors.New("must be " + alternatives(c.words))
	}
	*c.value = word
	return nil
}

// alternatives joins words as "a, b or c", or as "one of a, b, c, d" if there are many.
func alternatives[T ~string](words []T) string {
	all, last := Texts(words), len(words)-1
	switch {
	case last == 0:
		return all[0]
	case last > 2:
		return "one of " + strings.Join(all, ", ")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Choose defines a flag that accepts one of several words.
func Choose[T ~string](cmd *cobra.Command, value *T, name, short string, preset T, usage string, words ...T) {
	*value = preset
	cmd.Flags().VarP(choice[T]{value, words}, name, short, usage)
	cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(Texts(words), cobra.ShellCompDirectiveNoFileComp))
}

func Texts[T ~string](words []T) (all []string) {
	for _, w := range words {
		all = append(all, string(w))
	}
	return all
}

// ChooseMPI defines the flag --mpi, whose description begins with usage. demo: the built-in library can be used, too.
func ChooseMPI(cmd *cobra.Command, mpi *string, usage string, demo bool) {
	words, families := "openmpi, mpich, abi (the library of either with the standard ABI)", []string{machine.OpenMPI, machine.MPICH, machine.ABI}
	if demo {
		words, families = words+", demo (the built-in one)", machine.Families
	}
	cmd.Flags().StringVar(mpi, "mpi", "", usage+": "+words+", an installation prefix, or a libmpi file")
	cmd.RegisterFlagCompletionFunc("mpi", cobra.FixedCompletions(families, cobra.ShellCompDirectiveDefault))
}

// ChooseFormat defines the flag -o.
func ChooseFormat(cmd *cobra.Command, format *export.Format, usage string, formats ...export.Format) {
	Choose(cmd, format, "output", "o", export.FormatTable, usage+": "+strings.Join(Texts(formats), ", "), formats...)
}

// transformFlag is the value of --as.
type transformFlag struct{ as *recording.Transform }

func (f transformFlag) Type() string { return "string" }
func (f transformFlag) String() string {
	if *f.as == recording.Default {
		return ""
	}
	return f.as.String()
}

func (f transformFlag) Set(text string) (err error) {
	var ok bool
	if *f.as, ok = recording.ParseTransform(strings.ToLower(text)); !ok {
		err = errors.New("must be raw, delta or rate")
	}
	return err
}

func ChooseTransform(cmd *cobra.Command, as *recording.Transform) {
	cmd.Flags().Var(transformFlag{as}, "as", "show values as this `KIND`: raw, delta (since the start) or rate (per second) (default: by the variable's class)")
	cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions([]string{"raw", "delta", "rate"}, cobra.ShellCompDirectiveNoFileComp))
}
