package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/spf13/pflag"

	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
)

// Version is set by the build.
var Version = "0.1.0-dev"

// App is what all commands share.
type App struct {
	Out     *bufio.Writer
	Errs    io.Writer
	Std     *Standard
	Env     *machine.Env
	Color   string // --color
	noPager bool   // --no-pager

	Commands []string // their names
	Args     []string // of this process

	// Last is called with the exit code after everything was printed, and returns the one to exit with: other processes wait for it.
	// nil: only the parent process waits.
	Last func(code int) int
}

// NewApp is the app of this process, and its rank: -1 without a launcher. Rank 0 prints the answer; the others print their errors only.
func NewApp() (a *App, rank int) {
	std := &Standard{}
	a = &App{Out: bufio.NewWriterSize(answers{std}, 1<<16), Errs: messages{std}, Std: std, Env: machine.System()}
	if rank = a.Env.Launcher().Rank; rank > 0 {
		a.Out = bufio.NewWriter(io.Discard)
	}
	return a, rank
}

// WarnOverridden warns if programs load another library than the chosen one.
func (a *App) WarnOverridden(m machine.MPI, want string) {
	if text := settings.Overridden(a.Env, m, want); text != "" {
		a.Complain("warning: %s", text)
	}
}

// Terminal describes the terminal that the answer goes to.
func (a *App) Terminal() (export.Terminal, error) {
	out := os.Stdout
	if l := a.Env.Launcher(); l.Rank >= 0 {
		// Launchers connect ranks to a terminal or a pipe as they like, so look at the launcher's own standard output.
		f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", l.PID), os.O_WRONLY|syscall.O_NOCTTY, 0)
		if err != nil {
			f, _ = os.Open(os.DevNull)
		}
		defer f.Close()
		out = f
	}
	t, err := export.Detect(out, a.Env.Getenv, a.Color)
	if err != nil {
		return t, Usagef("%v", err)
	}
	return t, nil
}

// Flags defines the flags that all commands have.
func (a *App) Flags(f *pflag.FlagSet) {
	a.Color = "auto"
	f.Var(choice[string]{&a.Color, export.ColorFlags}, "color", "`WHEN` to use colours: auto, always or never; auto respects NO_COLOR")
	f.BoolVar(&a.noPager, "no-pager", false, "never show long tables in a pager ($MPITX_PAGER, $PAGER or less)")
}

// RunsDir is where the runs of this user are: MPITX_DIR, or here.
func (a *App) RunsDir() string { return cmp.Or(a.Env.Getenv("MPITX_DIR"), ".") }
