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
	Size      int64 // with the process's further live files
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

var (
	errInUse = errors.New("its process may still run")
	errPart  = errors.New("it is a part of another one")
)

func leftover(path string) (Leftover, error) {
	if stem, _, further := strings.Cut(strings.TrimPrefix(filepath.Base(path), "mpitx-"), "-"); further {
		if _, err := os.Lstat(filepath.Join(filepath.Dir(path), "mpitx-"+stem+".live")); err == nil {
			return Leftover{}, errPart
		}
	}
	f, err := openLiveFile(path)
	if err != nil {
		return Leftover{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !ownedByUs(info) {
		return Leftover{}, fs.ErrPermission
	}
	var head [liveHead]byte
	n, err := readAt(f.File, head[:], 0)
	if err != nil {
		return Leftover{}, err
	}
	l := &f.head
	left := Leftover{Path: path, Size: info.Size(), Rank: int(l.rank), PID: l.pid}
	for n := 1; n <= mostFiles; n++ {
		info, err := os.Lstat(furtherFile(path, n))
		if err != nil {
			break
		}
		left.Size += info.Size()
	}
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
	return removeLives(l.Path)
}
