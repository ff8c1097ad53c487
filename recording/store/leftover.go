package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Leftover is a live file whose process has ended without appending it to its run directory.
type Leftover struct {
	Path      string
	Size      int64 // including the process's further live files
	Rank, PID int
	Dir       string // the run directory; "" if the file does not say
	Known     bool   // the run directory refers to it, and [Recover] can move it there
	Unknown   error  // why it is not known whether it does; nil: it is known

	stream uint64
}

// Leftovers finds live files of this user in folders whose processes have ended. It skips files that cannot be read, and
// files of processes that may still run.
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
	errInUse = errors.New("the process may still run")
	errPart  = errors.New("a part of another live file")
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
	left := Leftover{Path: path, Size: info.Size(), Rank: int(l.rank), PID: l.pid, stream: l.stream}
	for n := 1; n <= maxFiles; n++ {
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
		m, err := leadsTo(left.Dir, l.stream)
		if left.Unknown = err; m != nil {
			left.Known = true
			if onOtherMachine(m) {
				return left, errInUse
			}
		}
	}
	return left, nil
}

// begun reports whether anything was recorded: then a run refers to the file, or did.
func (l Leftover) begun() (bool, error) {
	f, err := openLiveFile(l.Path)
	if err != nil {
		return false, fmt.Errorf("the memory file cannot be read: %w", err)
	}
	defer f.Close()
	var head [chunkHead]byte
	for i := range f.head.slots {
		switch n, err := readAt(f.File, head[:], f.slotAt(i)); {
		case err != nil:
			return false, fmt.Errorf("the memory file cannot be read: %w", err)
		case n == chunkHead && le.Uint64(head[40:]) != 0:
			return true, nil
		}
	}
	return false, nil
}

// leadsTo returns a run directory's manifest of a live file; nil if there is none. The error says why that is not known.
func leadsTo(dir string, stream uint64) (found *manifest, unknown error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("its run cannot be read: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".mpxm") {
			continue
		}
		m, err := readManifest(filepath.Join(dir, e.Name()))
		var unreadable *fs.PathError
		switch {
		case err == nil && m.stream == stream:
			return m, nil
		case errors.As(err, &unreadable) && !errors.Is(err, fs.ErrNotExist):
			unknown = fmt.Errorf("its run cannot be read: %w", err)
		}
	}
	return nil, unknown
}

// DiscardMemory removes the memory files of dead processes of a run directory that was removed. It reports whether
// processes of that run are still running.
func DiscardMemory(dir string) (running bool) {
	names, _ := filepath.Glob("/dev/shm/mpitx-*.live")
	for _, name := range names {
		l, err := leftover(name)
		switch {
		case l.Dir != dir:
		case errors.Is(err, errInUse):
			running = true
		case err == nil:
			l.Remove()
		}
	}
	return running
}

// Remove removes the file if no run refers to it. It checks again before. It fails if the file belongs to a run, or if
// that cannot be found out.
func (l Leftover) Remove() error {
	now, err := leftover(l.Path)
	switch {
	case err != nil:
		return err
	case now.Known:
		return fmt.Errorf("the file belongs to the run %s; use mpitx recover", now.Dir)
	case now.Unknown != nil:
		return now.Unknown
	case now.Dir == "":
		return errors.New("the file does not name its run")
	}
	return removeLives(l.Path)
}
