//go:build linux

package inspect

import (
	"time"

	"mpitx/catalog"
	"mpitx/inspect/transport"
)

// merge merges the ranks of a stage, or says why the stage was not read.
func (s *stage) merge() *catalog.Merged {
	m := &catalog.Merged{}
	switch {
	case s.process != nil && s.result != nil && s.merged != nil && len(s.deltas) == 0:
		return s.merged
	case s.process != nil && s.result != nil:
		return catalog.Merge(s.process, s.deltas, s.result.Lost)
	case s.failed != nil:
		m.Stage.Error = s.failed.Text
	}
	return m
}

// root builds the answer on rank 0.
func (f *front) root() (*Job, error) {
	if why := f.after.failed; why != nil && why.Whole {
		f.kill()
		return nil, &Error{Text: why.Text}
	}
	after, before := f.after.merge(), f.before.merge()
	if !after.Stage.Read && !before.Stage.Read {
		f.kill()
		text := "the library could not be read: " + after.Stage.Error
		if before.Stage.Error != "" && before.Stage.Error != after.Stage.Error {
			text += "; before MPI_Init: " + before.Stage.Error
		}
		return nil, &Error{Text: text}
	}
	j := &Job{Live: f.Live, Root: true, Host: f.hello.Host, Outcomes: f.outcomes, f: f, Catalog: catalog.Join(before, after)}
	c := j.Catalog
	c.Creator, c.Created = f.o.Creator, time.Now().UTC().Truncate(time.Second)
	c.Job.Launcher, c.Library.BuildID = f.o.Launch.Name, f.o.MPI.BuildID
	if f.after.result != nil {
		j.Lost = f.after.result.Lost
		for k := range c.Job.Ranks {
			r := &c.Job.Ranks[k]
			if r.Host == "" {
				r.Host = f.after.result.Hosts[r.Rank]
			}
			if own, differ := f.after.result.Settings[r.Rank]; differ {
				r.Settings = append([]string{}, own...)
			}
			r.Binding = f.after.result.Bindings[r.Rank]
		}
	}
	return j, nil
}

// Renew builds the answer again from what the ranks have read again after MPI_Init. lost has the reasons by rank. The
// error comes from [Collect].
func (j *Job) Renew(root *catalog.Process, deltas []*catalog.Delta, lost map[int]string) (*Job, error) {
	after := &j.f.after
	after.process, after.deltas, after.result.Lost = root, deltas, lost
	return j.f.root()
}

// LostText names the ranks that did not answer.
func (j *Job) LostText() []string {
	if len(j.Lost) == 0 {
		return nil
	}
	return lostText(j.Lost, j.f.after.result.Hosts)
}

// Settle sends all ranks the exit code, so that they exit while rank 0 prints, or the invitation to serve.
func (j *Job) Settle(code int, invitation ...byte) {
	if j.f != nil && j.Root {
		j.f.settle(code, invitation...)
	}
}

func (f *front) settle(code int, invitation ...byte) {
	if !f.settled && !f.Backend.Ended {
		f.settled = true
		f.Backend.Send(transport.FrameVerdict, append([]byte{byte(code)}, invitation...))
	}
}

// Finish waits for the end of the job and returns the exit code. Other ranks got the code of the first Settle or
// Finish.
func (j *Job) Finish(code int) int {
	f := j.f
	if f == nil {
		return code
	}
	if !j.Root {
		return j.agreed
	}
	j.Settle(code)
	if len(j.Lost) > 0 {
		return code // the back end cannot finalize MPI; it exits with this process
	}
	switch how := f.Await(10 * time.Second); how {
	case 0:
		f.kill()
		return code
	case 1:
		f.Backend.Kill()
		return max(code, how)
	default:
		f.kill()
		return how
	}
}

// Await waits for the back end to exit and returns 0; 1 if it takes longer than the limit, 130 after a signal.
func (l *Live) Await(limit time.Duration) int {
	late := time.After(limit)
	for !l.Backend.Ended {
		select {
		case e := <-l.Events:
			e.Note()
		case <-late:
			return 1
		case <-l.Signals:
			return 130
		}
	}
	return 0
}
