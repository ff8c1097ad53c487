package recording

import (
	"math"
	"os"
	"strconv"
	"strings"
)

// Started is a rank that mpitx has started: a line of a file started-HOST (docs/run-format.md).
type Started struct {
	Rank, PID int
	Ticks     string // when the process was started; process ids are reused
}

// StartedPrefix begins the names of these files. StartedOver is the line that says that the launcher has ended, and no rank may start any
// more.
const (
	StartedPrefix = "started-"
	StartedOver   = "over\n"
)

const mostStartedBytes = 1 << 28

// ParseStarted reads such a file as far as it has whole lines. damaged is where the first line is that is none; -1: nowhere.
func ParseStarted(text string) (all []Started, damaged int64) {
	damaged = -1
	at := int64(0)
	for line := range strings.Lines(text) {
		s, ok := parseStarted(line)
		switch {
		case !ok && damaged < 0:
			damaged = at
		case s.Ticks != "":
			all = append(all, s)
		}
		at += int64(len(line))
	}
	return all, damaged
}

// parseStarted reads a line. Ticks may be missing, if they could not be found out.
func parseStarted(line string) (s Started, ok bool) {
	words := strings.Fields(line)
	if !strings.HasSuffix(line, "\n") || line == StartedOver || len(words) < 2 || len(words) > 3 {
		return s, line == StartedOver
	}
	rank, rankErr := strconv.Atoi(words[0])
	pid, pidErr := strconv.Atoi(words[1])
	if rankErr != nil || pidErr != nil || pid <= 0 || pid > math.MaxInt32 {
		return s, false
	}
	s.Rank, s.PID = rank, pid
	if len(words) == 3 {
		if _, err := strconv.ParseUint(words[2], 10, 64); err != nil {
			return Started{}, false
		}
		s.Ticks = words[2]
	}
	return s, true
}

// checkStarted finds damage in the files of all hosts. Only jobs that run need what is in them.
func (run *Run) checkStarted() {
	entries, _ := os.ReadDir(run.Dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), StartedPrefix) {
			continue
		}
		text, _ := run.store.ReadFile(e.Name(), mostStartedBytes)
		if _, at := ParseStarted(string(text)); at >= 0 {
			run.store.Damaged(e.Name(), at, "this is not a line of a rank that was started")
		}
	}
}
