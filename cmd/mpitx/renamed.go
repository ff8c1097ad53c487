package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/export"
)

// deprecate records a warning of an old spelling; it is printed once the command line is known to be valid.
func (a *app) deprecate(text string) {
	if !slices.Contains(a.deprecated, text) {
		a.deprecated = append(a.deprecated, text)
	}
}

// warnDeprecated prints the warnings, on the rank that prints.
func (a *app) warnDeprecated() {
	for _, text := range a.deprecated {
		if a.env.Launcher().Rank <= 0 {
			a.complain("warning: %s", text)
		}
	}
	a.deprecated = nil
}

// renamed is a flag's old name: hidden, it sets the new one.
type renamed struct {
	a        *app
	flags    *pflag.FlagSet
	from, to string
}

// keepOldName defines the old name; the flag with the new name must exist.
func keepOldName(a *app, cmd *cobra.Command, from, to string) {
	f := cmd.Flags().VarPF(renamed{a, cmd.Flags(), from, to}, from, "", "")
	f.Hidden, f.NoOptDefVal = true, cmd.Flags().Lookup(to).NoOptDefVal
}

func (r renamed) String() string { return r.flags.Lookup(r.to).Value.String() }
func (r renamed) Type() string   { return r.flags.Lookup(r.to).Value.Type() }
func (r renamed) Set(text string) error {
	err := r.flags.Set(r.to, text)
	if wrong := (*pflag.InvalidValueError)(nil); errors.As(err, &wrong) {
		return wrong.Unwrap()
	}
	r.a.deprecate("--" + r.from + " is deprecated; use --" + r.to)
	return err
}

// takeComm takes world and self out of the values of list's --bind: they chose the communicator before --comm did.
func takeComm(a *app, cmd *cobra.Command) {
	bind := cmd.Flags().Lookup("bind").Value.(pflag.SliceValue)
	var kinds []string
	for _, word := range bind.GetSlice() {
		switch word = strings.TrimSpace(word); word {
		case "world", "self":
			cmd.Flags().Set("comm", word)
			a.deprecate("--bind " + word + " is deprecated; use --comm " + word)
		default:
			kinds = append(kinds, word)
		}
	}
	bind.Replace(kinds)
	a.warnDeprecated()
}

// snapshotFormat is the value of snapshot's -o. Any other word was the name of the file before --out.
type snapshotFormat struct {
	a      *app
	flags  *pflag.FlagSet
	format export.Format
}

func (s *snapshotFormat) String() string { return string(s.format) }
func (s *snapshotFormat) Type() string   { return "string" }
func (s *snapshotFormat) Set(text string) error {
	word := export.Format(strings.ToLower(text))
	switch {
	case text == "" || word == export.FormatJSON:
		s.format = word
		return nil
	case slices.Contains(export.Formats, word) || word == formatParquet:
		return errors.New("must be json, the only format of snapshots")
	}
	s.a.deprecate("-o " + text + ": -o is the format; use --out " + text)
	return s.flags.Set("out", text)
}
