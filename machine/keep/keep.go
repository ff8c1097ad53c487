// Package keep starts launchers and other processes that must not outlive mpitx. Each is in a process group of its own, so
// that it gets every signal once: from mpitx, whether the signal was sent to mpitx or to its process group.
package keep

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Patience is how long a launcher may take to end its processes. Open MPI's mpirun exits at once, and leaves them running, if a second
// signal follows the first within 5 s.
const Patience = 10 * time.Second

// Endings subscribes to the signals that end a job, without SIGHUP if nohup started mpitx.
func Endings(c chan<- os.Signal) {
	Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

// Notify subscribes to signals, except those that mpitx ignores; the processes that it starts ignore them, too.
func Notify(c chan<- os.Signal, signals ...os.Signal) {
	for _, s := range signals {
		if s == syscall.SIGQUIT {
			quits.Lock()
			defer quits.Unlock()
			quits.to[c] = true
		}
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Stop ends a subscription of Notify or Endings.
func Stop(c chan<- os.Signal) {
	quits.Lock()
	defer quits.Unlock()
	delete(quits.to, c)
	signal.Stop(c)
}

// quits are the subscriptions to SIGQUIT.
var quits = struct {
	sync.Mutex
	to map[chan<- os.Signal]bool
}{to: map[chan<- os.Signal]bool{}}

// Quit makes SIGQUIT end this process as other signals do, unless there is a subscription: Go would print the stacks of all goroutines.
func Quit() {
	if signal.Ignored(syscall.SIGQUIT) {
		return
	}
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGQUIT)
	go func() {
		for range c {
			quits.Lock()
			if len(quits.to) == 0 {
				Die(syscall.SIGQUIT)
			}
			quits.Unlock()
		}
	}()
}

// QuitContext returns a context that SIGQUIT cancels.
func QuitContext() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan os.Signal, 1)
	Notify(c, syscall.SIGQUIT)
	go func() {
		select {
		case <-c:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		Stop(c)
		cancel()
	}
}

// Options say how a Keeper treats signals. The zero value is for processes of mpitx: the first signal that ends a job is passed on, and
// after Patience the process is killed.
type Options struct {
	Pass     []os.Signal // passed on as often as they come; nil: those that end a job, once
	Repeat   bool        // also those that end a job, within Patience
	Launcher bool        // the process is a launcher: it stops and continues with mpitx
	Hold     bool        // mpitx ignores signals after Stop

	// Gone reports whether a launcher has nothing left to wait for. Such a launcher is ended, as it hangs (Open MPI 4), if Patience has passed
	// since a signal that ends the job. nil: this is not known.
	Gone func() bool

	patience time.Duration // Patience, except in tests
}

// Keeper passes the signals of mpitx to a process that it starts, also those that came before.
type Keeper struct {
	Options
	signals chan os.Signal
	done    chan struct{}
	last    chan syscall.Signal // nil: the process was not started
	unwatch func()
}

// Catch keeps the signals for a process that starts later.
func Catch(o Options) *Keeper {
	o.patience = cmp.Or(o.patience, Patience)
	k := &Keeper{Options: o, signals: make(chan os.Signal, 64), done: make(chan struct{}), unwatch: func() {}}
	Endings(k.signals)
	Notify(k.signals, o.Pass...)
	if o.Launcher {
		Notify(k.signals, jobSignals...)
	}
	return k
}

// Start starts the process. If mpitx dies, the process gets SIGTERM. The error comes from [exec.Cmd.Start].
func (k *Keeper) Start(cmd *exec.Cmd) error {
	own(cmd, k.Launcher)
	if !k.Launcher {
		runtime.LockOSThread() // the process would take the end of this thread for the end of mpitx
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if k.Launcher {
		k.unwatch = Watch(cmd.Process.Pid)
	}
	k.last = make(chan syscall.Signal, 1)
	go k.pass(cmd.Process)
	return nil
}

// End asks the process to end, as a signal from outside does.
func (k *Keeper) End() {
	select {
	case k.signals <- syscall.SIGTERM:
	default: // there is a signal to come
	}
}

func (k *Keeper) pass(p *os.Process) {
	var first syscall.Signal
	var last time.Time // an ending was passed
	var late <-chan time.Time
	asked := false
	for {
		select {
		case <-late:
			switch late = time.After(k.patience); {
			case k.Pass == nil || asked && k.Gone():
				p.Kill() // launchers hang at times (Open MPI 4)
			case k.Gone():
				asked = true
				p.Signal(syscall.SIGTERM)
			}
		case s := <-k.signals:
			switch n, _ := s.(syscall.Signal); {
			case control(p.Pid, n):
			case !ends(n):
				p.Signal(n)
			case first == 0 || k.Repeat || k.Pass != nil && time.Since(last) > k.patience:
				if first == 0 {
					first = n
				}
				if last = time.Now(); k.Pass == nil || k.Gone != nil {
					late = time.After(k.patience)
				}
				p.Signal(n)
			}
		case <-k.done:
			k.last <- first
			return
		}
	}
}

func ends(s syscall.Signal) bool {
	return s == syscall.SIGINT || s == syscall.SIGTERM || s == syscall.SIGHUP || s == syscall.SIGQUIT
}

// Stop ends the passing, once. It returns the first signal that was passed to end the process, or 0.
func (k *Keeper) Stop() syscall.Signal {
	select {
	case <-k.done:
		return 0
	default:
	}
	if !k.Hold {
		Stop(k.signals)
	}
	close(k.done)
	k.unwatch()
	if k.last == nil {
		return 0
	}
	return <-k.last
}
