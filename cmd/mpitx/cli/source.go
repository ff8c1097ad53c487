package cli

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
	"mpitx/machine/layers"
	"mpitx/settings"
	"mpitx/text"
)

// Source is where a command's catalog comes from: a snapshot, or a live MPI.
type Source struct {
	App                *App
	From               string
	MPI                string
	N                  int
	Timeout            time.Duration
	Environ            []string // more variables for the processes that load MPI
	launched           bool     // this is one of the ranks of -n
	RanksMayLeaveEarly bool     // the command cannot fail after everything is read
	comm               string   // the communicator for variables bound to one: "self", or else world
	Term               export.Terminal

	Chosen  machine.MPI
	Job     *inspect.Job
	catalog *catalog.Catalog  // the catalog that job collected
	found   settings.Answer   // the user's settings
	Unknown []unknownSetting  // those of no control variable
	early   chan layers.Known // what UCX and libfabric know, asked while MPI starts; nil: they are not
}

// Flags defines the flags. live is true for commands that need a live MPI and have no --from.
func (s *Source) Flags(cmd *cobra.Command, live bool) {
	f := cmd.Flags()
	ChooseMPI(cmd, &s.MPI, "use this `MPI`", true)
	f.IntVarP(&s.N, "ranks", "n", 0, "start `N` ranks with the MPI's launcher")
	f.BoolVar(&s.launched, "launched", false, "")
	f.MarkHidden("launched")
	f.DurationVar(&s.Timeout, "timeout", time.Minute, "stop waiting for the MPI library after this `TIME`")
	if !live {
		f.StringVar(&s.From, "from", "", "read a snapshot `FILE` instead of a live MPI")
		cmd.MarkFlagsMutuallyExclusive("from", "ranks")
		cmd.MarkFlagsMutuallyExclusive("from", "mpi")
		cmd.MarkFlagFilename("from", "json")
	}
}

// CommFlag defines --comm.
func (s *Source) CommFlag(cmd *cobra.Command) {
	Choose(cmd, &s.comm, "comm", "", "world", "read variables bound to a communicator for this `COMM`: world or self", "world", "self")
}

// Open reads the catalog; stage matters for writes only. Under a launcher it returns on rank 0 only: on other ranks,
// and if another process has answered, its error is just an exit code.
func (s *Source) Open(cmd *cobra.Command, writes []catalog.WriteRequest, stage inspect.Stage) (*catalog.Catalog, error) {
	var err error
	if s.Term, err = s.App.Terminal(); err != nil {
		return nil, err
	}
	if err := s.Check(cmd); err != nil {
		return nil, err
	}
	if s.From != "" && s.comm == "self" {
		return nil, Usagef("--comm self: snapshots hold the values for world only; leave --comm or --from out")
	}
	launch := s.App.Env.Launcher()
	if s.From != "" {
		if launch.Rank > 0 {
			return nil, ErrFollower
		}
		return s.Load()
	}
	if s.Chosen, err = s.App.Env.Choose(s.MPI); err != nil {
		return nil, err
	}
	if launch.Rank <= 0 {
		s.App.WarnOverridden(s.Chosen, s.MPI)
	}
	if s.N > 0 {
		return nil, cmp.Or(s.Relaunch(cmd), ErrFollower)
	}
	return s.collect(writes, stage)
}

func (s *Source) Load() (*catalog.Catalog, error) {
	c, err := catalog.Load(s.From) // errors name the file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Failf("--from %s: there is no such file; write one with mpitx snapshot --out FILE", s.From)
	case err != nil:
		return nil, Failf("read snapshot: %v", err)
	}
	return c, nil
}

