package runs

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/network"
	"mpitx/recording/profile"
	"mpitx/recording/queues"
	"mpitx/settings"
	"mpitx/text"
	"mpitx/tune/advice"
)

// showAdvice shows what may make the program faster.
func showAdvice(r *reading) error {
	p, err := r.Read(r.run, r.dir)
	if err != nil {
		return err
	}
	unread := cli.ReportJob(r.App, r.run.Dir)
	rules, problems := advice.ReadRules(r.App.Env)
	for _, problem := range problems {
		r.App.Complain("%v", problem)
	}
	s := r.subject(p)
	places := slices.Contains(runs.Places, r.Form())
	switch better, why, unknown := s.Placement(); {
	case places && better == nil:
		return cli.Failf("%s: no placement with fewer bytes between nodes: %s", text.Quote(r.dir), why)
	case unknown:
		r.App.Complain("whether another placement has fewer bytes between nodes is not known: %s", why)
	}
	a := runs.Advice{Subject: s, Proposals: s.Propose(rules), Run: text.Quote(r.dir), Program: launch.Program(r.run.Dir)}
	err = r.write(func(w io.Writer, t export.Terminal) error { return a.Write(w, r.Form(), t) })
	if err == nil && places && r.Named() {
		r.App.Say("to use it: " + a.Launch(r.Form(), r.Out))
	}
	return cmp.Or(err, cli.Partial(r.App, r.run), unread)
}

// subject is what rules judge: the run, and its library as it was last read, with the settings of the run.
func (r *reading) subject(p *profile.Profile) *advice.Subject {
	s := &advice.Subject{Profile: p, Damaged: len(r.run.Damage()) > 0, Findings: append(network.Findings(r.run, r.options()), p.Findings()...), Unexpected: queues.Read(r.run, r.options()).UnexpectedShare()}
	of := func(rank *recording.Rank) bool { return rank.Library != "" }
	k := slices.IndexFunc(r.run.Ranks, of)
	if k < 0 {
		return s
	}
	rank := r.run.Ranks[k]
	s.Family = rank.Family
	for _, m := range r.App.Env.Find() {
		c := inspect.CachedCatalog(r.App.Env, m)
		if c == nil || strings.TrimSpace(c.Library.Text) != strings.TrimSpace(rank.Library) {
			continue
		}
		defaults := map[string]string{}
		for i := range c.Cvars {
			if v := &c.Cvars[i]; !v.IsSet() && v.Current() != nil && v.Current().Status == catalog.StatusOK {
				defaults[v.Name] = advice.Value(c, v.Name)
			}
		}
		env := launch.EnvOf(r.App.Env, r.run.Dir)
		settings.Expected(env, m, c, nil)
		s.Family, s.Catalog, s.Judge = m.Impl, c, r.App.Judge(m)
		s.Ask(env, m)
		s.Locate(env)
		s.Default = func(name string) (string, bool) { value, known := defaults[name]; return value, known }
		return s
	}
	r.App.Complain("which settings to try is not known, as mpitx has not read this library here: run mpitx list --mpi %s once", cmp.Or(s.Family, machine.OpenMPI))
	return s
}
