//go:build cgo && linux

package inspect

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/machine"
)

// Backend is a process that has loaded the MPI library and reads one stage.
type Backend struct {
	Front      *transport.Front
	Lib        *binding.Library
	Tool       *binding.Interface
	Mail       *transport.Mail
	Rank, Size int
	Host       string
	Process    *catalog.Process // what it read
	Indices    map[string]int   // of the variables, by ID

	session       *binding.Session // of the performance variables that were opened
	pvars         map[string]*binding.PvarHandle
	request       request
	serve         func(*Backend) int
	stamp         binding.Stamp // of the categories, when they were read
	environ       []string      // with which it was started: loading a library changes it
	finalizeDelay time.Duration // of the other ranks in MPI_Finalize
}

// RunBackend is the hidden command that reads one stage of an MPI library for its front, and then serves if rank 0's
// front invites it to. Its arguments come from transport.Start. It returns the exit code.
func RunBackend(args []string, serve func(*Backend) int) int {
	if len(args) > 3 && args[0] == "qmpi" {
		return examineTools(args[1:])
	}
	if len(args) > 1 && args[0] == "layers" {
		return askLayers(args[1], args[2:])
	}
	runtime.LockOSThread()
	os.Unsetenv("GOMAXPROCS") // it was meant for this process only
	debug.SetGCPercent(400)
	b := &Backend{Size: 1, serve: serve, environ: os.Environ()}
	var err error
	if b.Front, err = transport.OpenFront(args[min(1, len(args)):], &b.request); err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: backend: this command is internal; other commands of mpitx start it")
		return 2
	}
	signal.Ignore(syscall.SIGINT) // a terminal sends it to the whole group; the front decides, and this process exits with it
	if os.Getenv("MPITX_DEBUG") == "" {
		signal.Ignore(syscall.SIGQUIT) // likewise; Go would print stacks
		binding.SilenceCrashes()
	}
	go b.Front.Listen()
	code, err := b.run()
	if err != nil {
		var mismatch *machine.Error
		b.Front.Send(transport.FrameError, transport.Pack(failure{Text: err.Error(), Whole: errors.As(err, &mismatch)}))
		return 1
	}
	return code
}

func (b *Backend) run() (int, error) {
	start := time.Now()
	if err := b.enter(); err != nil {
		return 0, err
	}
	err := b.observe(start)
	if err != nil && (b.Rank == 0 || b.request.Stage == Before) {
		return 0, err
	}
	var outcomes catalog.Outcomes
	if err == nil {
		outcomes = b.Write(b.request.Writes)
	}
	if b.request.Stage == Before {
		b.Front.SendAppended(transport.FrameProcess, b.Process.AppendBinary)
		b.Front.Send(transport.FrameResult, transport.Pack(result{Outcomes: outcomes}))
		return 0, nil
	}
	b.Front.Phase("merging ranks")
	if b.Rank == 0 {
		return b.lead(outcomes)
	}
	return b.follow(outcomes, err)
}

// enter loads the library, and initializes MPI for the stage after it.
func (b *Backend) enter() (err error) {
	b.Front.Phase("loading the library")
	if b.request.MPI.Family == machine.Demo {
		b.Lib, err = binding.Demo()
	} else {
		b.Lib, err = binding.Load(b.request.Shim, b.request.MPI.Lib)
	}
	if err != nil {
		return err
	}
	b.Mail = &transport.Mail{Lib: b.Lib}
	if b.request.Stage == Before {
		b.Rank = max(0, b.request.Rank)
		b.Host, _ = os.Hostname()
		return nil
	}
	b.Front.Phase(phaseInit)
	if _, err := b.Lib.Init(catalog.ThreadSingle); err != nil {
		return err
	}
	if b.Rank, b.Size, err = b.Lib.World(); err != nil {
		return err
	}
	if b.Host, err = b.Lib.ProcessorName(); err != nil || b.Host == "" {
		b.Host, _ = os.Hostname()
	}
	hello := transport.Pack(hello{b.Rank, b.Size, b.Host})
	b.Front.Send(transport.FrameHello, hello)
	if b.Size == 1 && b.request.Size > 1 { // if the launcher belongs to another MPI, every rank is a job of its own
		if err := machine.Mismatch(machine.System().Launcher(), b.request.MPI, b.Size, false); err != nil {
			return err
		}
	}
	if b.Rank != 0 {
		return b.Mail.Send(hello, 0, tagHello)
	}
	return nil
}

// observe reads this process's stage.
func (b *Backend) observe(start time.Time) error {
	b.Front.Phase("MPI_T_init_thread")
	tool, thread, err := b.Lib.InitThread(catalog.ThreadMultiple)
	if err != nil {
		return err
	}
	b.Front.Phase("reading variables")
	b.Tool = tool
	if err := b.Survey(); err != nil {
		return err
	}
	b.Process.Stage.Thread, b.Process.Stage.Seconds = thread, time.Since(start).Seconds()
	return nil
}

// Survey reads everything that the library lists at this moment. An error means that the library could not be read at
// all; faults of variables are in their readings.
func (b *Backend) Survey() error {
	b.stamp = b.currentStamp()
	seen, indices, err := observe(b.Lib, b.Tool, binding.ProbeOptions{Object: b.Object(), TrialWrites: true, Limit: b.request.Limit, Total: b.request.Total,
		Exclude: b.request.Exclude})
	if err != nil {
		return err
	}
	seen.Rank, seen.Host, seen.Stage.Stamp = b.Rank, b.Host, int(b.stamp)
	if b.Process != nil { // a later survey
		seen.Stage.Thread, seen.Stage.Seconds = b.Process.Stage.Thread, b.Process.Stage.Seconds
	}
	b.Process, b.Indices = seen, indices
	return nil
}

// currentStamp is MPI_T_category_changed; 0 if it changes with every call and so means nothing.
func (b *Backend) currentStamp() binding.Stamp {
	first, err := b.Tool.CategoryChanged()
	second, again := b.Tool.CategoryChanged()
	if err != nil || again != nil || first != second {
		return 0
	}
	return first
}

// Changed reports whether the library lists other variables, categories or events than at the last survey.
func (b *Backend) Changed() bool {
	st := &b.Process.Stage
	for _, n := range []struct {
		now func() (int, error)
		was int
	}{{b.Tool.NumCvars, st.Cvars}, {b.Tool.NumPvars, st.Pvars}, {b.Tool.NumCategories, st.Categories}, {b.Tool.NumEvents, st.Events}, {b.Tool.NumSources, st.Sources}} {
		if now, err := n.now(); err == nil && now != n.was {
			return true
		}
	}
	return b.currentStamp() != b.stamp
}

// Object is the object to which variables of communicators are bound.
func (b *Backend) Object() binding.Object {
	if b.request.Self {
		return binding.CommSelf
	}
	return binding.CommWorld
}
