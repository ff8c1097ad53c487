package cli

import (
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

// Lacks fails because a run has no such data. advice says which command records them. If the run is damaged, they may be in what
// cannot be read.
func Lacks(run *recording.Run, dir, what, advice string) error {
	dir = text.Quote(dir)
	switch damage := recording.DamageText(run.Damage()); {
	case damage == "":
		return Failf("%s: the run has no %s; %s", dir, what, advice)
	case len(run.Ranks) == 0: // as of a newer version
		return &ExitError{Code: ExitPartial, Text: damage}
	default:
		return &ExitError{Code: ExitPartial, Text: dir + ": what can be read of the run has no " + what + ": " + damage}
	}
}

// Unsampled fails if a run has no samples. It names the command for a run that has other things.
func Unsampled(run *recording.Run, dir string) error {
	name := text.Quote(dir)
	advice := "record some with mpitx record --pvar GLOB -- ./app"
	switch {
	case run.Sampled():
		return nil
	case trace.Has(run):
		advice = "write its trace with mpitx export " + name + " --trace, or record both with mpitx trace --pvar GLOB -- ./app"
	case profile.Has(run):
		advice = "see its profile with mpitx report " + name + ", or record both with mpitx profile --pvar GLOB -- ./app"
	}
	return Lacks(run, dir, "samples", advice)
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
