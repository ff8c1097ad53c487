package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/machine"
	"mpitx/recording"
)

// NameRun ends the messages about a directory that is not a run.
const NameRun = "name a run directory that mpitx record, sample, profile, trace or run wrote"

// OpenRun opens a run directory. Its errors say what to do.
func OpenRun(dir string) (*recording.Run, error) {
	run, err := recording.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &machine.Error{What: dir, Why: "there is no such directory", Do: NameRun}
	case errors.Is(err, recording.ErrNotARun):
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			return nil, &machine.Error{What: dir, Why: "not a directory", Do: NameRun}
		}
		if _, err := os.Stat(filepath.Join(dir, RunFile)); err == nil {
			return nil, nothingYet(dir)
		}
		return nil, &machine.Error{What: dir, Why: "not a run directory", Do: NameRun}
	case err != nil:
		return nil, &machine.Error{What: dir, Why: "cannot read the run: " + machine.Cause(err).Error()}
	}
	return run, nil
}

func nothingYet(dir string) error {
	if ends, _ := filepath.Glob(filepath.Join(dir, "ends-*.json")); len(ends) > 0 {
		return &machine.Error{What: dir, Why: "the job has ended, and what it recorded (node-*.mpxr) is not here", Do: "if memory files are left on its nodes, mpitx recover collects them"}
	}
	return &machine.Error{What: dir, Why: "nothing was recorded yet", Do: "if the job is still running, try again in a moment"}
}

// OpenSamples opens a run that has recorded something.
func OpenSamples(dir string) (*recording.Run, error) {
	run, err := OpenRun(dir)
	if err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, nothingYet(dir)
	}
	return run, err
}

const (
	onceWait = 5 * time.Second // for a run that is not there yet
	onceLook = 50 * time.Millisecond
)

// FindLive opens the run, or without a name the only one below a directory whose job is running: see [FindRun].
func FindLive(name, below string) (run *recording.Run, awaited string, err error) {
	if name == "" {
		if name, awaited, err = liveRun(below); name == "" {
			return nil, awaited, err
		}
	}
	return FindRun(name)
}

// FindRun opens a run. If the run is not there yet, awaited says what is missing; an error says that waiting is of no use.
func FindRun(name string) (run *recording.Run, awaited string, err error) {
	run, err = recording.Open(name)
	switch _, parent := os.Stat(filepath.Dir(name)); {
	case err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0:
		run.Close()
		return nil, name + ": no rank has recorded anything", nil
	case errors.Is(err, fs.ErrNotExist) && parent == nil:
		return nil, name + ": there is no such directory", nil
	case errors.Is(err, recording.ErrNotARun) && starting(name):
		return nil, name + ": nothing was recorded yet", nil
	case err != nil:
		run, err = OpenRun(name) // says what to do
	}
	return run, "", err
}

// starting says whether a job has made this directory and has not recorded anything yet: its first file is RunFile.
func starting(dir string) bool {
	entries, err := os.ReadDir(dir)
	made := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == RunFile })
	return err == nil && (made || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }))
}

// liveRun finds the one run below a directory whose job is running; without one, awaited says so.
func liveRun(base string) (name, awaited string, err error) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return "", "", &machine.Error{What: "top: " + base, Why: machine.Cause(err).Error(), Do: "name a run"}
	}
	var all []string
	made := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if st, err := os.Stat(filepath.Join(path, RunFile)); err == nil && e.IsDir() {
			all, made[path] = append(all, path), st.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return made[b].Compare(made[a]) })
	var live, away []string // away: its ranks cannot be reached from here, and may run
	for _, path := range all[:min(len(all), 50)] {
		run, err := recording.Open(path)
		if err != nil {
			continue
		}
		if _, ranks := run.Unreachable(); run.Running() {
			live = append(live, path)
		} else if len(ranks) > 0 {
			away = append(away, path)
		}
		run.Close()
	}
	if len(live) == 0 {
		live = away
	}
	switch {
	case len(live) == 1:
		return live[0], "", nil
	case len(live) > 1:
		return "", "", &machine.Error{What: "top", Why: strconv.Itoa(len(live)) + " jobs are running", Do: "name a run: " + strings.Join(live, " "), Usage: true}
	case len(all) > 0:
		return "", base + ": no job of a run in this directory is running; the last run is " + all[0], nil
	}
	return "", base + ": there is no run in this directory", nil
}

// AwaitRun is [FindLive]. It waits a moment for a run that is not there yet. After five seconds it fails with what is
// missing.
func AwaitRun(name, below string) (*recording.Run, error) {
	run, awaited, err := FindLive(name, below)
	for start := time.Now(); run == nil && err == nil; run, awaited, err = FindLive(name, below) {
		if time.Since(start) > onceWait {
			return nil, &machine.Error{What: awaited + " (waited " + onceWait.String() + ")", Do: NameRun}
		}
		time.Sleep(onceLook)
	}
	return run, err
}

// JustStarted reports whether a directory, or one in it, was made for a run a moment ago.
func JustStarted(dir string) bool {
	made, _ := filepath.Glob(filepath.Join(dir, "*", RunFile))
	for _, path := range append(made, filepath.Join(dir, RunFile)) {
		if st, err := os.Stat(path); err == nil && time.Since(st.ModTime()) < onceWait {
			return true
		}
	}
	return false
}
