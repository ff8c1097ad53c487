package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recovered is the result of [Recover] for one process.
type Recovered struct {
	Rank, PID int
	Host      string
	Chunks    int   // number of chunks moved into the directory
	Damaged   int   // number of chunks that were damaged in memory, and are lost
	Bytes     int64 // and their size
	State     State // StateDied: recovered; StateRunning: left alone; StateUnreachable: its memory file is on another machine
	Unstarted bool  // it died before it recorded anything; its memory file was removed
	Err       error // why it failed; the memory file is still there
}

// Recover moves the chunks of dead processes from their memory files into the run directory, sorted by rank, and removes
// the files. It leaves running processes alone, and those whose memory file is on another machine, where it has to run.
// It can be repeated, also after an interruption: chunks that were moved twice are read once. With force, it also
// recovers processes that only seem to run because their PID namespace (a container's) cannot be seen.
func Recover(dir string, force bool) ([]Recovered, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Recovered
	readable := true
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mpxm") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		m, err := readManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			readable = false
			all = append(all, Recovered{Rank: -1, Err: fmt.Errorf("%s: %w", e.Name(), err)})
		default:
			all = append(all, recoverOne(dir, path, m, force))
		}
	}
	if readable {
		all = append(all, removeUnstarted(dir)...)
	}
	slices.SortStableFunc(all, func(a, b Recovered) int { return cmp.Compare(a.Rank, b.Rank) })
	return all, nil
}

// Discard removes a run directory and the memory files of its processes on this machine. It removes nothing if one of
// them still runs here. The caller knows that those on other machines have ended.
func Discard(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var left []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mpxm") {
			continue
		}
		m, err := readManifest(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		f, err := openLive(m)
		if err != nil {
			continue
		}
		f.Close()
		if onOtherMachine(m) || running(m) {
			return fmt.Errorf("%s: process %d is still running", dir, m.pid)
		}
		left = append(left, m.path)
	}
	for _, path := range left {
		if l, _ := leftover(path); l.Dir == "" || sameFolder(l.Dir, dir) { // a copy's manifests name the memory files of the original
			removeLives(path)
		}
	}
	return os.RemoveAll(dir)
}

func recoverOne(dir, path string, m *manifest, force bool) Recovered {
	done := Recovered{Rank: int(m.rank), PID: m.pid, Host: m.host}
	lives, err := openLives(m)
	defer closeAll(lives)
	if errors.Is(err, fs.ErrNotExist) || onOtherMachine(m) && !force {
		done.State = StateUnreachable
		return done
	}
	if err != nil {
		done.State, done.Err = StateDied, err
		return done
	}
	if running(m) && !force {
		done.State = StateRunning
		return done
	}
	done.State = StateDied
	chunks, damaged, err := leftChunks(lives)
	done.Damaged = damaged
	if err == nil {
		err = appendChunks(filepath.Join(dir, nodeFile(m.host)), chunks, &done)
	}
	if err == nil {
		err = errors.Join(removeLives(m.path), os.Remove(path), removeTail(path))
	}
	done.Err = err
	return done
}

var errOther = errors.New("it belongs to another run, which was in this directory before; run mpitx recover on that run's directory, or mpitx recover --stale to remove the file")

// removeUnstarted removes the files of processes that died before the run referred to their memory file.
func removeUnstarted(dir string) (all []Recovered) {
	here, err := os.Stat(dir)
	if err != nil {
		return nil
	}
	host, _ := os.Hostname()
	for _, l := range Leftovers("/dev/shm") { // other folders may be shared with machines on which such a process still runs
		if there, err := os.Stat(l.Dir); err != nil || l.Known || !os.SameFile(here, there) {
			continue
		}
		begun, err := l.begun()
		switch {
		case l.Unknown != nil:
			err = l.Unknown
		case err == nil && begun:
			err = errOther
		}
		if err != nil {
			all = append(all, Recovered{Rank: l.Rank, PID: l.PID, Host: host, State: StateDied, Err: err})
			continue
		}
		err = l.Remove()
		if errors.Is(err, fs.ErrNotExist) { // another process has removed it
			continue
		}
		if names, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("live-*-%d-%08x.mpxm.tmp", l.Rank, l.stream>>32))); err == nil && len(names) == 1 {
			err = os.Remove(names[0])
		}
		all = append(all, Recovered{Rank: l.Rank, PID: l.PID, Host: host, State: StateDied, Unstarted: true, Err: err})
	}
	return all
}

