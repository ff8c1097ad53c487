package tune

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mpitx/cmd/mpitx/cli"
	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/text"
	"mpitx/tune/advice"
	"mpitx/tune/campaign"
	"mpitx/tune/grid"
	"mpitx/tune/kernel"
	"mpitx/ui/progress"
)

// mostPlaces is for how many distinct collectives algorithms are measured: those with the most time.
const mostPlaces = 30

// bySizeRule is the name of the rule that proposes an algorithm for each size and communicator.
const bySizeRule = "algorithms by size"

// bySize measures the algorithms of the application's collectives, and proposes the fastest of each size and communicator.
func (c *campaigning) bySize() (p advice.Proposal, err error) {
	library, begin := decision.Installed(c.catalog), time.Now()
	all, err := grid.Collectives(c.catalog, c.Chosen.Impl, library, nil)
	if err != nil {
		return p, cli.Failf("%v", err)
	}
	all = slices.DeleteFunc(all, func(o grid.Collective) bool { return !c.chosen(o) })
	plan := grid.Plan{Library: c.catalog.LibraryName(), Version: cli.Version, Seed: c.seed, Ranks: c.N, Collectives: all, Limits: kernelLimits, Settings: grid.Settings(c.Chosen.Impl), Screening: 2}
	plan.Limits.Seconds /= 2
	plan.Host, plan.Cores = grid.Host()
	bar := progress.New("measuring algorithms")
	defer bar.Clear()
	runner := kernel.Runner{Command: c.exe, MPI: c.MPI, Ranks: c.N, Dir: c.dir, Settings: plan.Settings, Limits: plan.Limits}
	g := grid.Campaign{Plan: plan, Measure: runner.Run, Journal: &grid.Journal{}, Budget: c.budget / 4, Step: func(_ string, done, most int) { bar.Update(uint64(done), uint64(most)) }}
	r, err := g.Choose(c.session.Kernel[:min(len(c.session.Kernel), mostPlaces)])
	c.session.Plan.Budget -= time.Since(begin)
	var signal kernel.Interrupted
	switch {
	case errors.As(err, &signal):
		return p, cli.EndedBy(signal.Signal)
	case err != nil:
		c.App.Complain("--kernel: no algorithms by size: %v", err)
		return p, nil
	}
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return p, cli.Failf("%v", err)
	}
	file, choices, err := r.Answer(library, dir)
	if err == nil && file.Name != "" {
		err = os.WriteFile(filepath.Join(dir, file.Name), file.Content, 0o666)
	}
	if err != nil {
		return p, cli.Failf("%v", err)
	}
	if len(file.Set) == 0 {
		return p, nil
	}
	one := campaign.Candidate{Set: c.unforced(library, file.Set, choices), Group: bySizeRule, Rule: bySizeRule, Reason: "the fastest of the algorithms in the kernel: " + grid.Text(r.Choices)}
	var names, functions []string
	for _, s := range one.Set {
		if s.Value = strings.TrimPrefix(s.Value, dir+"/"); s.Name != "coll_tuned_use_dynamic_rules" {
			names = append(names, s.Name+"="+s.Value)
		}
	}
	for _, o := range r.Choices {
		functions = append(functions, decision.Function(o.Function))
	}
	one.Name = strings.Join(names, " ")
	return advice.Proposal{Rule: &advice.Rule{Name: bySizeRule}, Subject: strings.Join(slices.Compact(functions), ", "), Try: []campaign.Candidate{one}}, nil
}

// chosen reports whether --only is about a collective.
func (c *campaigning) chosen(o grid.Collective) bool {
	return len(c.only) == 0 || slices.ContainsFunc(c.only, func(pattern string) bool {
		glob, err := text.CompileGlob(pattern)
		return err == nil && slices.ContainsFunc([]string{o.Function, decision.Function(o.Function), o.Variable, bySizeRule}, glob.Match)
	})
}

// unforced adds settings that let the library read the file for functions whose algorithm the user forced.
func (c *campaigning) unforced(l *decision.Library, set []settings.NameValue, inFile []grid.Choice) []settings.NameValue {
	for _, o := range inFile {
		v := c.catalog.Cvar(o.Variable)
		auto := settings.NameValue{Name: o.Variable, Value: map[string]string{"openmpi": "ignore", "mpich": "auto"}[l.Family]}
		if l.ForcedFirst() && v != nil && v.Current() != nil && v.Current().Value.String() != "0" && !slices.Contains(set, auto) {
			set = append(set, auto)
		}
	}
	return set
}
