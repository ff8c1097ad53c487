//go:build cgo && linux

package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/check"
	"mpitx/machine/keep"
)

// Library is what is tested.
type Library struct {
	Start

	starved atomic.Bool // the system refused a process

	lock  sync.Mutex
	facts map[string]string // what workers noted about the library
}

// Fact returns what the workers noted about the library: "version", "standard", …
func (l *Library) Fact(name string) string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.facts[name]
}

// Version is the first line of MPI_Get_library_version, Standard the version of MPI that the library claims.
func (l *Library) Version() string  { return l.Fact(factVersion) }
func (l *Library) Standard() string { return l.Fact(factStandard) }

func (l *Library) learn(facts map[string]string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.facts == nil {
		l.facts = map[string]string{}
	}
	maps.Copy(l.facts, facts)
}

// Identify asks the library, in a process of its own, what it is.
func (l *Library) Identify(ctx context.Context) {
	if journals, _, err := l.work(ctx, &rule{}, 0); err == nil {
		l.learn(journals[0].facts)
	}
}

const (
	maxCrashes    = 40 // of one rule; each costs a process
	maxHangs      = 3  // of one rule; each costs the limit of a call
	maxUnchecked  = 8  // of a rule that the library may break: more crashes would not change the result
	poll          = 50 * time.Millisecond
	launcherGrace = 5 * time.Second // in which a launcher that was told to stop ends its processes
)

// Run tests rules, jobs at a time. done is called after each, in no order.
func (l *Library) Run(ctx context.Context, rules []check.Rule, jobs int, done func(*check.Result)) []*check.Result {
	out := make([]*check.Result, len(rules))
	if l.Version() == "" {
		l.Identify(ctx)
	}
	next := make(chan int)
	var wait sync.WaitGroup
	var lock sync.Mutex
	for range max(1, min(jobs, len(rules))) {
		wait.Go(func() {
			for k := range next {
				out[k] = l.test(ctx, find(rules[k].Name))
				lock.Lock()
				done(out[k])
				lock.Unlock()
			}
		})
	}
	for k := range rules {
		next <- k
	}
	close(next)
	wait.Wait()
	return out
}

// test tests one rule: again after each crash, from the item after the one that crashed.
func (l *Library) test(ctx context.Context, r *rule) *check.Result {
	start, limit := time.Now(), maxCrashes
	if r.Allowed != "" {
		limit = maxUnchecked
	}
	result := &check.Result{Rule: r.Rule, Status: check.Passed}
	if l.Keep != nil {
		result.Keep = func(item string) bool { return l.Keep(r.Name, item) }
	}
	defer func() { result.Seconds = time.Since(start).Seconds() }()
	hangs := 0
	for skip, crashes, items, absent := 0, 0, 0, 0; ; crashes++ {
		journals, end, err := l.work(ctx, r, skip)
		if ctx.Err() != nil {
			result.Status, result.Why = check.Failed, "interrupted"
			return result
		}
		if err != nil {
			result.Status, result.Why = check.Failed, err.Error()
			return result
		}
		j := journals[0]
		for _, other := range journals {
			if j.ended && !other.ended || j.failed == "" && other.failed != "" {
				j = other
			}
		}
		l.learn(j.facts)
		for _, v := range j.violations {
			result.Add(v)
		}
		if r.merge != nil && j.ended { // on all ranks
			r.merge(journals, result)
		}
		items, absent = max(items, j.items), absent+j.absent
		result.Items = items - absent
		if j.ended && j.more {
			skip, crashes = j.items, crashes-1
			continue
		}
		if l.settled(result, j, end) {
			return result
		}
		result.Add(l.crash(r, j, end))
		if end.hung {
			hangs++
		}
		switch {
		case j.items <= skip: // before the first item that was left
			if skip > 0 {
				result.Why = fmt.Sprintf("items after the first %d were not tested", skip)
			}
			return result
		case hangs == maxHangs:
			result.Why = fmt.Sprintf("items after %d hangs were not tested", maxHangs)
			return result
		case crashes+1 == limit:
			result.Why = fmt.Sprintf("items after %d crashes were not tested", limit)
			return result
		}
		skip = j.items
	}
}

// settled says what came of a rule whose process did not end by a crash or hang of the library.
func (l *Library) settled(r *check.Result, j *journal, end ending) bool {
	failed := func(why string) bool {
		if r.Why = why; !r.Status.Bad() {
			r.Status = check.Failed
		}
		return true
	}
	switch {
	case j.ended:
		if (j.inapplicable != "" || r.Items == 0) && r.Status == check.Passed {
			r.Status, r.Why = check.NotApplicable, cmp.Or(j.inapplicable, "the library has nothing that this rule is about")
		}
		return true
	case cmp.Or(j.failed, j.inapplicable) != "":
		return failed(cmp.Or(j.failed, j.inapplicable))
	case j.call == "":
		return failed("its process ended before the first call: " + end.String())
	case !end.hung && end.signal != syscall.SIGSEGV && l.starved.Load():
		return failed("the system could not start enough processes; use a smaller --jobs")
	}
	return false
}

