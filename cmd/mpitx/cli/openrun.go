package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trace"
	"mpitx/text"
)

func CompleteRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// NameRun ends the messages about a directory that is not a run.
const NameRun = "name a run directory that mpitx record, sample, profile, trace or run wrote"

// OpenRun opens a run directory for a command.
func OpenRun(dir string) (*recording.Run, error) {
	run, err := recording.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Failf("%s: there is no such directory; %s", dir, NameRun)
	case errors.Is(err, recording.ErrNotARun):
		if st, err := os.Stat(dir); err == nil && !st.IsDir() {
			return nil, Failf("%s: not a directory; %s", dir, NameRun)
		}
		if _, err := os.Stat(filepath.Join(dir, launch.RunFile)); err == nil {
			return nil, Failf(nothingYet, dir)
		}
		return nil, Failf("%s: not a run directory; %s", dir, NameRun)
	case err != nil:
		return nil, Failf("%s: cannot read the run: %v", dir, CauseOf(err))
	}
	return run, nil
}

const nothingYet = "%s: nothing was recorded yet; if the job is still running, try again in a moment"

// OpenSamples opens a run that has recorded something.
func OpenSamples(dir string) (*recording.Run, error) {
	run, err := OpenRun(dir)
	if err == nil && len(run.Ranks) == 0 && len(run.Damage()) == 0 {
		run.Close()
		return nil, Failf(nothingYet, dir)
	}
	return run, err
}

// SayUnsampled names the command for a run that has other things than samples.
func SayUnsampled(a *App, run *recording.Run, dir string) {
	dir = text.Quote(dir)
	switch {
	case HasSamples(run):
	case trace.Has(run):
		a.Complain("%s: the run has no samples; write its trace with mpitx export %s --trace, or record both with mpitx trace --pvar GLOB -- ./app", dir, dir)
	case profile.Has(run):
		a.Complain("%s: the run has no samples; see its profile with mpitx report %s, or record both with mpitx profile --pvar GLOB -- ./app", dir, dir)
	default:
		a.Complain("%s: the run has no samples; record some with mpitx record --pvar GLOB -- ./app", dir)
	}
}

func HasSamples(run *recording.Run) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return len(r.Columns) > 0 })
}

// ReportDamage reports the unreadable parts of a run; it returns whether there are any.
func ReportDamage(a *App, run *recording.Run) bool {
	text := recording.DamageText(run.Damage())
	if text != "" {
		a.Complain("%s", text)
	}
	return text != ""
}

// ReportGaps reports what is missing in a run.
func ReportGaps(a *App, run *recording.Run) {
	for _, text := range append(launch.Incomplete(run), launch.Loss(run), launch.Away(run)) {
		if text != "" {
			a.Complain("%s", text)
		}
	}
}

// ErrDamaged is returned if damaged parts were skipped; they were reported already.
var ErrDamaged = Exit(ExitPartial)

const (
	onceWait = 5 * time.Second // for a run that is not there yet
	onceLook = 50 * time.Millisecond
)

// find opens the run, or without a name the only one whose job is running: see findRun.
func (a *App) FindLive(name string) (run *recording.Run, awaited string, err error) {
	if name == "" {
		if name, awaited, err = a.liveRun(); name == "" {
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

// starting says whether a job has made this directory and has not recorded anything yet: its first file is launch.RunFile.
func starting(dir string) bool {
	entries, err := os.ReadDir(dir)
	made := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == launch.RunFile })
	return err == nil && (made || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") }))
}

// liveRun finds the one run here whose job is running; without one, awaited says so.
func (a *App) liveRun() (name, awaited string, err error) {
	base := cmp.Or(a.Env.Getenv("MPITX_DIR"), ".")
	entries, err := os.ReadDir(base)
	if err != nil {
		return "", "", Failf("top: %s: %v; name a run", base, CauseOf(err))
	}
	var all []string
	made := map[string]time.Time{}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		if st, err := os.Stat(filepath.Join(path, launch.RunFile)); err == nil && e.IsDir() {
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
		return "", "", Usagef("top: %d jobs are running; name a run: %s", len(live), strings.Join(live, " "))
	case len(all) > 0:
		return "", fmt.Sprintf("%s: no job of a run in this directory is running; the last run is %s", base, all[0]), nil
	}
	return "", base + ": there is no run in this directory", nil
}

// await opens the run, and waits a moment for one that is not there yet.
func (a *App) AwaitRun(name string) (*recording.Run, error) {
	run, awaited, err := a.FindLive(name)
	for start := time.Now(); run == nil && err == nil; run, awaited, err = a.FindLive(name) {
		if time.Since(start) > onceWait {
			return nil, Failf("%s (waited %v); %s", awaited, onceWait, NameRun)
		}
		time.Sleep(onceLook)
	}
	return run, err
}

// JustStarted reports whether a directory, or one in it, was made for a run a moment ago.
func JustStarted(dir string) bool {
	made, _ := filepath.Glob(filepath.Join(dir, "*", launch.RunFile))
	for _, path := range append(made, filepath.Join(dir, launch.RunFile)) {
		if st, err := os.Stat(path); err == nil && time.Since(st.ModTime()) < onceWait {
			return true
		}
	}
	return false
}
