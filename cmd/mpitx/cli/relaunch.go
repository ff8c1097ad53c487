package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
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
	keeper := keep.Catch(keep.Options{Launcher: true})
	defer keeper.Stop()
	name, arguments, err := s.App.CommandLine(command)
	if err != nil {
		return err
	}
	argv, environ, err := s.App.Env.LaunchCommand(s.Chosen, s.N, slices.Concat(name, []string{"--launched"}, arguments))
	if err != nil {
		return err
	}
	// The ranks use this process's terminal, and the MPI that this process has chosen.
	environ = append(environ, export.TermVariable+"="+s.Term.Pass(), WidthVariable+"="+strconv.Itoa(s.App.MessageWidth()))
	environ = append(append(environ, MpiVariable(s.Chosen)), machine.Quiet(s.Chosen)...)
	if argv[0] == machine.SelfLaunch {
		return Exit(selfLaunch(s.N, argv[2:], environ, s.App.Std))
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environ
	out := &relay{to: answers{s.App.Std}}
	cmd.Stdout, cmd.Stderr = out, s.App.Std.Stderr()
	cmd.WaitDelay = 5 * time.Second // for processes that outlive the launcher
	if err := keeper.Start(cmd); err != nil {
		return Failf("start %s: %v", argv[0], err)
	}
	cmd.Wait()
	code := ExitCode(cmd.ProcessState)
	if passed := keeper.Stop(); passed != 0 { // Hydra exits with 0 then
		code = 128 + int(passed)
	} else if out.err != nil {
		return out.err
	}
	return Exit(code)
}

// relay passes a launcher's output on. After a failed write it still reads: launchers crash on a closed pipe, or hide
// the failure.
type relay struct {
	to  io.Writer
	err error
}

func (r *relay) Write(p []byte) (int, error) {
	if r.err == nil {
		_, r.err = r.to.Write(p)
	}
	return len(p), nil
}

// MpiVariable passes the choice of MPI to the ranks.
func MpiVariable(m machine.MPI) string {
	if m.Lib != "" {
		return "MPITX_MPI=" + m.Lib
	}
	return "MPITX_MPI=" + m.Family
}

func ExitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
