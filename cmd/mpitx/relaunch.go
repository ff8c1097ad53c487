package main

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// withoutRanks drops -n and --ranks from a command line. The flags say which arguments are values: "-n" may be one.
func withoutRanks(flags *pflag.FlagSet, args []string) []string {
	var out []string
	for k := 0; k < len(args); k++ {
		a := args[k]
		if a == "--" {
			return append(out, args[k:]...)
		}
		f, keep, whole := flagOf(flags, a)
		words := args[k : k+1]
		if f != nil && !whole && k+1 < len(args) {
			k++
			words = args[k-1 : k+1]
		}
		switch {
		case f == nil || f.Name != "ranks":
			out = append(out, words...)
		case keep != "-":
			out = append(out, keep)
		}
	}
	return out
}

// flagOf is the last flag that an argument names, and what stands before it; not whole is one whose value is the next argument.
func flagOf(flags *pflag.FlagSet, arg string) (f *pflag.Flag, before string, whole bool) {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, hasValue := strings.Cut(name, "=")
		f = flags.Lookup(name)
		return f, "-", hasValue || f == nil || f.NoOptDefVal != ""
	}
	if !strings.HasPrefix(arg, "-") {
		return nil, "", true
	}
	for k := 1; k < len(arg); k++ {
		f = flags.ShorthandLookup(arg[k : k+1])
		if f == nil || f.NoOptDefVal == "" {
			return f, arg[:k], f == nil || k+1 < len(arg)
		}
	}
	return nil, "", true
}

// notifyEndings asks for the signals that end a job; not for SIGHUP where nohup has started us.
func notifyEndings(c chan<- os.Signal) {
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(c, syscall.SIGHUP)
	}
}

// signalPasser passes the first signal that would end us on to a process, those that came before its start too. It kills the
// process at the second one, or if the process does not end.
type signalPasser struct {
	signals chan os.Signal
	done    chan struct{}
	last    chan syscall.Signal // nil: the process was not started
}

func catchSignals() *signalPasser {
	p := &signalPasser{signals: make(chan os.Signal, 4), done: make(chan struct{})}
	notifyEndings(p.signals)
	return p
}

func (p *signalPasser) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	p.last = make(chan syscall.Signal, 1)
	go p.pass(cmd.Process)
	return nil
}

func (p *signalPasser) pass(process *os.Process) {
	var passed syscall.Signal
	var late <-chan time.Time
	for {
		select {
		case <-late:
			process.Kill() // a launcher that hangs, as that of Open MPI 4 does at times
		case s := <-p.signals:
			if passed != 0 {
				process.Kill()
				continue
			}
			passed, _ = s.(syscall.Signal)
			late = time.After(10 * time.Second)
			process.Signal(s)
		case <-p.done:
			p.last <- passed
			return
		}
	}
}

// stop ends the passing, once; it returns the signal that was passed, 0 if there was none.
func (p *signalPasser) stop() syscall.Signal {
	select {
	case <-p.done:
		return 0
	default:
	}
	signal.Stop(p.signals)
	close(p.done)
	if p.last == nil {
		return 0
	}
	return <-p.last
}
