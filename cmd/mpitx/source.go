package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/settings"
)

// source is where a command's catalog comes from: a snapshot, or a live MPI.
type source struct {
	a       *app
	from    string
	mpi     string
	n       int
	timeout time.Duration
	listing bool   // the command cannot fail after everything is read
	comm    string // the communicator for variables bound to one: "self", or else world
	term    export.Terminal

	chosen  machine.MPI
	job     *inspect.Job
	catalog *catalog.Catalog // the catalog that job collected
	found   settings.Answer  // the user's settings
	unknown []unknownSetting // those of no control variable
}

// flags defines the flags. live is true for commands that need a live MPI and have no --from.
func (s *source) flags(cmd *cobra.Command, live bool) {
	f := cmd.Flags()
	f.StringVar(&s.mpi, "mpi", "", "use this `MPI`: openmpi, mpich, abi (the library of either with the standard ABI), demo (the built-in one), an installation prefix, or a libmpi file")
	f.IntVarP(&s.n, "ranks", "n", 0, "start `N` ranks with the MPI's launcher")
	f.DurationVar(&s.timeout, "timeout", time.Minute, "stop waiting for the MPI library after this `TIME`")
	if !live {
		f.StringVar(&s.from, "from", "", "read a snapshot `FILE` instead of a live MPI")
		cmd.MarkFlagsMutuallyExclusive("from", "ranks")
		cmd.MarkFlagsMutuallyExclusive("from", "mpi")
		cmd.MarkFlagFilename("from", "json")
	}
	cmd.RegisterFlagCompletionFunc("mpi", cobra.FixedCompletions(machine.Families, cobra.ShellCompDirectiveDefault))
}

// commFlag defines --comm.
func (s *source) commFlag(cmd *cobra.Command) {
	choose(cmd, &s.comm, "comm", "", "world", "read variables bound to a communicator for this `COMM`: world or self", "world", "self")
}

// open reads the catalog; stage matters for writes only. Under a launcher it returns on rank 0 only: on other ranks,
// and if another process has answered, its error is just an exit code.
func (s *source) open(cmd *cobra.Command, writes []catalog.WriteRequest, stage inspect.Stage) (*catalog.Catalog, error) {
	var err error
	if s.term, err = s.a.terminal(); err != nil {
		return nil, err
	}
	if err := s.check(cmd); err != nil {
		return nil, err
	}
	if s.from != "" && s.comm == "self" {
		return nil, usagef("--comm self: snapshots hold the values for world only; leave --comm or --from out")
	}
	launch := s.a.env.Launcher()
	if s.from != "" {
		if launch.Rank > 0 {
			return nil, exit(exitDone)
		}
		return s.load()
	}
	if s.chosen, err = s.a.env.Choose(s.mpi); err != nil {
		return nil, err
	}
	if launch.Rank <= 0 {
		s.a.warnOverridden(s.chosen, s.mpi)
	}
	if s.n > 0 {
		return nil, s.relaunch(cmd)
	}
	return s.collect(writes, stage)
}

func (s *source) load() (*catalog.Catalog, error) {
	c, err := catalog.Load(s.from) // errors name the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, failf("--from %s: there is no such file; write one with mpitx snapshot --out FILE", s.from)
	case err != nil:
		return nil, failf("read snapshot: %v", err)
	}
	return c, nil
}

func (s *source) collect(writes []catalog.WriteRequest, stage inspect.Stage) (*catalog.Catalog, error) {
	o, err := s.a.collecting(s.chosen, s.timeout)
	if err != nil {
		return nil, err
	}
	o.Self, o.Writes, o.WriteStage, o.Listing = s.comm == "self", writes, stage, s.listing
	if s.job, err = inspect.Collect(o); err != nil {
		return nil, err
	}
	if !s.job.Root {
		return nil, exit(s.job.Finish(0))
	}
	c := s.job.Catalog
	s.origins(c)
	s.catalog = c
	return c, nil
}

// check checks the flags.
func (s *source) check(cmd *cobra.Command) error {
	if s.timeout <= 0 {
		return usagef("--timeout: must be positive")
	}
	return s.a.checkRanks(cmd, s.n)
}

// checkRanks checks -n.
func (a *app) checkRanks(cmd *cobra.Command, n int) error {
	switch launch := a.env.Launcher(); {
	case n < 0 || cmd.Flags().Changed("ranks") && n == 0:
		return usagef("-n: the number of ranks must be at least 1")
	case n > 0 && launch.Rank >= 0:
		return usagef("-n: %s already started the ranks; leave -n out", launch.Command())
	}
	return nil
}

// collecting are the options that all collecting commands share.
func (a *app) collecting(m machine.MPI, timeout time.Duration) (o inspect.Options, err error) {
	o = inspect.Options{Creator: "mpitx " + version, MPI: m, Launch: a.env.Launcher(), Timeout: timeout}
	if o.Exe, err = os.Executable(); err != nil {
		return o, failf("start: %v", err)
	}
	o.Shim, err = a.env.Shim(m, filepath.Dir(o.Exe))
	return o, err
}

