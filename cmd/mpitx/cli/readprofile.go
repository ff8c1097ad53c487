package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/launch"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/symbols"
	"mpitx/text"
)

// ReportJob reports a file of the job that cannot be read. The error has the exit code.
func ReportJob(a *App, dir string) error {
	if err := launch.Unreadable(dir); err != nil {
		a.Complain("%s: %v; the settings and tools of the run are not known", text.Quote(dir), err)
		return Exit(ExitPartial)
	}
	return nil
}

// Partial ends a command about a profile: it reports what is missing in the run.
func Partial(a *App, run *recording.Run) error {
	for _, text := range launch.Reduced(run) {
		a.Complain("%s", text)
	}
	ReportGaps(a, run)
	if ReportDamage(a, run) {
		return ErrDamaged
	}
	return nil
}

// ProfileCut are the flags that restrict a profile to a part of the run.
type ProfileCut struct {
	App   *App
	ranks string
	Cut   profile.Cut
}

func (c *ProfileCut) Flags(cmd *cobra.Command, a *App) {
	c.App = a
	f := cmd.Flags()
	FlagPhase(cmd, &c.Cut.Phases, "only this `PHASE` of the program; - is the time outside of all phases; may be repeated")
	f.StringVar(&c.ranks, "rank", "", "only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5")
	f.StringArrayVar(&c.Cut.Objects, "comm", nil, "only calls on the communicator, window or file with this `NAME`, as the report has it; may be repeated")
	cmd.RegisterFlagCompletionFunc("comm", completeProfile(func(p *profile.Profile) (names []string) {
		for _, o := range p.Objects {
			names = append(names, o.Text())
		}
		return names
	}))
	f.StringArrayVar(&c.Cut.Functions, "function", nil, "only MPI functions that match this `GLOB`; may be repeated")
	cmd.RegisterFlagCompletionFunc("function", completeProfile(func(p *profile.Profile) (names []string) {
		for _, f := range p.Functions {
			names = append(names, f.Name)
		}
		return names
	}))
	cmd.RegisterFlagCompletionFunc("rank", cobra.NoFileCompletions)
	cmd.ValidArgsFunction = CompleteRuns
}

func FlagPhase(cmd *cobra.Command, phases *[]string, usage string) {
	cmd.Flags().StringArrayVar(phases, "phase", nil, usage)
	cmd.RegisterFlagCompletionFunc("phase", completeProfile(func(p *profile.Profile) (names []string) {
		for _, ph := range p.Phases {
			names = append(names, ph.Name)
		}
		return names
	}))
}

// completeProfile completes names that are in the profile of the run that the command line names.
func completeProfile(names func(*profile.Profile) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		run, err := recording.Open(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer run.Close()
		p, err := profile.Read(run, profile.Cut{})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []string
		for _, name := range names(p) {
			if name != "" {
				all = append(all, name)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

func (c *ProfileCut) Parse() (err error) {
	if c.Cut.Ranks, err = text.ParseRanks(c.ranks); err != nil {
		return Usagef("--rank: %v", err)
	}
	for _, pattern := range c.Cut.Functions {
		if _, err := text.CompileGlob(pattern); err != nil {
			return Usagef("--function %s: %v", pattern, err)
		}
	}
	return nil
}

// Read reads the profile of a run.
func (c *ProfileCut) Read(run *recording.Run, dir string) (*profile.Profile, error) {
	clocks.CorrectByCollectives(run)
	p, err := profile.Read(run, c.Cut)
	var unknown *profile.UnknownError
	switch {
	case errors.Is(err, profile.ErrNone):
		return nil, Lacks(run, dir, "profile", "record one with mpitx profile -- ./app")
	case errors.As(err, &unknown):
		return nil, UnknownPart(dir, unknown)
	case err != nil:
		return nil, Failf("%s: %v", dir, err)
	}
	return p, nil
}

const MostNamed = 8 // names in a message

// UnknownPart names the parts that a run has.
func UnknownPart(dir string, unknown *profile.UnknownError) error {
	text := unknown.Name + ": the run has no such " + unknown.What + catalog.DidYouMean(unknown.Known, unknown.Name)
	if len(unknown.Known) > 0 {
		text += "; it has " + strings.Join(unknown.Known[:min(len(unknown.Known), MostNamed)], ", ")
	}
	return Failf("%s: %s", dir, text)
}

// ResolveSites finds the source of call sites, and reports what was not found, as ReportSites does.
func ResolveSites(a *App, p *profile.Profile) error {
	return ReportSites(a, p.Run, "report", func() ([]symbols.Problem, error) { return sites.Resolve(p) })
}

// ReportSites reports the programs and libraries of a run for which no source was found.
// It returns an error with the exit code if one of them, or what was kept with the run, is there and cannot be read.
func ReportSites(a *App, run *recording.Run, command string, resolved func() ([]symbols.Problem, error)) (partly error) {
	problems, err := resolved()
	if err != nil {
		a.Complain("%s: %v; call sites are looked up in the programs as they are now", text.Quote(run.Dir), err)
		partly = Exit(ExitPartial)
	}
	for _, problem := range problems {
		a.Complain("%s%s", problem, SitesAdvice(problem, command))
		if problem.Unreadable {
			partly = Exit(ExitPartial)
		}
	}
	return partly
}

func SitesAdvice(problem symbols.Problem, command string) string {
	if problem.Unreadable {
		return "; sites on the same line may have several rows"
	}
	if problem.Partly() {
		return "; compile without -gsplit-dwarf to see them"
	}
	return "; " + command + " where the file is as it was"
}