// crash is the violation that a process has left by its end.
func (l *Library) crash(r *rule, j *journal, end ending) check.Violation {
	v := check.Violation{Status: check.Crashed, Item: j.item, Expected: j.lastCall() + " returns", Got: end.String()}
	if v.Item == "" {
		v.Item = check.Initialization
	}
	if end.hung {
		v.Status = check.Hung
	}
	preamble := j.preamble
	if j.items == 0 {
		preamble = nil
	}
	lines := slices.Concat(preamble, j.lines)
	if len(j.quiet) > 0 {
		lines = slices.Concat(lines, []string{"{"}, j.quiet, []string{"}"})
	}
	for _, line := range lines {
		if c := (&journal{call: line}).lastCall(); c != "" {
			v.Called = append(v.Called, c)
		}
	}
	v.Program = (&check.Program{Rule: r.Rule, Library: j.facts[factVersion] + " (MPI " + j.facts[factStandard] + ")", Item: v.Item, Expected: v.Expected, Got: v.Got, File: r.file, Lines: lines, Ranks: r.ranks}).String()
	return v
}

// ending is how a worker ended.
type ending struct {
	code   int
	signal syscall.Signal
	hung   bool
	limit  time.Duration
}

func (e ending) ok() bool { return e.code == 0 && e.signal == 0 && !e.hung }

func (e *ending) take(s *os.ProcessState) {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() && !e.hung {
		e.signal = status.Signal()
	}
	e.code = s.ExitCode()
}

func (e ending) String() string {
	switch {
	case e.hung:
		return fmt.Sprintf("no return within %v", e.limit)
	case e.signal != 0:
		return fmt.Sprintf("the process crashed: %v", e.signal)
	}
	return fmt.Sprintf("the process ended with exit code %d", e.code)
}

// command is a process in a group of its own that ends with this one, and with ctx. The caller holds its thread until the process has
// ended, because the kernel takes the end of the thread that started it for the end of this process.
func command(ctx context.Context, argv, environ []string, launcher bool) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if launcher { // its processes are in other groups; it ends them
		cmd.SysProcAttr.Pdeathsig = 0 // see keep.Watch
		cmd.WaitDelay = launcherGrace // then SIGKILL: Open MPI's launcher hangs at times
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	}
	return cmd
}

// work runs one worker, or a job of them, and reads its journals.
func (l *Library) work(ctx context.Context, r *rule, skip int) ([]*journal, ending, error) {
	runtime.LockOSThread() // see command
	defer runtime.UnlockOSThread()
	dir, err := os.MkdirTemp(cmp.Or(l.Temp, "/tmp"), "mx")
	if err != nil {
		return nil, ending{}, err
	}
	defer os.RemoveAll(dir)
	raw, _ := json.Marshal(request{r.Name, skip, dir, l.Demo, l.Shim, l.Lib, l.Version(), l.Standard(), l.Limit})
	argv, environ := []string{l.Exe, "backend", Command, string(raw)}, l.Environ
	var others []*exec.Cmd
	defer func() {
		for _, other := range others {
			other.Process.Kill()
			other.Wait()
		}
	}()
	switch {
	case r.ranks > 0 && l.Demo: // it has no launcher; this process is rank 0
		for rank := 1; rank < r.ranks; rank++ {
			other := command(ctx, argv, append(slices.Clone(environ), l.demoRank(dir, rank, r.ranks)...), false)
			if err := l.start(other); err != nil {
				return nil, ending{}, err
			}
			others = append(others, other)
		}
		environ = append(slices.Clone(environ), l.demoRank(dir, 0, r.ranks)...)
	case r.ranks > 0:
		if argv, environ, err = l.Launch(r.ranks, argv); err != nil {
			return nil, ending{}, err
		}
	}
	cmd := command(ctx, argv, append(slices.Clone(environ), "TMPDIR="+dir, "FAKEMPI_DIR="+dir), r.ranks > 0 && !l.Demo)
	if err := l.start(cmd); err != nil { // also if ctx has ended
		return nil, ending{}, err
	}
	if r.ranks > 0 && !l.Demo {
		defer keep.Watch(cmd.Process.Pid)()
	}
	end := l.await(cmd, dir)
	for _, other := range others { // they end by themselves, unless rank 0 did not
		late := time.AfterFunc(l.Limit, func() { other.Process.Kill() })
		if !end.ok() {
			other.Process.Kill()
		}
		other.Wait()
		if late.Stop() && end.ok() {
			end.take(other.ProcessState)
		}
	}
	others = nil
	journals := make([]*journal, max(1, r.ranks))
	for k := range journals {
		text, _ := os.ReadFile(journalPath(dir, k))
		journals[k] = readJournal(string(text))
	}
	return journals, end, nil
}

// start starts a process, and notes if the system has no more of them.
func (l *Library) start(cmd *exec.Cmd) error {
	err := cmd.Start()
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) {
		l.starved.Store(true)
	}
	return err
}

func (l *Library) demoRank(dir string, rank, size int) []string {
	return []string{"FAKEMPI_DIR=" + dir, fmt.Sprintf("FAKEMPI_RANK=%d", rank), fmt.Sprintf("FAKEMPI_SIZE=%d", size)}
}

// await waits for a worker's end. It kills one whose journals have not grown for the limit while it could run.
func (l *Library) await(cmd *exec.Cmd, dir string) (end ending) {
	end.limit = l.Limit
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	size, since := int64(-1), time.Now()
	for {
		select {
		case <-ended:
			end.take(cmd.ProcessState)
			return end
		case <-tick.C:
			now, idle := journalBytes(dir), time.Since(since)
			switch {
			case end.hung && idle > l.Limit+cmd.WaitDelay:
				syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			case end.hung:
			case now != size:
				size, since = now, time.Now()
			case idle > l.Limit:
				end.hung = true
				cmd.Cancel()
			}
		}
	}
}

func journalBytes(dir string) (n int64) {
	files, _ := filepath.Glob(filepath.Join(dir, "journal.*"))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			n += info.Size()
		}
	}
	return n
}
