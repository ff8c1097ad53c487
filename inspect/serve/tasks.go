//go:build cgo && linux

package serve

import (
	"time"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/inspect"
	"mpitx/inspect/transport"
	"mpitx/ui/link"
)

// serving is a back end that stays after it has sent everything, and carries out one task after the other.
type serving struct {
	*inspect.Backend
	variables map[string]int // position in Meta, control variables first, by ID
	cvars     map[string]*binding.CvarHandle
	loads     []task // workloads to come
	failed    error  // of the workload under way
	ending    bool
	code      int
}

// Tasks is what a back end does that serves. It returns the exit code.
func Tasks(b *inspect.Backend) int {
	s := &serving{Backend: b, cvars: map[string]*binding.CvarHandle{}}
	s.index()
	b.Front.Phase("serving")
	for !s.ending {
		for len(s.loads) > 0 && !s.ending {
			t := s.loads[0]
			s.loads = s.loads[1:]
			s.answer(answer{Number: t.Number}) // the previous workload has ended on this rank
			if t.Workload != "" {
				s.runWorkload(t.Workload)
			}
		}
		if !s.ending {
			s.handle(<-b.Front.Frames)
		}
	}
	return s.code
}

// index maps the variables' IDs to their positions in what was observed.
func (s *serving) index() {
	meta := &s.Process.Meta
	s.variables = make(map[string]int, len(meta.Cvars)+len(meta.Pvars))
	for k := range meta.Pvars {
		s.variables[meta.Pvars[k].ID()] = len(meta.Cvars) + k
	}
	for k := range meta.Cvars {
		s.variables[meta.Cvars[k].ID()] = k
	}
}

// refresh observes this process again. Handles stay valid, because libraries do not reuse indices.
func (s *serving) refresh() ([]byte, error) {
	if err := s.Survey(); err != nil {
		return nil, err
	}
	s.index()
	return s.Process.AppendBinary(nil), nil
}

// handle carries out one task.
func (s *serving) handle(f transport.Frame) {
	switch f.Kind {
	case transport.FrameVerdict:
		s.ending = true
		if len(f.Payload) == 1 {
			s.code = int(f.Payload[0])
		}
	case transport.FrameTask:
		var t task
		if transport.Unpack(f.Payload, &t) != nil {
			return
		}
		a := answer{Number: t.Number}
		switch {
		case s.Front.Cancelled(t.Number):
			a.Failed = "withdrawn"
		case t.Do == link.DoRead:
			a.Readings = s.read(t)
		case t.Do == link.DoWrite:
			a.Outcomes = s.writeNow(t)
		case t.Do == link.DoRefresh:
			var err error
			if a.Process, err = s.refresh(); err != nil {
				a.Failed = "refresh: " + err.Error()
			}
		case t.Do == link.DoWorkload:
			s.loads = append(s.loads, t)
			return
		default:
			a.Failed = "unknown task " + t.Do
		}
		s.Front.Mark(t.Number, -1)
		s.answer(a)
	}
}

func (s *serving) answer(a answer) {
	a.Host, a.Changed = s.Host, s.Changed()
	s.Front.Send(transport.FrameAnswer, transport.Pack(a))
}

func (s *serving) read(t task) []catalog.Reading {
	out := make([]catalog.Reading, len(t.IDs))
	for k, id := range t.IDs {
		if s.Front.Cancelled(t.Number) {
			return nil
		}
		s.Front.Mark(t.Number, k)
		out[k] = s.reading(id)
	}
	return out
}

// reading reads a variable in this process, after the trial in another process succeeded.
func (s *serving) reading(id string) catalog.Reading {
	at, ok := s.variables[id]
	if !ok {
		return catalog.Reading{Status: catalog.StatusMissing}
	}
	r := s.Process.Readings[at]
	r.Writable = catalog.WritableUnknown
	if r.Status != catalog.StatusOK {
		return r
	}
	value, count, err := s.value(at, id)
	if err != nil {
		return catalog.Reading{Status: catalog.StatusError, Reason: err.Error()}
	}
	r.Value, r.Count, r.Reason = value, count, ""
	return r
}

// value reads through a handle that is kept, because handles count from their start.
func (s *serving) value(at int, id string) (v catalog.Value, count int, err error) {
	meta := &s.Process.Meta
	if at < len(meta.Cvars) {
		h := s.cvars[id]
		if h == nil {
			if h, err = s.Tool.AllocCvar(s.Indices[id], s.Object()); err != nil {
				return v, 0, err
			}
			s.cvars[id] = h
		}
		v, err = h.Read()
		return v, h.Count(), err
	}
	return s.ReadPvar(&meta.Pvars[at-len(meta.Cvars)])
}

// writeNow writes a variable; the old value is its current one.
func (s *serving) writeNow(t task) catalog.Outcomes {
	s.Front.Mark(t.Number, 0)
	if at, ok := s.variables[t.Write.Name]; ok {
		if r := s.reading(t.Write.Name); r.Status == catalog.StatusOK {
			s.Process.Readings[at].Value = r.Value
		}
	}
	return s.Write([]catalog.WriteRequest{t.Write})
}

// handleArrived carries out the tasks that have arrived, while a workload waits.
func (s *serving) handleArrived() {
	for {
		select {
		case f := <-s.Front.Frames:
			s.handle(f)
		default:
			return
		}
	}
}

// progressFor lets the library process arrived messages for a while.
func (s *serving) progressFor(d time.Duration) {
	for end := time.Now().Add(d); ; time.Sleep(time.Millisecond) {
		s.Mail.Progress()
		s.Lib.Probe(binding.AnySource, tagNever)
		s.handleArrived()
		if s.ending || time.Now().After(end) {
			return
		}
	}
}
