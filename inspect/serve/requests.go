//go:build linux

package serve

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/text"
	"mpitx/ui/link"
)

// request starts a request of the explorer.
func (s *server) request(r link.Request) {
	if r.Do == link.DoCancel {
		s.cancel(r.ID)
		return
	}
	t, err := s.task(r)
	if err != nil {
		s.refuse(r.ID, err.Error())
		return
	}
	s.give(r, t)
}

// task turns a request into a task for the ranks.
func (s *server) task(r link.Request) (t task, err error) {
	t.Do = r.Do
	switch r.Do {
	case link.DoRead:
		for _, n := range r.Variables {
			id, ok := s.numbers.ID(n)
			if !ok {
				return t, fmt.Errorf("read: there is no variable %d", n)
			}
			t.IDs = append(t.IDs, id)
		}
	case link.DoWrite:
		if r.Write == nil {
			return t, errors.New("write: nothing to write")
		}
		t.Write = *r.Write
		if r.Write.Ranks != nil {
			ranks := slices.Compact(slices.Sorted(slices.Values(r.Write.Ranks)))
			if len(ranks) == 0 || ranks[0] < 0 || ranks[len(ranks)-1] >= s.size {
				return t, fmt.Errorf("write: ranks are 0 to %d", s.size-1)
			}
			t.Write.Ranks = ranks
		}
	case link.DoWorkload:
		if r.Name != "" && !slices.Contains(link.Workloads, r.Name) {
			return t, fmt.Errorf("workload %q: unknown", r.Name)
		}
		if r.Name != "" && len(s.peers) < s.size {
			return t, errors.New("workload: it needs all ranks, and some do not answer")
		}
		t.Workload, s.working = r.Name, r.Name != ""
	case link.DoRefresh:
	default:
		return t, fmt.Errorf("%q: unknown request", r.Do)
	}
	return t, nil
}

func (s *server) refuse(id uint64, why string) {
	s.say(link.Reply{Is: link.IsError, ID: id, Text: why})
}

// give sends a task to its ranks. Silent ranks get no further tasks.
func (s *server) give(r link.Request, t task) {
	s.number++
	t.Number = s.number
	a := &asked{request: r, waiting: map[int]bool{}, answers: map[int]answer{}}
	for rank := range s.size {
		if t.Write.Ranks != nil && !slices.Contains(t.Write.Ranks, rank) {
			continue
		}
		p := s.peers[rank]
		if p == nil || len(p.open) >= maxOpen || p.silent && t.Do != link.DoWorkload {
			a.silent = append(a.silent, rank)
			continue
		}
		a.waiting[rank] = true
	}
	payload := transport.Pack(t)
	for rank := range a.waiting {
		p := s.peers[rank]
		p.open[t.Number] = t
		p.Send(transport.FrameTask, payload)
	}
	s.asked[t.Number] = a
	if len(a.waiting) == 0 {
		s.finish(t.Number)
		return
	}
	number := t.Number
	a.timer = time.AfterFunc(time.Duration(min(max(1, r.Millis), 3_600_000))*time.Millisecond, func() { s.timers <- number })
}

// cancel withdraws the request with this ID.
func (s *server) cancel(id uint64) {
	for number, a := range s.asked {
		if a.request.ID == id && a.request.Do == link.DoRead {
			s.withdraw(number, a)
			a.timer.Stop()
			delete(s.asked, number)
		}
	}
}

func (s *server) withdraw(number uint64, a *asked) {
	for rank := range a.waiting {
		s.peers[rank].Send(transport.FrameCancel, transport.Cancel(number))
	}
}

// late gives up on the ranks that have not answered a task.
func (s *server) late(number uint64) {
	a := s.asked[number]
	if a == nil {
		return
	}
	s.withdraw(number, a)
	for rank := range a.waiting {
		a.silent = append(a.silent, rank)
		s.markSilent(s.peers[rank])
	}
	s.finish(number)
}