// query asks for the user's settings of a live MPI.
func (s *source) query(c *catalog.Catalog) settings.Query {
	names := make([]string, len(c.Cvars))
	values := make(map[string]*catalog.Variable, len(c.Cvars))
	for k := range c.Cvars {
		names[k] = c.Cvars[k].Name
		values[names[k]] = &c.Cvars[k]
	}
	return settings.Query{Env: s.a.env, Impl: s.chosen.Impl, Prefix: s.chosen.Prefix, Lib: s.chosen.Lib, Text: c.Library.Text, Names: names,
		Value: func(name string) string {
			if v := values[name]; v != nil && v.Current() != nil {
				return v.Current().Value.String()
			}
			return ""
		}}
}

// origins marks the variables that the user set, on each rank.
func (s *source) origins(c *catalog.Catalog) {
	q := s.query(c)
	s.found = settings.Find(q)
	answers, ranks := map[string]settings.Answer{}, map[string][]int{} // of ranks with other settings than rank 0, by these
	for _, r := range c.Job.Ranks {
		if r.Settings == nil {
			continue
		}
		text := strings.Join(r.Settings, "\x00")
		if ranks[text] = append(ranks[text], r.Rank); len(ranks[text]) == 1 {
			answers[text] = settings.Find(q.On(r.Settings))
		}
	}
	s.unknown = unknownSettings(s.found, answers, ranks)
	for k := range c.Cvars {
		v := &c.Cvars[k]
		v.Origin, v.Origins = originIn(s.found, v.Name), nil
		for text, a := range answers {
			if o, set := a.Set[v.Name]; o == s.found.Set[v.Name] && set == (v.Origin != nil) {
				continue
			}
			for _, rank := range ranks[text] {
				v.Origins = append(v.Origins, catalog.RankOrigin{Rank: rank, Origin: originIn(a, v.Name)})
			}
		}
		slices.SortFunc(v.Origins, func(a, b catalog.RankOrigin) int { return cmp.Compare(a.Rank, b.Rank) })
	}
}

// unknownSetting is one of no control variable.
type unknownSetting struct {
	settings.Setting
	ranks []int // nil: rank 0, and all that have its settings
}

// unknownSettings are those of rank 0, and of ranks with other settings.
func unknownSettings(first settings.Answer, answers map[string]settings.Answer, ranks map[string][]int) (all []unknownSetting) {
	for _, u := range first.Unknown {
		all = append(all, unknownSetting{Setting: u})
	}
	others := map[settings.Setting][]int{}
	for text, a := range answers {
		for _, u := range a.Unknown {
			if !slices.Contains(first.Unknown, u) {
				others[u] = append(others[u], ranks[text]...)
			}
		}
	}
	for u, on := range others {
		slices.Sort(on)
		all = append(all, unknownSetting{u, on})
	}
	slices.SortStableFunc(all, func(a, b unknownSetting) int {
		return cmp.Or(slices.Compare(a.ranks, b.ranks), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// originIn is the origin of a control variable in an answer; nil: not set.
func originIn(a settings.Answer, name string) *catalog.Origin {
	if o, set := a.Set[name]; set {
		return &o
	}
	return nil
}

// warn reports what is missing from the answer, and returns the exit code for that.
func (s *source) warn(c *catalog.Catalog) int {
	if s.job == nil {
		return exitDone
	}
	code := exitDone
	for _, st := range []struct {
		name string
		*catalog.Stage
	}{{"before MPI_Init", &c.Before}, {"after MPI_Init", &c.After}} {
		if !st.Read {
			s.a.complain("%s: not read: %s", st.name, st.Error)
			code = exitPartial
		} else if st.Error != "" {
			s.a.complain("%s: %s", st.name, st.Error)
		}
	}
	if !c.After.Read {
		var set []launch.Setting
		for name, origin := range s.found.Set {
			set = append(set, launch.Setting{Name: name, Value: origin.Value})
		}
		s.a.warnOfCrashes(s.chosen, set)
	}
	for _, l := range s.job.LostText() {
		s.a.complain("%s", l)
		code = exitPartial
	}
	return code
}

// answer sends the exit code to all ranks, so that they exit while this process prints, and prints.
func (s *source) answer(code int, print func() error) error {
	if s.job != nil {
		s.job.Settle(code)
	}
	return s.end(code, print())
}

// end ends the command with a code, and sends it to ranks that do not have it yet.
func (s *source) end(code int, err error) error {
	return &exitError{code: code, err: err, send: func(code int) int {
		if s.job == nil {
			return code
		}
		s.job.Settle(code)
		cacheNames(s.a.env, s.chosen, s.catalog)
		return s.job.Finish(code)
	}}
}
