//go:build cgo && linux

package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// Backend is the hidden command that reads one stage of an MPI library and tells the front over a descriptor. It
// returns the process's exit code.
func Backend() int {
	runtime.LockOSThread()
	os.Unsetenv("GOMAXPROCS") // which was for us
	debug.SetGCPercent(400)
	b := &backend{out: toFront(), frames: make(chan frame, 256)}
	kind, payload, err := readFrame(os.Stdin)
	if err != nil || kind != frameRequest || b.out == nil || unpack(payload, &b.request) != nil {
		fmt.Fprintln(os.Stderr, "mpitx: backend: this command is mpitx's own, started by others of its commands")
		return 2
	}
	signal.Ignore(syscall.SIGINT) // a terminal sends it to us too; the front decides, and we go with it
	if os.Getenv("MPITX_DEBUG") == "" {
		binding.DieOfCrashes()
	}
	go b.listen()
	code, err := b.run()
	if err != nil {
		var mismatch *locate.Error
		b.say(frameError, pack(failure{Text: err.Error(), Whole: errors.As(err, &mismatch)}))
		return 1
	}
	return code
}

// toFront is the descriptor to the front, the second argument of the command. What we start ourselves does not get it.
func toFront() *os.File {
	if len(os.Args) < 4 {
		return nil
	}
	fd, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return nil
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "front")
}

type backend struct {
	request Request
	out     *os.File
	mu      sync.Mutex
	frames  chan frame  // from the front, after the request
	leaving atomic.Bool // the end of the front means nothing any more

	lib     *binding.Library
	tool    *binding.Interface
	process *catalog.Process
	indices map[string]int // of the variables, by ID
	host    string
	stamp   binding.Stamp // of the categories, when they were read

	headStart time.Duration // of the other ranks in MPI_Finalize

	cancelled cancelled // tasks
	mark      marker    // of the access under way
}

func (b *backend) say(kind byte, payload []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	writeFrame(b.out, kind, payload) // a front that is gone takes us with it, in listen
}

// sayProcess says what this process saw.
func (b *backend) sayProcess() {
	frame := b.process.AppendBinary(make([]byte, frameHead))
	b.mu.Lock()
	defer b.mu.Unlock()
	writeInPlace(b.out, frameProcess, frame)
}

func (b *backend) phase(text string) { b.say(framePhase, []byte(text)) }

// listen ends this process with the front: nobody would read what it finds.
func (b *backend) listen() {
	for {
		kind, payload, err := readFrame(os.Stdin)
		if err != nil {
			if b.leaving.Load() {
				return
			}
			if err != io.EOF {
				fmt.Fprintln(os.Stderr, "mpitx: backend:", err)
			}
			os.Exit(1)
		}
		if kind == frameCancel {
			b.cancelled.add(payload)
			continue
		}
		b.frames <- frame{kind, payload}
	}
}

func (b *backend) run() (int, error) {
	start := time.Now()
	b.phase("loading the library")
	if err := b.load(); err != nil {
		return 0, err
	}
	rank, size := 0, 1
	if b.request.Stage == After {
		b.phase(phaseInit)
		if _, err := b.lib.Init(catalog.ThreadSingle); err != nil {
			return 0, err
		}
		var err error
		if rank, size, err = b.lib.World(); err != nil {
			return 0, err
		}
		if b.host, err = b.lib.ProcessorName(); err != nil || b.host == "" {
			b.host, _ = os.Hostname()
		}
		b.say(frameHello, pack(hello{rank, size, b.host}))
		if err := b.mismatch(size); err != nil {
			return 0, err
		}
	} else {
		rank = max(0, b.request.Launch.Rank)
		b.host, _ = os.Hostname()
	}
	m := &mail{lib: b.lib}
	if rank != 0 && b.request.Stage == After {
		if err := m.send(pack(hello{rank, size, b.host}), 0, tagHello); err != nil {
			return 0, err
		}
	}

	outcomes, err := b.observe(rank, size, start)
	if err != nil && (rank == 0 || b.request.Stage == Before) {
		return 0, err
	}
	if b.request.Stage == Before {
		b.sayProcess()
		b.say(frameResult, pack(result{Outcomes: outcomes}))
		return 0, nil
	}
	b.phase("merging ranks")
	if rank == 0 {
		return b.lead(m, size, outcomes)
	}
	return b.follow(m, rank, size, outcomes, err)
}