// markSilent marks a rank as silent and reports where it is.
func (s *server) markSilent(p *peer) {
	if p.silent {
		return
	}
	p.silent = true
	if p.rank == 0 {
		s.say(link.Reply{Is: link.IsSilent, Rank: 0, Variable: p.open.variable(s.job.Backend.Where())})
		return
	}
	p.Send(transport.FrameWhere, nil)
}

// answer handles a rank's answer to a task, in time or late.
func (s *server) answer(p *peer, payload []byte) {
	var got answer
	if p == nil || transport.Unpack(payload, &got) != nil {
		return
	}
	delete(p.open, got.Number)
	if got.Changed && !s.changed {
		s.changed = true
		s.say(link.Reply{Is: link.IsChanged, Rank: p.rank})
	}
	if p.silent && len(p.open) == 0 {
		p.silent = false
		s.say(link.Reply{Is: link.IsAnswers, Rank: p.rank})
	}
	a := s.asked[got.Number]
	if a == nil || !a.waiting[p.rank] {
		return
	}
	delete(a.waiting, p.rank)
	a.answers[p.rank] = got
	if len(a.waiting) == 0 {
		s.finish(got.Number)
	}
}

// collectAgain builds and sends a new catalog from what the ranks have read again; the stage before MPI_Init stays as
// it was.
func (s *server) collectAgain(a *asked) error {
	root, err := catalog.DecodeProcess(a.answers[0].Process)
	if err != nil {
		return fmt.Errorf("refresh: no answer from rank 0")
	}
	var deltas []*catalog.Delta
	lost := map[int]string{}
	for _, rank := range a.silent {
		lost[rank] = "did not answer in time"
	}
	base := root.Root()
	for rank, got := range a.answers {
		if rank == 0 {
			continue
		}
		p, err := catalog.DecodeProcess(got.Process)
		if err != nil {
			lost[rank] = "its answer is damaged: " + err.Error()
			continue
		}
		deltas = append(deltas, base.Diff(p))
	}
	job, err := s.job.Renew(root, deltas, lost)
	if err != nil {
		return err
	}
	s.job = job
	s.take(job.Catalog)
	return s.sendCatalog()
}

func (s *server) host(rank int) string {
	for _, r := range s.catalog.Job.Ranks {
		if r.Rank == rank {
			return r.Host
		}
	}
	return ""
}

// finish answers the request.
func (s *server) finish(number uint64) {
	a := s.asked[number]
	delete(s.asked, number)
	if a.timer != nil {
		a.timer.Stop()
	}
	slices.Sort(a.silent)
	reply := link.Reply{ID: a.request.ID, Millis: time.Now().UnixMilli()}
	for rank := range s.size {
		got, ok := a.answers[rank]
		if !ok {
			continue
		}
		if got.Failed != "" {
			s.refuse(a.request.ID, fmt.Sprintf("rank %d: %s", rank, got.Failed))
			return
		}
		switch a.request.Do {
		case link.DoRead:
			reply.Ranks = append(reply.Ranks, link.RankSample{Rank: rank, Host: got.Host, Readings: got.Readings})
		case link.DoWrite:
			reply.Outcomes = append(reply.Outcomes, got.Outcomes...)
		}
	}
	switch a.request.Do {
	case link.DoRead:
		reply.Is, reply.Silent = link.IsSample, a.silent
	case link.DoWrite:
		reply.Is = link.IsOutcomes
		for _, rank := range a.silent {
			reply.Outcomes = append(reply.Outcomes, catalog.Outcome{Rank: rank, Host: s.host(rank), Result: catalog.WriteNoAnswer, Detail: "it may or may not have been written"})
		}
		slices.SortFunc(reply.Outcomes, func(x, y catalog.Outcome) int { return x.Rank - y.Rank })
	case link.DoRefresh:
		reply.Is = link.IsDone
		if err := s.collectAgain(a); err != nil {
			reply.Is, reply.Text = link.IsError, err.Error()
		}
	case link.DoWorkload:
		reply.Is = link.IsDone
		if len(a.silent) > 0 {
			reply.Is, reply.Text = link.IsError, "workload: no answer in time from "+text.Ranks(a.silent)
		}
	}
	s.say(reply)
}
