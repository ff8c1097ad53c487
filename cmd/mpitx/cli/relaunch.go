package cli

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/machine/keep"
)

// CommandLine is this process's command line up to the command's name, and the rest: flags between the two are added for the processes
// that run the same command for this one.
func (a *App) CommandLine(cmd *cobra.Command) (command, arguments []string, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, Failf("start: %v", err)
	}
	at := slices.Index(a.Args, cmd.Name()) + 1
	return append([]string{exe}, a.Args[:at]...), a.Args[at:], nil
}

// UntilEnded returns a context that the first ending signal cancels, with the error that the command ends with as its cause. A signal
// after keep.Patience ends mpitx at once; an earlier one would reach launchers through the end of mpitx, as their second.
func UntilEnded() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	keep.Endings(signals)
	go func() {
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(EndedBy(number))
		case <-over:
		}
		select {
		case <-time.After(keep.Patience):
		case <-over:
		}
		keep.Stop(signals)
	}()
	return ctx, sync.OnceFunc(func() {
		close(over)
		cancel(nil)
	})
}

// EndedBy is the error of a command that a signal ended.
func EndedBy(s syscall.Signal) error {
	return &ExitError{Code: 128 + int(s), Text: "ended by a signal (" + s.String() + ") before there was a result"}
}

// Relaunch runs this command again under the MPI's launcher.
func (s *Source) Relaunch(command *cobra.Command) error {
	name, arguments, err := s.App.CommandLine(command)
	if err != nil {
		return err
	}
	code, err := s.startRanks(slices.Concat(name, []string{"--launched"}, arguments), answers{s.App.Std}, s.App.Std.Stderr())
	return cmp.Or(err, Exit(code))
}

// startRanks starts ranks of a command of mpitx.
func (s *Source) startRanks(command []string, stdout, stderr io.Writer) (code int, err error) {
	// The ranks use this process's terminal, and the MPI that this process has chosen.
	variables := slices.Concat([]string{export.TermVariable + "=" + s.Term.Pass(), WidthVariable + "=" + strconv.Itoa(s.App.MessageWidth()), MpiVariable(s.Chosen)},
		machine.Quiet(s.Chosen), s.Environ)
	return launch.Ranks(s.App.Env, s.Chosen, s.N, command, variables, stdout, stderr)
}

// Snapshot reads a live library as a whole, and ends the processes that read it. On ranks other than 0 its error is just an exit code. whole
// is false if parts of it could not be read.
func (s *Source) Snapshot(cmd *cobra.Command) (c *catalog.Catalog, whole bool, err error) {
	var text bytes.Buffer
	if s.Chosen, err = s.App.Env.Choose(s.MPI); err != nil {
		return nil, false, err
	}
	code := ExitDone
	if s.N > 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, false, Failf("start: %v", err)
		}
		code, err = s.startRanks([]string{exe, "snapshot", "--launched", "--timeout=" + s.Timeout.String()}, &text, s.App.Errs)
		if err == nil && code != ExitDone && code != ExitPartial {
			err = Exit(code) // the ranks printed the error
		}
		if err != nil {
			return nil, false, err
		}
	} else {
		if c, err = s.Open(cmd, nil, ""); err != nil {
			return nil, false, err
		}
		code = s.Warn(c)
		s.Job.Settle(ExitDone)
		inspect.CacheNames(s.App.Env, s.Chosen, c)
		s.Job.Finish(ExitDone)
		if err = catalog.Write(&text, c); err != nil {
			return nil, false, err
		}
	}
	if c, err = catalog.Read(&text); err != nil {
		err = Failf("read the snapshot of %s: %v", s.Chosen.Name(), err)
	}
	return c, code == ExitDone, err
}

// MpiVariable passes the choice of MPI to the ranks.
func MpiVariable(m machine.MPI) string {
	if m.Lib != "" {
		return "MPITX_MPI=" + m.Lib
	}
	return "MPITX_MPI=" + m.Family
}
