package where

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/recording/finding"
)

// UnknownFrames stands for the outer frames of a stack that the agent could not follow.
const UnknownFrames = "…"

// Group is the ranks in one state. A rank with several threads can be in several groups.
type Group struct {
	Ranks     []int         `json:"ranks"`
	Condition Condition     `json:"condition"`
	Doing     string        `json:"state"`            // "in MPI_Recv", "polls with MPI_Test", "computes after MPI_Send"
	Waits     bool          `json:"waits"`            // in MPI
	Call      string        `json:"call,omitempty"`   // the function that they are in, or were in last
	Object    string        `json:"object,omitempty"` // its communicator, window or file
	Peer      string        `json:"peer,omitempty"`   // "1", "any", "1, 2, 3" (in the order of Ranks), "root 0"
	Tag       string        `json:"tag,omitempty"`
	Bytes     int64         `json:"-"` // the most; -1 unknown
	Site      string        `json:"site,omitempty"`
	Since     time.Duration `json:"-"`                  // how long, of the rank that is in the state longest; -1 unknown: a moment
	Threads   int           `json:"-"`                  // threads in this state, if a rank has several
	Requests  string        `json:"requests,omitempty"` // what the requests wait for that a call waits for
	End       string        `json:"end,omitempty"`      // how the processes ended: "exit", "SIGKILL"; "": they run, or it is unknown
	Outside   string        `json:"outside,omitempty"`  // where they sleep outside of MPI, in the kernel's words
	Stack     []string      `json:"stack,omitempty"`    // of a call that lasts, if the job was read with stacks
}

// Report is what can be said about a job at one moment.
type Report struct {
	Findings []finding.Finding
	Groups   []Group // the ones with the fewest ranks first
	Computes bool    // no rank waits in MPI
}

// Analyze describes what all ranks do.
func Analyze(job *Job) *Report {
	g := newGraph(job)
	r := &Report{Findings: g.findings(), Groups: g.groups(), Computes: true}
	for _, group := range r.Groups {
		r.Computes = r.Computes && !group.Waits && (group.Condition == Running || group.Condition == Finalized || group.Condition == Exited)
	}
	return r
}

// groups puts ranks in equal states together.
func (g *graph) groups() []Group {
	groups := map[string]*Group{}
	peers := map[*Group][]string{}
	var order []*Group
	for _, p := range g.job.Processes {
		states := []Group{{Condition: p.Condition, Doing: p.doing(), End: p.End.Text(), Since: -1, Bytes: -1}}
		if p.Condition <= Dead && len(p.Threads) > 0 {
			states = nil
			for _, t := range p.Threads {
				states = append(states, g.groupOf(p, t))
			}
		}
		for _, s := range states {
			peer := s.Peer
			if strings.HasPrefix(peer, "root ") {
				peer = ""
			} else {
				s.Peer = ""
			}
			key := fmt.Sprint(s.Condition, s.Doing, "\x00", s.End, "\x00", s.Object, "\x00", s.Peer, "\x00", s.Tag, "\x00", s.Site, "\x00", s.Stack, "\x00", s.Requests != "")
			to := groups[key]
			if to == nil {
				copied := s
				to = &copied
				groups[key], order = to, append(order, to)
			}
			if n := len(to.Ranks); n == 0 || to.Ranks[n-1] != p.Rank {
				to.Ranks = append(to.Ranks, p.Rank)
			} else if to.Threads++; to.Threads == 1 {
				to.Threads = 2
			}
			peers[to] = append(peers[to], peer)
			to.Since, to.Bytes = max(to.Since, s.Since), max(to.Bytes, s.Bytes)
			if s.Requests != "" && !strings.Contains(to.Requests, s.Requests) && strings.Count(to.Requests, ";") < 3 {
				to.Requests += "; " + s.Requests
			}
		}
	}
	var all []Group
	for _, to := range order {
		if to.Peer == "" {
			to.Peer = joined(peers[to])
		}
		all = append(all, *to)
	}
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Compare(len(a.Ranks), len(b.Ranks)) })
	return all
}

