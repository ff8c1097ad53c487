package runlist

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trace"
	"mpitx/recording/trigger"
	"mpitx/recording/where"
)

// State says whether the job of a run goes on, or how it ended.
type State string

// The states.
const (
	Starting State = "starting" // its processes run, and have recorded nothing so far
	Running  State = "running"
	Away     State = "away"    // ranks on other nodes may still run
	Ended    State = "ended"   // also if it is not known how
	Failed   State = "failed"  // a process exited with another code than 0
	Died     State = "died"    // a process was killed, or could not finish its recording
	Empty    State = "empty"   // it has ended, and nothing was recorded
	Damaged  State = "damaged" // the beginning of its files cannot be read
)

// Goes reports whether processes of the job may still run.
func (s State) Goes() bool { return s == Starting || s == Running || s == Away }

// Run is a run in a list.
type Run struct {
	Dir     string
	Program string
	Start   time.Time
	Ranks   int      // of MPI_COMM_WORLD; 0: unknown
	Tools   []string // what was recorded
	Bytes   int64    // of its files
	State   State
	Detail  string   // of the state: an exit code, a signal, hosts, what is damaged
	Foreign []string // files that mpitx did not write
}

// describe reads what a run is.
func describe(p place) *Run {
	r := &Run{Dir: p.dir, Start: p.start, Program: programOf(p.job.Command)}
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		r.State, r.Detail = Damaged, cause(err)
		return r
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			r.Bytes += info.Size()
		}
	}
	r.Foreign = p.foreign(entries)
	head, err := recording.OpenHead(p.dir)
	if err != nil && !errors.Is(err, recording.ErrNotARun) {
		r.State, r.Detail = Damaged, cause(err)
		return r
	}
	if err == nil {
		defer head.Close()
		r.contents(head)
	}
	r.state(head, entries)
	return r
}

// contents is what the beginning of its files says.
func (r *Run) contents(head *recording.Run) {
	for _, rank := range head.Ranks {
		r.Ranks = max(r.Ranks, rank.Size)
		if r.Program == "" {
			r.Program = rank.Program
		}
	}
	for _, kind := range []struct {
		name string
		has  bool
	}{{"profile", profile.Has(head)}, {"trace", trace.Has(head)}, {"samples", head.Sampled()}, {"triggers", trigger.Has(head)}} {
		if kind.has {
			r.Tools = append(r.Tools, kind.name)
		}
	}
}

const justMade = 5 * time.Second // a job may not have begun to record

// state finds out whether the job goes on, or how it ended; head is nil if nothing was recorded.
func (r *Run) state(head *recording.Run, entries []os.DirEntry) {
	alive, elsewhere := r.started(entries)
	exits := recording.Exits(r.Dir)
	switch {
	case head != nil && (head.Running() || alive || recording.Held(r.Dir, JobFile)): // an mpitx may still read it, or write what it made of it
		r.State = Running
		return
	case alive, head == nil && len(exits) == 0 && time.Since(r.Start) < justMade:
		r.State = Starting
		return
	}
	if head != nil {
		if hosts, _ := head.Unreachable(); len(hosts) > 0 {
			r.State, r.Detail = Away, "on "+recording.HostsText(hosts)
			return
		}
	} else if len(elsewhere) > 0 && len(exits) == 0 {
		r.State, r.Detail = Away, "on "+recording.HostsText(elsewhere)
		return
	}
	switch {
	case head != nil && len(head.Damage()) > 0:
		r.State, r.Detail = Damaged, recording.DamageText(head.Damage())
	case head != nil && slices.ContainsFunc(head.Ranks, func(x *recording.Rank) bool { return x.State == recording.StateDied }):
		r.State = Died
	case head == nil:
		r.State = Empty
	default:
		r.State = Ended
	}
	if r.State != Damaged {
		r.ending(exits)
	}
}

// ending is how the processes ended. If one has failed, a launcher ends the others by SIGTERM and then SIGKILL, so these count last.
func (r *Run) ending(exits []recording.ExitStatus) {
	const sigkill, sigterm = 9, 15
	late := func(e recording.ExitStatus) int { return slices.Index([]int{sigkill, sigterm}, e.Signal) + 1 }
	slices.SortStableFunc(exits, func(a, b recording.ExitStatus) int { return cmp.Compare(late(a), late(b)) })
	for _, e := range exits {
		switch {
		case e.Signal != 0:
			r.State, r.Detail = Died, where.End{Known: true, Signal: e.Signal}.Text()
			return
		case e.Code != 0:
			r.State, r.Detail = Failed, fmt.Sprint("exit code ", e.Code)
			return
		}
	}
}

// started reports whether a rank that mpitx has started still runs on this machine, and other hosts on which ranks were started.
func (r *Run) started(entries []os.DirEntry) (alive bool, elsewhere []string) {
	const prefix = "started-"
	here, _ := os.Hostname()
	for _, e := range entries {
		host, is := strings.CutPrefix(e.Name(), prefix)
		if !is || !e.Type().IsRegular() {
			continue
		}
		content, _ := os.ReadFile(filepath.Join(r.Dir, e.Name()))
		if host != here {
			if !strings.Contains(string(content), "over\n") {
				elsewhere = append(elsewhere, host)
			}
			continue
		}
		for line := range strings.Lines(string(content)) {
			var rank, pid int
			var ticks uint64
			if n, _ := fmt.Sscan(line, &rank, &pid, &ticks); n == 3 && recording.Alive(pid, ticks) {
				alive = true
			}
		}
	}
	return alive, elsewhere
}

// programOf is the application in a command of mpitx: what follows --, or a workload.
func programOf(command []string) string {
	if at := slices.Index(command, "--"); at >= 0 {
		return strings.Join(command[at+1:], " ")
	}
	for i, word := range command {
		if name, is := strings.CutPrefix(word, "--workload="); is {
			return "workload " + name
		}
		if word == "--workload" && i+1 < len(command) {
			return "workload " + command[i+1]
		}
	}
	return ""
}

// cause is an error without the path.
func cause(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}
