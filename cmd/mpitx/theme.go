package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/ui/config"
	"mpitx/ui/term"
)

// themeFlag is --theme, the colours of a full screen; "" means the user's configuration.
type themeFlag struct{ theme string }

func (f *themeFlag) flags(cmd *cobra.Command) {
	choose(cmd, &f.theme, "theme", "", "", "colour theme `NAME`: "+strings.Join(term.Themes, ", ")+" (default: the one in the configuration file)", term.Themes...)
}

// configure sets a terminal's theme. It returns the user's configuration, and what is wrong with that file; "": nothing.
func (f *themeFlag) configure(a *app, t *term.Term) (*config.File, string) {
	file, err := config.Load(config.Path(a.env.Getenv))
	t.Theme, _ = term.ParseTheme(cmp.Or(f.theme, file.Theme)) // both are checked
	if err != nil {
		return file, err.Error()
	}
	return file, ""
}