// leftChunks returns the chunks of a dead process, sealed, and an epilogue. damaged counts the chunks that cannot be read: there is no other
// copy.
func leftChunks(lives []liveFile) (all [][]byte, damaged int, err error) {
	var last chunk
	var newest uint64
	for i := range lives {
		f := &lives[i]
		newest = max(newest, newestChunk(f, true))
		for slot := range f.head.slots {
			b, c, err := readSlot(f, slot)
			var unreadable *fs.PathError
			if errors.As(err, &unreadable) {
				return nil, damaged, fmt.Errorf("the memory file cannot be read: %w", err)
			}
			if err != nil {
				damaged++
			}
			if err != nil || b == nil || c.stream != f.head.stream || c.used == 0 {
				continue
			}
			whole := make([]byte, c.size())
			if n, err := readAt(f.File, whole[:c.headBytes], f.slotAt(slot)); err != nil || n < c.headBytes {
				return nil, damaged, fmt.Errorf("the memory file cannot be read: %w", err)
			}
			copy(whole[c.headBytes:], b)
			sealChunk(whole, &c, c.used, max(c.last, c.first), c.records)
			all = append(all, whole)
			if c.sequence > last.sequence {
				last = c
			}
		}
	}
	if last.sequence == 0 {
		return all, damaged, nil
	}
	last.sequence = max(last.sequence, newest) // chunks in the node's file may be newer than those that are left
	l := &lives[0].head
	for _, b := range lastChunks(&lives[0]) {
		if c, err := parseChunk(b); err == nil && l.counters[lostFull]+l.counters[overBudget] > 0 {
			sealChunk(b, &c, c.used, max(last.last, last.first), c.records)
			all = append(all, b)
			last.sequence = max(last.sequence, c.sequence)
		}
	}
	return append(all, epilogue(l, &last)), damaged, nil
}

// removeTail removes a process's file of last values, which are in the node's file by now.
func removeTail(manifest string) error {
	name := strings.TrimSuffix(filepath.Base(manifest), ".mpxm")
	err := os.Remove(filepath.Join(filepath.Dir(manifest), "tail"+strings.TrimPrefix(name, "live")+".mpxt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// epilogue makes a chunk with a dead process's counters and the mark that it was recovered.
func epilogue(l *live, last *chunk) []byte {
	var records []byte
	add := func(typ uint16, words ...uint64) {
		records = le.AppendUint32(records, uint32(recordHead+8*len(words)))
		records = le.AppendUint16(records, typ)
		records = le.AppendUint16(records, 0)
		records = le.AppendUint64(records, max(last.last, last.first))
		for _, w := range words {
			records = le.AppendUint64(records, w)
		}
	}
	add(recordCounters, append([]uint64{NumCounters}, l.counters[:]...)...)
	add(recordRecovered)
	b := make([]byte, chunkHead, chunkHead+len(records))
	copy(b, chunkMagic)
	le.PutUint16(b[8:], Version)
	le.PutUint16(b[10:], chunkHead)
	b[12] = kindMeta
	copy(b[16:], l.runID[:])
	le.PutUint64(b[32:], l.stream)
	le.PutUint64(b[40:], last.sequence+1)
	le.PutUint32(b[48:], uint32(l.rank))
	le.PutUint32(b[52:], uint32(l.chunkBytes-chunkHead))
	le.PutUint64(b[64:], max(last.last, last.first))
	b = append(b, records...)
	sealChunk(b, &chunk{headBytes: chunkHead}, uint32(len(records)), max(last.last, last.first), 2)
	return b
}

// appendChunks appends chunks to a node's file: all or none, if the file can be locked.
func appendChunks(path string, chunks [][]byte, done *Recovered) error {
	h, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|openFlags, 0o600)
	if err != nil {
		return err
	}
	defer h.Close()
	locked := lockFile(h) // until it is closed
	info, err := h.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	for _, b := range chunks {
		if _, err = h.Write(b); err != nil && locked {
			return errors.Join(err, h.Truncate(info.Size()))
		} else if err != nil {
			return err
		}
		done.Chunks++
		done.Bytes += int64(len(b))
	}
	return h.Sync()
}

// nodeFile is the name of the file to which a host's processes append.
func nodeFile(host string) string { return "node-" + fileHost(host) + ".mpxr" }

// fileHost is a host's name as the agent writes it in file names.
func fileHost(host string) string {
	if host == "" {
		host = "localhost"
	}
	b := []byte(host[:min(len(host), 64)])
	for i, c := range b {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' && i > 0
		if !plain {
			b[i] = '_'
		}
	}
	return string(b)
}

func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	y, again := os.Stat(b)
	return err == nil && again == nil && os.SameFile(x, y)
}