func (s *Source) collect(writes []catalog.WriteRequest, stage inspect.Stage) (*catalog.Catalog, error) {
	o, err := s.App.Collecting(s.Chosen, s.Timeout)
	if err != nil {
		return nil, err
	}
	if len(s.Environ) > 0 {
		o.Environ = append(os.Environ(), s.Environ...)
	}
	o.Self, o.Writes, o.WriteStage, o.Listing = s.comm == "self", writes, stage, s.RanksMayLeaveEarly
	s.askEarly()
	if s.Job, err = inspect.Collect(o); err != nil {
		return nil, err
	}
	if !s.Job.Root {
		return nil, cmp.Or(Exit(s.Job.Finish(0)), ErrFollower)
	}
	c := s.Job.Catalog
	s.Origins(c)
	s.catalog = c
	return c, nil
}

// Check checks the flags.
func (s *Source) Check(cmd *cobra.Command) error {
	if s.Timeout <= 0 {
		return Usagef("--timeout: must be positive")
	}
	if s.launched { // -n is done
		s.N = 0
		return nil
	}
	return s.App.CheckRanks(cmd, s.N)
}

// mostRanks bounds -n. Launchers that may oversubscribe start any number, and do not end while they do.
const mostRanks = 1 << 24

// CheckRanks checks -n.
func (a *App) CheckRanks(cmd *cobra.Command, n int) error {
	switch launch := a.Env.Launcher(); {
	case n < 0 || cmd.Flags().Changed("ranks") && n == 0:
		return Usagef("-n: the number of ranks must be at least 1")
	case n > mostRanks:
		return Usagef("-n: %d ranks are more than any job has; at most %d", n, mostRanks)
	case n > 0 && launch.Rank >= 0:
		return Usagef("-n: %s already started the ranks; leave -n out", launch.Command())
	}
	return nil
}

// Collecting are the options that all collecting commands share.
func (a *App) Collecting(m machine.MPI, timeout time.Duration) (o inspect.Options, err error) {
	o = inspect.Options{Creator: "mpitx " + Version, MPI: m, Launch: a.Env.Launcher(), Timeout: timeout}
	if o.Exe, err = os.Executable(); err != nil {
		return o, Failf("start: %v", err)
	}
	o.Shim, err = a.Env.Shim(m, filepath.Dir(o.Exe))
	return o, err
}

// Query asks for the user's settings of a live MPI.
func (s *Source) Query(c *catalog.Catalog) settings.Query {
	names := make([]string, len(c.Cvars))
	values := make(map[string]*catalog.Variable, len(c.Cvars))
	for k := range c.Cvars {
		names[k] = c.Cvars[k].Name
		values[names[k]] = &c.Cvars[k]
	}
	return settings.Query{Env: s.App.Env, Impl: s.Chosen.Impl, Prefix: s.Chosen.Prefix, Lib: s.Chosen.Lib, Text: c.Library.Text, Names: names,
		Value: func(name string) string {
			if v := values[name]; v != nil && v.Current() != nil {
				return v.Current().Value.String()
			}
			return ""
		}}
}

// askEarly asks UCX and libfabric about settings in the environment of a launcher's rank 0. If MPI_Init fails, perhaps because of one, the
// launcher ends the job, which leaves no time for it.
func (s *Source) askEarly() {
	given := layers.In(s.App.Env.Environ)
	if s.App.Env.Launcher().Rank != 0 || len(given) == 0 {
		return
	}
	s.early = make(chan layers.Known, 1)
	go func() { s.early <- layers.Ask(s.App.Env, s.Chosen, given) }()
}

// Influences are what influences a live MPI from outside. UCX and libfabric are asked for their settings if there are some.
func (s *Source) Influences(c *catalog.Catalog) []settings.Influence {
	q := s.Query(c)
	asked := 0 // each time takes a process, and ranks may all have settings of their own
	q.Layers = func(given []string) (known layers.Known) {
		asked++
		switch launched := s.App.Env.Launcher().Rank >= 0; {
		case asked > mostAsked:
		case c.After.Read || !launched:
			known = layers.Ask(s.App.Env, s.Chosen, given)
		case s.early != nil && asked == 1:
			known = <-s.early
			s.early <- known
		}
		return known
	}
	return settings.Everywhere(q, &c.Job)
}

