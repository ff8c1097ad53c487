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

// SayUnsampled names the command for a run that has other things than samples.
func SayUnsampled(a *App, run *recording.Run, dir string) {
	dir = text.Quote(dir)
	switch {
	case run.Sampled():
	case trace.Has(run):
		a.Complain("%s: the run has no samples; write its trace with mpitx export %s --trace, or record both with mpitx trace --pvar GLOB -- ./app", dir, dir)
	case profile.Has(run):
		a.Complain("%s: the run has no samples; see its profile with mpitx report %s, or record both with mpitx profile --pvar GLOB -- ./app", dir, dir)
	default:
		a.Complain("%s: the run has no samples; record some with mpitx record --pvar GLOB -- ./app", dir)
	}
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