func (b *backend) load() (err error) {
	if b.request.MPI.Family == locate.Demo {
		b.lib, err = binding.Demo()
	} else {
		b.lib, err = binding.Load(b.request.Shim, b.request.MPI.Lib)
	}
	return err
}

// mismatch finds out whether the launcher started this rank for another MPI: then every rank is alone.
func (b *backend) mismatch(size int) error {
	if size != 1 || b.request.Launch.Size <= 1 {
		return nil
	}
	return locate.Mismatch(locate.System().Launcher(), b.request.MPI, size, false)
}

// observe reads this process's stage and does the writes that were asked for.
func (b *backend) observe(rank, size int, start time.Time) (catalog.Outcomes, error) {
	b.phase("MPI_T_init_thread")
	tool, thread, err := b.lib.InitThread(catalog.ThreadMultiple)
	if err != nil {
		return nil, err
	}
	b.phase("reading variables")
	b.tool = tool
	if b.process, b.indices, err = b.survey(); err != nil {
		return nil, err
	}
	p := b.process
	p.Rank, p.Host = rank, b.host
	p.Stage.Thread = thread
	p.Stage.Seconds = time.Since(start).Seconds()
	return b.write(rank, size), nil
}

// survey reads everything that the library lists now.
func (b *backend) survey() (*catalog.Process, map[string]int, error) {
	b.stamp = b.currentStamp()
	return observe(b.lib, b.tool, binding.ProbeOptions{Object: b.object(), TrialWrites: true, Limit: b.request.Limit, Total: b.request.Total,
		Exclude: b.request.Exclude})
}

// currentStamp is MPI_T_category_changed; 0 where it means nothing, as it differs from call to call.
func (b *backend) currentStamp() binding.Stamp {
	first, err := b.tool.CategoryChanged()
	second, again := b.tool.CategoryChanged()
	if err != nil || again != nil || first != second {
		return 0
	}
	return first
}

// changed reports whether the library lists other things than at the last survey.
func (b *backend) changed() bool {
	st := &b.process.Stage
	for _, n := range []struct {
		now func() (int, error)
		was int
	}{{b.tool.NumCvars, st.Cvars}, {b.tool.NumPvars, st.Pvars}, {b.tool.NumCategories, st.Categories}} {
		if now, err := n.now(); err == nil && now != n.was {
			return true
		}
	}
	return b.currentStamp() != b.stamp
}

// object is what variables of communicators are bound to.
func (b *backend) object() binding.Object {
	if b.request.Self {
		return binding.CommSelf
	}
	return binding.CommWorld
}

// frame waits for a frame of a kind from the front; others that come first are dropped.
func (b *backend) frame(kind byte, limit time.Duration) ([]byte, bool) {
	late := time.After(limit)
	for {
		select {
		case f := <-b.frames:
			if f.kind == kind {
				return f.payload, true
			}
		case <-late:
			return nil, false
		}
	}
}

// beforeStage is the stage before MPI_Init as the front read it beside us; nil where it could not.
func (b *backend) beforeStage() *catalog.Process {
	if !b.request.Before {
		return nil
	}
	payload, ok := b.frame(frameBefore, b.request.Patience)
	if !ok || len(payload) == 0 {
		return nil
	}
	p, err := catalog.DecodeProcess(payload)
	if err != nil {
		return nil
	}
	return p
}

