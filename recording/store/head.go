package store

import (
	"errors"
	"io/fs"
	"os"
)

// mostHeads bounds the chunks that OpenHead reads at the beginning of a file: the first declarations may come after chunks of others.
const mostHeads = 8

// OpenHead reads what a run is, in a time that does not grow with its size: the first declarations in the file of each node, and the
// state of each process that has a manifest. Other processes have ended. It finds damage only where it reads.
func OpenHead(dir string, reader Reader) (*Store, error) {
	s := &Store{Dir: dir, reader: reader, processes: map[uint64]*Process{}}
	names, err := s.list()
	if err != nil {
		return nil, err
	}
	defer s.files.close()
	for _, m := range s.manifests(names) {
		if p := s.process(m.stream, m.rank, m.runID); p != nil {
			p.manifest, p.Host, p.PID = m, m.host, m.pid
			p.State = m.state()
		}
	}
	for _, f := range s.data {
		if !f.ring {
			s.scanHead(f)
		}
	}
	if len(s.processes) == 0 && len(s.damage) == 0 {
		return nil, ErrNotARun
	}
	for _, p := range s.processes {
		if p.State == 0 {
			p.State = StateEnded
		}
	}
	s.reader.Refreshed(s.processes)
	return s, nil
}

// state is what a manifest says of its process.
func (m *manifest) state() State {
	switch _, err := os.Lstat(m.path); {
	case onOtherMachine(m), m.bootID == "" && errors.Is(err, fs.ErrNotExist):
		return StateUnreachable
	case running(m):
		return StateRunning
	}
	return StateDied
}

// scanHead reads the first chunk of declarations in a file.
func (s *Store) scanHead(f *dataFile) {
	h, err := s.files.get(f.path)
	if err != nil {
		s.damaged(err)
		return
	}
	info, err := h.Stat()
	if err != nil {
		s.damaged(err)
		return
	}
	var head [chunkHead]byte
	at := int64(0)
	for range mostHeads {
		n, err := readAt(h, head[:], at)
		if err != nil || n == 0 {
			return
		}
		c, err := parseChunk(head[:n])
		if err != nil || c.size() > info.Size()-at {
			if at == 0 && info.Size() >= chunkHead { // a file that is being begun may be shorter
				s.damagedAt(f.name(), at, "it does not begin with a whole chunk")
			}
			return
		}
		if s.takeChunk(f, h, &c, at, c.size()); c.kind == kindMeta {
			return
		}
		at += c.size()
	}
}

// Alive reports whether a process of this machine runs. start is when it was started (field 22 of proc(5) stat).
func Alive(pid int, start uint64) bool { return running(&manifest{pid: pid, pidStart: start}) }
