package where

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/text"
)

// End is how a process ended.
type End struct {
	How    string // "MPI_Finalize", "exit" (without MPI_Finalize), "MPI_Abort"; "": it did not say, or it runs
	Known  bool   // Signal and Code are known
	Signal int    // that killed it; 0: none
	Code   int    // with which it exited
}

func endOf(r *recording.Rank) (e End) {
	if r.State == recording.StateEnded {
		e.How = map[recording.End]string{recording.EndFinalize: "MPI_Finalize", recording.EndExit: "exit", recording.EndAbort: "MPI_Abort"}[r.End]
	}
	if s := r.Exit; s != nil {
		e.Known, e.Signal, e.Code = true, s.Signal, s.Code
	}
	return e
}

// early reports whether a process is gone that has called neither MPI_Finalize nor MPI_Abort, and was not killed.
func (p *Process) early() bool {
	return p.Condition == Exited && p.End.How == "exit" || p.Condition == Dead && p.End.Known && p.End.Signal == 0
}

// Text is the end in a word: "exit", "SIGKILL", "MPI_Finalize"; "" if it is unknown.
func (e End) Text() string {
	switch {
	case e.How != "" || !e.Known:
		return e.How
	case e.Signal != 0:
		return signalName(e.Signal)
	}
	return "exit"
}

// doing is what a group of ended processes does.
func (p *Process) doing() string {
	switch {
	case p.Condition == Dead && p.End.Signal != 0:
		return "killed by " + signalName(p.End.Signal)
	case p.Condition == Exited && p.End.How == "MPI_Abort":
		return "called MPI_Abort"
	case p.early():
		return "exited without MPI_Finalize"
	}
	return p.Condition.String()
}

// endings are findings about processes that are gone and did not end as they should have.
func (g *graph) endings() (all []finding.Finding) {
	type ending struct {
		kind, said string
		code       int
	}
	var order []ending
	ranks := map[ending][]int{}
	for _, p := range g.job.Processes {
		e := ending{kind: Dead.String()}
		switch e.said = p.doing(); {
		case p.Condition != Dead && p.Condition != Exited || e.said == Exited.String():
			continue
		case e.said == Dead.String():
			e.said = "died"
		case p.early() || p.Condition == Exited:
			if e.kind = Exited.String(); p.early() && p.End.Known && p.End.Signal == 0 {
				e.code = p.End.Code
				e.said += fmt.Sprintf(", with code %d", p.End.Code)
			}
		}
		if ranks[e] == nil {
			order = append(order, e)
		}
		ranks[e] = append(ranks[e], p.Rank)
	}
	for _, e := range order {
		verb := " "
		switch {
		case strings.HasPrefix(e.said, "killed"):
			verb = text.Verb(len(ranks[e]), " was ", " were ")
		case e.kind == Dead.String():
			verb = text.Verb(len(ranks[e]), " has ", " have ")
		}
		f := finding.Finding{Kind: e.kind, Ranks: ranks[e], Text: text.Ranks(ranks[e]) + verb + e.said}
		if e.code > 0 {
			f.Figures = finding.Figures{"exit_code": float64(e.code)}
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b finding.Finding) int { // first what the others may follow from
		return map[bool]int{true: 1}[a.Kind == Dead.String()] - map[bool]int{true: 1}[b.Kind == Dead.String()]
	})
	return all
}

// left reports whether a thread that was in a call when its process died had waited for a process that had exited before: for a message of its,
// to take one, or to enter a collective call.
func (g *graph) left(p *Process) bool {
	for _, t := range p.Threads {
		gone := func(o *Object, peer int) bool {
			q := g.ranks[g.worldRank(o, peer)]
			return q != nil && q != p && q.early()
		}
		if t.Inside && t.Waits() && (t.Role == Source || t.Role == Destination) && gone(t.Object, t.Peer) ||
			t.Inside && t.Waits() && slices.ContainsFunc(t.Pending, func(r Request) bool { return r.Collective == 0 && gone(r.Object, r.Peer) }) {
			return true
		}
		if !t.Inside || t.Class != Collective || t.Collective == 0 || t.Object == nil {
			continue
		}
		others, _ := g.others(t.Object, p.Rank)
		for _, rank := range others {
			if q, o := g.ranks[rank], g.object(rank, t.Object.Identity); q != nil && q.early() && o != nil && o.Collectives < t.Collective {
				return true
			}
		}
	}
	return false
}

// forGood are the threads of a process as if they had waited for long.
func (p *Process) forGood() (all []*Thread) {
	for _, t := range p.Threads {
		copied := *t
		copied.Since, copied.Idle = max(t.Since, standstill), max(t.Idle, standstill)
		all = append(all, &copied)
	}
	return all
}

// ended is what has become of a process: "has died".
func (p *Process) ended() string {
	switch text := p.doing(); {
	case strings.HasPrefix(text, "killed"):
		return "was " + text
	case text == Dead.String():
		return "has died"
	default:
		return "has " + text
	}
}

// outside is what a thread does that is not in MPI.
func (t *Thread) outside() string {
	switch {
	case t.Unclear && !t.Inside:
		return "is outside of MPI"
	case t.Inside || t.Outside == "":
		return "computes"
	case t.Outside == "unknown":
		return "sleeps outside of MPI"
	}
	return "sleeps in " + t.Outside
}

// lastOutside is outside of a thread whose process may be stopped or gone: such a process does not compute any more.
func (t *Thread) lastOutside(p *Process) string {
	switch text := t.outside(); {
	case p.Condition == Running:
		return strings.TrimPrefix(text, "is ")
	case t.Outside != "":
		return "slept" + strings.TrimPrefix(text, "sleeps")
	}
	return "outside of MPI"
}

// otherThreads adds what other threads do while one sleeps.
func (t *Thread) otherThreads() string {
	if t.Outside == "" || !t.Busy || t.Inside || t.Sleeps {
		return ""
	}
	return ", other threads compute"
}

// signals are Linux's names, on all but a few processors.
var signals = [...]string{"", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT",
	"CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"}

// signalName is "SIGKILL" or "signal 42".
func signalName(n int) string {
	if n > 0 && n < len(signals) {
		return "SIG" + signals[n]
	}
	return fmt.Sprintf("signal %d", n)
}