// lead is rank 0: it collects the others' reports and hands all to the front, then passes on the verdict.
func (b *backend) lead(m *mail, size int, outcomes catalog.Outcomes) (int, error) {
	b.sayProcess()
	stages := func() rootStages {
		s := rootStages{After: b.process.Root().AppendBinary(nil)}
		if before := b.beforeStage(); before != nil {
			s.Before = before.Root().AppendBinary(nil)
		}
		return s
	}
	failed := map[int]string{}
	lost, hosts, err := m.collect(size, stages, b.request.Patience, func(rank int, r report) {
		if r.Failed != "" {
			failed[rank] = r.Failed
			return
		}
		b.say(frameDelta, r.After)
		if len(r.Before) > 0 {
			b.say(frameNode, r.Before)
		}
		outcomes = append(outcomes, r.Outcomes...)
	})
	if err != nil {
		return 0, err
	}
	quit := len(lost) > 0 // MPI_Finalize would wait for them
	if lost == nil {
		lost = map[int]string{}
	}
	for r, why := range failed {
		lost[r] = why
	}
	hosts[0] = b.host
	b.say(frameResult, pack(result{Outcomes: outcomes, Lost: lost, Hosts: hosts}))

	if size == 1 && b.request.Alone {
		return b.alone(), nil
	}
	b.phase("waiting for the front")
	verdict := []byte{1}
	if v, ok := b.frame(frameVerdict, time.Minute); ok && len(v) > 0 {
		verdict = v
	}
	for r := 1; r < size; r++ {
		if lost[r] == "" || failed[r] != "" {
			if err := m.send(verdict, r, tagVerdict); err != nil {
				return 0, err
			}
		}
	}
	if b.request.MPI.Family == locate.MPICH && severalNodes(hosts) {
		b.headStart = finalizeHeadStart
	}
	return b.end(m, b.obey(m, 0, size, verdict), quit), nil
}

// finalizeHeadStart is how much later rank 0 enters MPI_Finalize if MPICH has several nodes: in MPICH over UCX's TCP, ranks there wait for
// an answer of each other. A rank that still polls for messages answers as well, and waits in vain when it gets there itself.
const finalizeHeadStart = 200 * time.Millisecond

func severalNodes(hosts map[int]string) bool {
	for _, host := range hosts {
		if host != hosts[0] {
			return true
		}
	}
	return false
}

// follow is every other rank.
func (b *backend) follow(m *mail, rank, size int, outcomes catalog.Outcomes, failed error) (int, error) {
	deadline := time.Now().Add(2 * b.request.Patience)
	report := report{Host: b.host, Outcomes: outcomes}
	if failed != nil {
		report.Failed = failed.Error()
	} else {
		if err := m.send(nil, 0, tagReady); err != nil {
			return 0, err
		}
		data, err := m.wait(0, tagRoot, deadline)
		if err != nil {
			return 0, fmt.Errorf("rank 0: %w", err)
		}
		var s rootStages
		if err := unpack(data, &s); err != nil {
			return 0, err
		}
		report.After = difference(s.After, b.process)
		if before := b.beforeStage(); before != nil && len(s.Before) > 0 {
			before.Rank, before.Host = b.process.Rank, b.host
			report.Before = difference(s.Before, before)
		}
	}
	if err := m.send(pack(report), 0, tagReport); err != nil {
		return 0, err
	}
	b.phase("waiting for rank 0")
	v, err := m.wait(0, tagVerdict, time.Now().Add(4*b.request.Patience))
	if err != nil {
		return 0, fmt.Errorf("rank 0: %w", err)
	}
	if len(v) == 0 {
		v = []byte{1}
	}
	b.say(frameAgreed, v)
	return b.end(m, b.obey(m, rank, size, v), false), nil
}

// difference is what p has to say to a rank that sent its root; a root that cannot be read is answered with everything.
func difference(root []byte, p *catalog.Process) []byte {
	r, err := catalog.DecodeRoot(root)
	if err != nil {
		return (&catalog.Delta{Rank: p.Rank, Whole: p}).AppendBinary(nil)
	}
	return r.Diff(p).AppendBinary(nil)
}

// end finalizes MPI, unless ranks are missing: it would wait for them.
func (b *backend) end(m *mail, code int, quit bool) int {
	m.flush(time.Now().Add(5 * time.Second))
	if quit {
		// The launcher must first see the front go: mpirun of Open MPI 4 often deadlocks when a process breaks its connection.
		select {}
	}
	b.phase("MPI_Finalize")
	time.Sleep(b.headStart)
	if err := b.lib.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: MPI_Finalize:", err)
	}
	binding.Exit(code)
	return code // not reached
}

// alone ends a process that no launcher waits for, once it has said all. Nor does the front wait: MPI_Finalize, which takes
// Open MPI 45 ms, and the exit happen behind its back, and not for longer than seconds.
func (b *backend) alone() int {
	b.phase("MPI_Finalize")
	if binding.OutliveParent(10 * time.Second) {
		b.leaving.Store(true)
		b.say(frameEnd, nil)
	}
	b.lib.Finalize()
	binding.Exit(0)
	return 0 // not reached
}