// mostAsked is how often UCX and libfabric are asked about the settings of ranks.
const mostAsked = 4

// Unread are what influences an MPI that could not be read, perhaps because of one of them.
func (s *Source) Unread() []settings.Influence {
	known := inspect.CachedCatalog(s.App.Env, s.Chosen)
	if known == nil {
		found := s.Influences(&catalog.Catalog{})
		settings.Refused(s.Chosen.Impl, found, nil)
		return found
	}
	c := *known
	c.Cvars = slices.Clone(known.Cvars)
	for k := range c.Cvars { // the values of that time are not those of now
		c.Cvars[k].After = nil
		c.Cvars[k].Before = &catalog.Reading{Status: catalog.StatusMissing}
	}
	found := s.Influences(&c)
	settings.Refused(s.Chosen.Impl, found, known)
	return found
}

// Origins marks the variables that the user set, on each rank.
func (s *Source) Origins(c *catalog.Catalog) {
	q := s.Query(c)
	s.found = settings.Find(q)
	c.Outside = settings.Beyond(settings.Everywhere(q, &c.Job))
	c.Job.Home, c.Job.User, c.Job.Tmp = q.Env.Getenv("HOME"), cmp.Or(q.Env.Getenv("USER"), q.Env.Getenv("LOGNAME")), cmp.Or(q.Env.Getenv("TMPDIR"), os.TempDir())
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
	s.Unknown = unknownSettings(s.found, answers, ranks)
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
	Ranks []int // nil: rank 0, and all that have its settings
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
		return cmp.Or(slices.Compare(a.Ranks, b.Ranks), cmp.Compare(a.Name, b.Name))
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

// Warn reports what is missing from the answer, and returns the exit code for that.
func (s *Source) Warn(c *catalog.Catalog) int {
	if s.Job == nil {
		return ExitDone
	}
	code := ExitDone
	for _, st := range []struct {
		name string
		*catalog.Stage
	}{{"before MPI_Init", &c.Before}, {"after MPI_Init", &c.After}} {
		if !st.Read {
			s.App.Complain("%s: not read: %s", st.name, st.Error)
			code = ExitPartial
		} else if st.Error != "" {
			s.App.Complain("%s: %s", st.name, st.Error)
		}
	}
	if !c.After.Read {
		var set []launch.NameValue
		for name, origin := range s.found.Set {
			set = append(set, launch.NameValue{Name: name, Value: origin.Value})
		}
		s.App.WarnOfCrashes(s.Chosen, set)
	}
	for _, l := range s.Job.LostText() {
		s.App.Complain("%s", l)
		code = ExitPartial
	}
	return code
}

// Answer sends the exit code to all ranks, so that they exit while this process prints, and prints.
func (s *Source) Answer(code int, print func() error) error {
	if s.Job != nil {
		s.Job.Settle(code)
	}
	return s.End(code, print())
}

// End ends the command with a code, and sends it to ranks that do not have it yet.
func (s *Source) End(code int, err error) error {
	s.App.Last = func(code int) int {
		if s.Job == nil {
			return code
		}
		s.Job.Settle(code)
		inspect.CacheNames(s.App.Env, s.Chosen, s.catalog)
		return s.Job.Finish(code)
	}
	return Ended(code, err)
}

// Family is the family of the library that a catalog is of.
func (s *Source) Family(c *catalog.Catalog) string { return cmp.Or(s.Chosen.Impl, c.Library.Family) }

// SetLines are the lines that set a control variable for the next run, with what it needs; none if mpitx knows no way.
func (s *Source) SetLines(c *catalog.Catalog, j *settings.Judge, v *catalog.Variable, value catalog.Value, t export.Terminal) []string {
	if v.Kind != catalog.Cvars {
		return nil
	}
	all := j.Complete(c, []settings.Assignment{{Variable: v, Enum: c.Enum(v.Enum), Value: value}})
	return settings.HowToSet(s.Family(c), s.App.Env.Word(s.Chosen.Launcher), all, text.Charset(t.UTF8))
}
