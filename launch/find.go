package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/runlist"
	"mpitx/text"
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

// Newest is the newest run below a directory; with running, runs whose job is running come first. "" and awaited: there is none. said
// says which one it is.
func Newest(base string, running bool) (name, said, awaited string, err error) {
	name, others, err := runlist.Newest(base, running)
	switch {
	case err != nil:
		return "", "", "", &machine.Error{What: base, Why: machine.Cause(err).Error(), Do: "name a run"}
	case name == "":
		return "", "", base + ": there is no run in this directory", nil
	case len(others) > 0:
		return name, fmt.Sprintf("%s is the newest run here that is running; %s running, too: %s", text.Quote(name), text.Verb(len(others), "this is", "these are"), strings.Join(others, " ")), "", nil
	}
	return name, text.Quote(name) + " is the newest run here", "", nil
}

// FindLive opens the run, or without a name the newest one below a directory, those that are running first: see [FindRun]. say is called
// with which one it took.
func FindLive(name, below string, say func(words string)) (run *recording.Run, awaited string, err error) {
	said := ""
	if name == "" {
		if name, said, awaited, err = Newest(below, true); name == "" {
			return nil, awaited, err
		}
	}
	if run, awaited, err = FindRun(name); run != nil && said != "" {
		say(said)
	}
	return run, awaited, err
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

// AwaitRun is [FindLive]. It waits a moment for a run that is not there yet. After five seconds it fails with what is
// missing.
func AwaitRun(name, below string, say func(words string)) (*recording.Run, error) {
	run, awaited, err := FindLive(name, below, say)
	for start := time.Now(); run == nil && err == nil; run, awaited, err = FindLive(name, below, say) {
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