// joined lists peers: one if all are the same.
func joined(peers []string) string {
	const most = 8
	switch {
	case len(slices.Compact(slices.Clone(peers))) == 1:
		return peers[0]
	case len(peers) > most:
		return strings.Join(peers[:most], ", ") + ", …"
	}
	return strings.Join(peers, ", ")
}

func (g *graph) groupOf(p *Process, t *Thread) Group {
	s := Group{Condition: p.Condition, End: p.End.Text(), Outside: t.Outside, Call: t.Call, Site: t.Site, Since: t.Since, Bytes: -1, Waits: t.Waits()}
	switch {
	case t.Call == "":
		s.Doing, s.Site = t.lastOutside(p)+", no MPI call that can wait yet", ""
	case t.Polls() && t.Reads != nil:
		s.Doing, s.Since, s.Site = "polls with "+strings.TrimSuffix(t.Reads.Call, "_c"), t.Idle, t.Reads.Site
	case t.Polls():
		s.Doing, s.Since = "polls with "+t.tests(), t.Idle
	case t.Inside && (t.Class != Poll || p.Condition != Running):
		s.Doing, s.Stack = "in "+t.Call, t.Stack
		if t.Inner != nil {
			s.Doing += ", a callback in " + t.Inner.Call
			s.Site, s.Since, s.Stack = t.Inner.Site, t.Inner.Since, t.Inner.Stack
		}
	case t.Sleeps:
		s.Doing = "waits for a thread, after " + t.Call
	case t.Outside == "" && t.Since < 0 && p.Condition == Running:
		s.Doing, s.Site = "busy: calls "+t.Call, ""
	default:
		s.Doing = t.lastOutside(p) + " after " + t.Call
	}
	if p.Condition != Running {
		s.Doing = p.doing() + ", " + s.Doing
	} else if !t.Polls() {
		s.Doing += t.otherThreads()
	}
	if !s.Waits {
		return s
	}
	if s.Bytes = t.Bytes; t.HasObject {
		s.Object = objectText(t.Object)
	}
	switch t.Role {
	case Root:
		if t.Peer >= 0 {
			s.Peer = "root " + strconv.Itoa(t.Peer)
		}
	case NoPeer:
	default:
		s.Peer = g.shortPeer(t.Object, t.Peer)
		if t.Exchange {
			s.Peer = "to " + s.Peer + " from " + g.shortPeer(t.Object, t.Source)
		}
	}
	if t.Tag != NoTag {
		s.Tag = shortTag(t.Tag)
	}
	if t.Class == WaitAll || t.Class == WaitAny || t.Class == Poll && t.Role == NoPeer {
		if w, ok := g.requests(p, t); ok && len(t.Pending) > 0 {
			s.Requests = fmt.Sprintf("%d %s", p.Rank, w.text)
		}
	}
	return s
}

func (g *graph) shortPeer(o *Object, rank int) string {
	switch rank {
	case AnySource:
		return "any"
	case ProcNull:
		return "none"
	}
	return g.peerText(o, rank)
}

func shortTag(tag int) string {
	if tag == AnyTag {
		return "any"
	}
	return strconv.Itoa(tag)
}

// Progress is the least time for which a rank has made no progress: nothing has progressed for that long. ok is false if
// that is unknown, or if all ranks compute.
func Progress(job *Job) (idle time.Duration, ok bool) {
	idle = -1
	waits := false
	for _, p := range job.Processes {
		for _, t := range p.Threads {
			if p.Condition > Stopped {
				continue
			}
			if idle < 0 || t.Idle < idle {
				idle = t.Idle
			}
			waits = waits || t.Waits() && p.Condition == Running
		}
	}
	return idle, waits && idle >= 0
}
