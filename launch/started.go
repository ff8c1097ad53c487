package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mpitx/machine"
	"mpitx/recording"
)

// The mpitx process of each rank adds a line to the file started-HOST in the run directory before it becomes the
// application: rank, process id and start time. So the others know which ranks have mpitx, and an mpitx that started a
// launcher knows which processes it must not leave behind. Only one host writes a file: on network file systems, lines of
// several hosts could overwrite each other.
//
// The lowest rank that has mpitx finishes the run. That is rank 0, or one that finds no lower rank in these files, neither
// before it starts the application nor after the application has ended. If its own line is gone, another rank has finished
// the run and removed the directory.

func startedPath(dir string) string {
	host, _ := os.Hostname()
	safe := func(c rune) rune {
		if strings.ContainsRune("-_.", c) || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}
	return filepath.Join(dir, recording.StartedPrefix+strings.Map(safe, host[:min(len(host), 64)]))
}

func addLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	f.Close()
	return err
}

// register adds this process. over is true if its launcher has ended.
func (j *runDir) register(e *machine.Env, rank int) (over bool) {
	ticks, _, _ := startTime(e, os.Getpid())
	line := fmt.Sprintf("%d %d %s\n", rank, os.Getpid(), ticks)
	if addLine(startedPath(j.dir), line) != nil {
		return false
	}
	text, _ := os.ReadFile(startedPath(j.dir))
	before, _, _ := strings.Cut(string(text), recording.StartedOver)
	return !strings.Contains("\n"+before, "\n"+line)
}

// eachStarted calls a function with the ranks that mpitx has started so far, this host's first, until it returns false.
func (j *runDir) eachStarted(each func(rank int) bool) {
	here := startedPath(j.dir)
	files := []string{here}
	entries, _ := os.ReadDir(j.dir)
	for _, e := range entries {
		if path := filepath.Join(j.dir, e.Name()); strings.HasPrefix(e.Name(), recording.StartedPrefix) && path != here {
			files = append(files, path)
		}
	}
	for _, path := range files {
		for _, s := range startedRanks(path) {
			if !each(s.Rank) {
				return
			}
		}
	}
}

// elected reports whether this process finishes the run, as far as is known.
func (r *Job) elected() bool {
	lowest, registered := true, false
	if r.launch.Rank > 0 {
		r.job.eachStarted(func(rank int) bool {
			lowest, registered = rank >= r.launch.Rank, registered || rank == r.launch.Rank
			return lowest
		})
	}
	return lowest && (registered || r.launch.Rank <= 0)
}

// lateStart is how long another rank may take to start after a program has ended that recorded nothing, perhaps at once.
const lateStart = 10 * time.Second

// overtaken reports whether a lower rank finishes the run instead. It waits for one that starts late. Rank 0 waits for the others: one that
// started after the directory was removed would make it again, and say the same.
func (r *Job) overtaken() bool {
	for end := time.Now().Add(lateStart); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if !r.elected() {
			return true
		}
		if r.launch.Rank <= 0 && (r.killed != "" && r.killed != endedSomehow || len(r.absent()) == 0) {
			return false
		}
	}
	return false
}

// absent are the ranks that mpitx has not started, if that is known: ranks on other hosts may start at any time.
func (r *Job) absent() map[int]bool {
	ranks := map[int]bool{}
	if r.launch.Rank < 0 || !oneNode(r.Env, r.launch) {
		return ranks
	}
	for rank := range r.size {
		ranks[rank] = true
	}
	r.job.eachStarted(func(rank int) bool {
		delete(ranks, rank)
		return true
	})
	if len(ranks) == r.size { // the directory could not be written
		clear(ranks)
	}
	return ranks
}

// startedRanks are the ranks in one of the files.
func startedRanks(path string) []recording.Started {
	text, _ := os.ReadFile(path)
	all, _ := recording.ParseStarted(string(text))
	return all
}
