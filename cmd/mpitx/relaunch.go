package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/export"
	"mpitx/machine"
	"mpitx/machine/keep"
)

// innerCommand is the command that a launcher starts for each rank: this one with its flags except -n, more flags, and
// its arguments.
func innerCommand(cmd *cobra.Command, more ...string) ([]string, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, failf("start: %v", err)
	}
	line := append([]string{exe}, strings.Fields(cmd.CommandPath())[1:]...)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, old := f.Value.(renamed); old || f.Name == "ranks" {
			return
		}
		if several, ok := f.Value.(interface{ words() []string }); ok {
			line = append(line, several.words()...)
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			line = append(line, "--"+f.Name+"="+v)
		}
	})
	line = append(line, more...)
	if args := cmd.Flags().Args(); len(args) > 0 {
		line = append(append(line, "--"), args...)
	}
	return line, nil
}

// untilEnded returns a context that the first ending signal cancels, with the error that the command ends with as its cause. A signal
// after keep.Patience ends mpitx at once; an earlier one would reach launchers through the end of mpitx, as their second.
func untilEnded() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	keep.Endings(signals)
	go func() {
		select {
		case s := <-signals:
			number, _ := s.(syscall.Signal)
			cancel(endedBy(number))
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

// endedBy is the error of a command that a signal ended.
func endedBy(s syscall.Signal) error {
	return &exitError{code: 128 + int(s), text: "ended by a signal (" + s.String() + ") before there was a result"}
}

// relaunch runs this command again under the MPI's launcher.
func (s *source) relaunch(command *cobra.Command) error {
	keeper := keep.Catch(keep.Options{Launcher: true})
	defer keeper.Stop()
	inner, err := innerCommand(command)
	if err != nil {
		return err
	}
	argv, environ, err := s.a.env.LaunchCommand(s.chosen, s.n, inner)
	if err != nil {
		return err
	}
	// The ranks use this process's terminal, and the MPI that this process has chosen.
	environ = append(environ, export.TermVariable+"="+s.term.Pass(), widthVariable+"="+strconv.Itoa(s.a.messageWidth()))
	environ = append(append(environ, mpiVariable(s.chosen)), machine.Quiet(s.chosen)...)
	if argv[0] == machine.SelfLaunch {
		return exit(selfLaunch(s.n, argv[2:], environ, s.a.std))
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = environ
	out := &relay{to: answers{s.a.std}}
	cmd.Stdout, cmd.Stderr = out, s.a.std.stderr()
	cmd.WaitDelay = 5 * time.Second // for processes that outlive the launcher
	if err := keeper.Start(cmd); err != nil {
		return failf("start %s: %v", argv[0], err)
	}
	cmd.Wait()
	code := exitCode(cmd.ProcessState)
	if passed := keeper.Stop(); passed != 0 { // Hydra exits with 0 then
		code = 128 + int(passed)
	} else if out.err != nil {
		return out.err
	}
	return exit(code)
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

// mpiVariable passes the choice of MPI to the ranks.
func mpiVariable(m machine.MPI) string {
	if m.Lib != "" {
		return "MPITX_MPI=" + m.Lib
	}
	return "MPITX_MPI=" + m.Family
}

func exitCode(s *os.ProcessState) int {
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return s.ExitCode()
}
