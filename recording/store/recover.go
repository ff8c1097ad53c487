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

// Recovered is what [Recover] did for one process.
type Recovered struct {
	Rank, PID int
	Host      string
	Chunks    int   // moved into the directory
	Bytes     int64 // of them
	State     State // StateDied: done; StateRunning: left alone; StateUnreachable: its memory file is not on this machine
	Err       error // what went wrong; its memory file is still there then
}

// Recover moves what dead processes left in memory files into the run directory, and removes those files. Processes that
// run are left alone, as are those whose memory file is on another machine: run it there. It may be repeated, also where it
// was interrupted: what was moved twice is read once. With force, processes that only seem to run (in a container, none
// can be told from another) are taken as dead. The answers come in the order of ranks.
func Recover(dir string, force bool) ([]Recovered, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Recovered
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mpxm") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		m, err := readManifest(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			all = append(all, Recovered{Rank: -1, Err: fmt.Errorf("%s: %w", e.Name(), err)})
		default:
			all = append(all, recoverOne(dir, path, m, force))
		}
	}
	slices.SortStableFunc(all, func(a, b Recovered) int { return cmp.Compare(a.Rank, b.Rank) })
	return all, nil
}

// Discard removes a run directory, and the memory files on this machine of processes that could not append what was in them. It
// leaves both where one of its processes runs.
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
		if elsewhere(m) || running(m) {
			return fmt.Errorf("%s: process %d runs", dir, m.pid)
		}
		left = append(left, m.path)
	}
	for _, path := range left {
		removeLives(path)
	}
	return os.RemoveAll(dir)
}

func recoverOne(dir, path string, m *manifest, force bool) Recovered {
	done := Recovered{Rank: int(m.rank), PID: m.pid, Host: m.host}
	lives, err := openLives(m)
	defer closeAll(lives)
	if errors.Is(err, fs.ErrNotExist) || elsewhere(m) && !force {
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
	chunks, err := leftChunks(lives)
	if err == nil {
		err = appendChunks(filepath.Join(dir, nodeFile(m.host)), chunks, &done)
	}
	if err == nil {
		err = errors.Join(removeLives(m.path), os.Remove(path), removeTail(path))
	}
	done.Err = err
	return done
}

// leftChunks are the chunks of a dead process as it would have written them, and one that tells what it counted.
func leftChunks(lives []liveFile) ([][]byte, error) {
	var all [][]byte
	var last chunk
	for i := range lives {
		f := &lives[i]
		for slot := range f.head.slots {
			b, c, err := readSlot(f, slot)
			if err != nil || b == nil || c.stream != f.head.stream || c.used == 0 {
				continue // damaged: nothing can be made of it
			}
			whole := make([]byte, c.size())
			if n, err := readAt(f.File, whole[:c.headBytes], f.slotAt(slot)); err != nil || n < c.headBytes {
				return nil, fmt.Errorf("the memory file cannot be read: %w", err)
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
		return all, nil
	}
	l := &lives[0].head
	for _, b := range lastChunks(&lives[0]) {
		if c, err := parseChunk(b); err == nil && l.counters[lostFull]+l.counters[overBudget] > 0 {
			sealChunk(b, &c, c.used, max(last.last, last.first), c.records)
			all = append(all, b)
			last.sequence = max(last.sequence, c.sequence)
		}
	}
	return append(all, epilogue(l, &last)), nil
}

// removeTail removes the file of last values of a manifest's process: they are in the node's file now.
func removeTail(manifest string) error {
	name := strings.TrimSuffix(filepath.Base(manifest), ".mpxm")
	err := os.Remove(filepath.Join(filepath.Dir(manifest), "tail"+strings.TrimPrefix(name, "live")+".mpxt"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// epilogue is a chunk that tells what a dead process counted, and that it was recovered.
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

// appendChunks appends to a node's file: all or nothing, where the file can be locked against processes that still run.
func appendChunks(path string, chunks [][]byte, done *Recovered) error {
	h, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|openFlags, 0o600)
	if err != nil {
		return err
	}
	defer h.Close()
	locked := lockFile(h) // unlocked when it is closed
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

// nodeFile is the name of the file that a host's processes append to.
func nodeFile(host string) string { return "node-" + fileHost(host) + ".mpxr" }

// fileHost is a host's name as the agent writes it into names of files.
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
