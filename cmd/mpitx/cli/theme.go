package cli

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"mpitx/ui/config"
	"mpitx/ui/term"
)

// ThemeFlag is --theme, the colours of a full screen; "" means the user's configuration.
type ThemeFlag struct{ theme string }

func (f *ThemeFlag) Flags(cmd *cobra.Command) {
	Choose(cmd, &f.theme, "theme", "", "", "colour theme `NAME`: "+strings.Join(term.Themes, ", ")+" (default: the one in the configuration file)", term.Themes...)
}

// Configure sets a terminal's theme. It returns the user's configuration, and what is wrong with that file; "": nothing.
func (f *ThemeFlag) Configure(a *App, t *term.Term) (*config.File, string) {
	file, err := config.Load(config.Path(a.Env.Getenv))
	t.Theme, _ = term.ParseTheme(cmp.Or(f.theme, file.Theme)) // both are checked
	if err != nil {
		return file, err.Error()
	}
	return file, ""
}

// NoFullScreen says why no full screen can be shown, or no keys read; "": they can.
func NoFullScreen() string {
	switch {
	case !xterm.IsTerminal(int(os.Stdin.Fd())):
		return "standard input is not a terminal"
	case !xterm.IsTerminal(int(os.Stdout.Fd())):
		return "standard output is not a terminal"
	case os.Getenv("TERM") == "dumb":
		return "TERM is dumb: nothing can be drawn on this terminal"
	}
	return ""
}
