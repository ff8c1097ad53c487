package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/machine"
)

// If nothing is recorded, the agents on rank 0 have listed the programs that loaded them, and why an MPI program was
// not recorded, in a file in the run directory. The file is removed at the end.

func seenPath(dir string) string { return filepath.Join(dir, "seen") }

// makeSeen creates the file; agents append to it only if it exists. It has room also if the disk becomes full.
func makeSeen(dir string) string {
	f, err := os.OpenFile(seenPath(dir), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return ""
	}
	reserve(f, 4096)
	f.Close()
	return f.Name()
}

// unwritable says why an agent cannot write its part of a run to a directory; "": it can.
func unwritable(dir string) string {
	f, err := os.CreateTemp(dir, ".room-*")
	if err == nil {
		defer os.Remove(f.Name())
		_, err = f.Write(make([]byte, 64<<10)) // the size of a chunk
		err = errors.Join(err, f.Close())
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist): // another process of the job has removed the empty run
		return ""
	case errors.As(err, &path):
		return path.Err.Error()
	case err != nil:
		return err.Error()
	}
	return ""
}

// seen is the content of the file, without duplicates.
type seen struct {
	loaded, entered []string // names of programs, and of those that called MPI_Init
	why             []string // reasons of those with MPI
	ranks           map[int]string
}

// explained are the reasons that are not of one of these ranks.
func (s *seen) explained(missing func(rank int) bool) (others []string) {
	named := map[string]bool{}
	for rank, why := range s.ranks {
		named[why] = named[why] || missing(rank)
	}
	for _, why := range s.why {
		if !named[why] {
			others = append(others, why)
		}
	}
	return others
}

func readSeen(dir string) (s seen) {
	s.ranks = map[int]string{}
	text, _ := os.ReadFile(seenPath(dir))
	add := func(list *[]string, item string) {
		if !slices.Contains(*list, item) {
			*list = append(*list, item)
		}
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(f) < 4 {
			continue
		}
		switch f[0] {
		case "loaded":
			add(&s.loaded, f[1])
		case "entered":
			add(&s.entered, f[1])
		case "unrecorded":
			why := f[1] + ": " + strings.TrimPrefix(f[3], "no run: ")
			add(&s.why, why)
			if rank, err := strconv.Atoi(f[2]); err == nil && rank >= 0 {
				s.ranks[rank] = why
			}
		}
	}
	return s
}

const mostSeen = 5

const endedSomehow = "ended" // it is not known whether the program exited by itself

const otherPreload = "a program started with another LD_PRELOAD (env -i, unset LD_PRELOAD) runs without the agent; keep $LD_PRELOAD and $MPITX_AGENT, or put mpitx in front of that program"

// unrecorded explains why nothing was recorded, and what to do. chosen is true if the user named the
// MPI; how says how the program was ended, if it did not exit by itself: "was killed by SIGTERM", or
// endedSomehow.
func (x *application) unrecorded(s seen, launcher machine.Launch, chosen bool, how string) []string {
	target := filepath.Base(x.Target)
	var lines []string
	what := func(format string, args ...any) {
		lines = append([]string{"nothing was recorded: " + fmt.Sprintf(format, args...)}, lines...)
	}
	wrong := machine.WrongLauncher(launcher, x.mpi)
	switch {
	case len(s.why) > 0:
		what("%s", strings.Join(s.why[:min(len(s.why), mostSeen)], "; "))
	case len(s.entered) > 0 && wrong != "":
		what("MPI_Init of %s failed: %s", namesText(s.entered), wrong)
	case len(s.entered) > 0 && how != "":
		what("%s %s in MPI_Init", namesText(s.entered), how)
	case len(s.entered) > 0:
		what("MPI_Init of %s failed", namesText(s.entered))
	case len(s.loaded) > 0 && wrong != "": // MPI_Init may have failed on another rank first
		what("the job ended before %s called MPI_Init: %s", namesText(s.loaded), wrong)
	case len(s.loaded) > 0 && how != "" && how != endedSomehow:
		what("%s %s before it called MPI_Init", namesText(s.loaded), how)
	case len(s.loaded) == 0:
		what("no process loaded the agent")
	case x.Linked == nil && slices.Equal(s.loaded, []string{target}):
		do := ""
		if !chosen {
			do = ", or if it loads another MPI than " + x.mpi.Name() + ", choose that with --mpi"
		}
		who := x.Target
		if len(x.Notes) > 0 {
			who = strings.Join(x.Notes, ", ") + ", and"
		}
		what("%s did not call MPI_Init; give the program that calls MPI, or if %s starts it with another LD_PRELOAD, put mpitx in front of that program%s", who, target, do)
		return lines
	case x.Linked != nil && slices.Contains(s.loaded, target):
		what("%s did not call MPI_Init", x.Target)
	case x.Linked != nil:
		what("%s ran without the agent; only %s loaded it", x.Target, namesText(s.loaded))
		lines = append(lines, otherPreload)
	default:
		what("no program with the agent called MPI_Init: %s", namesText(s.loaded))
		lines = append(lines, otherPreload)
	}
	lines = append(lines, x.Notes...)
	if x.Linked == nil && !chosen {
		lines = append(lines, "the agent is the one of "+x.mpi.Name()+", and sees no other MPI; choose one with --mpi")
	}
	return lines
}

func namesText(names []string) string {
	text := strings.Join(names[:min(len(names), mostSeen)], ", ")
	if n := len(names) - mostSeen; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// hasRanks reports whether a rank has recorded anything in a run directory.
func hasRanks(dir string) bool {
	entries, _ := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return strings.Contains(e.Name(), ".mpxm") || strings.Contains(e.Name(), ".mpxr")
	})
}
