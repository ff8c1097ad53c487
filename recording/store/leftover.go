package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Leftover is a live file whose process has ended without appending it to its run directory.
type Leftover struct {
	Path      string
	Size      int64
	Rank, PID int
	Dir       string // the run directory; "" where the file does not say
	Known     bool   // its run directory is there and leads to it: [Recover] brings it in
}

// Leftovers looks in folders of live files for those of this user that dead processes have left. Of what cannot be read,
// or belongs to a process that may still run, nothing is said.
func Leftovers(folders ...string) []Leftover {
	var all []Leftover
	seen := map[string]bool{}
	for _, folder := range folders {
		names, _ := filepath.Glob(filepath.Join(folder, "mpitx-*.live"))
		for _, name := range names {
			if left, err := leftover(name); err == nil && !seen[name] {
				seen[name] = true
				all = append(all, left)
			}
		}
	}
	return all
}

var errInUse = errors.New("its process may still run")

func leftover(path string) (Leftover, error) {
	h, err := openRegular(path)
	if err != nil {
		return Leftover{}, err
	}
	defer h.Close()
	info, err := h.Stat()
	if err != nil || !ownedByUs(info) {
		return Leftover{}, fs.ErrPermission
	}
	var head [liveHead]byte
	n, err := readAt(h, head[:], 0)
	if err != nil {
		return Leftover{}, err
	}
	l, err := parseLive(head[:n])
	if err != nil {
		return Leftover{}, err
	}
	left := Leftover{Path: path, Size: info.Size(), Rank: int(l.rank), PID: l.pid}
	m := manifest{pid: l.pid}
	m.pidStart, m.pidNamespace, left.Dir = parseOwner(head[:n])
	if running(&m) {
		return left, errInUse
	}
	if left.Dir != "" {
		if m := leadsTo(left.Dir, path, l.stream); m != nil {
			left.Known = true
			if elsewhere(m) {
				return left, errInUse
			}
		}
	}
	return left, nil
}

// leadsTo is a run directory's manifest of this live file; nil if there is none.
func leadsTo(dir, path string, stream uint64) *manifest {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mpxm") {
			continue
		}
		if m, err := readManifest(filepath.Join(dir, e.Name())); err == nil && m.stream == stream && m.path == path {
			return m
		}
	}
	return nil
}

// Remove removes a file that no run leads to. It looks again before.
func (l Leftover) Remove() error {
	now, err := leftover(l.Path)
	switch {
	case err != nil:
		return err
	case now.Known:
		return fmt.Errorf("it belongs to the run %s", now.Dir)
	case now.Dir == "":
		return errors.New("it does not say to which run it belongs")
	}
	return os.Remove(l.Path)
}
