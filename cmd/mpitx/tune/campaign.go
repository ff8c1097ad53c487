package tune

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export/campaigns"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/network"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/text"
	"mpitx/tune"
	"mpitx/tune/advice"
	"mpitx/tune/campaign"
	"mpitx/tune/kernel"
	"mpitx/ui/progress"
)

// campaigning makes one campaign.
type campaigning struct {
	*options
	exe     string
	session tune.Session
	catalog *catalog.Catalog
	judge   *settings.Judge
	subject *advice.Subject
	answer  campaigns.Answer
	slowest time.Duration // of the runs without settings
	limits  campaign.Limits
}

// prepare profiles the application, and plans the campaign.
func (c *campaigning) prepare(cmd *cobra.Command) (err error) {
	added, err := parseAdd(c.add)
	if err != nil {
		return err
	}
	if c.dir == "" {
		c.dir = "mpitx-tune-" + strings.TrimLeft(filepath.Base(c.app[0]), ".-")
	}
	if err := tune.Vacant(c.dir); err != nil {
		if errors.Is(err, fs.ErrExist) {
			if _, err := tune.Load(c.dir); err != nil {
				return cli.Usagef("--dir %s: it exists already, and holds no campaign of mpitx tune; name another directory", text.Quote(c.dir))
			}
			return cli.Usagef("--dir %s: it exists already; name another directory, or go on with --resume %[1]s", text.Quote(c.dir))
		}
		return cli.Failf("--dir %s: %v", text.Quote(c.dir), machine.Cause(err))
	}
	c.session = tune.Session{Mpitx: cli.Version, Ranks: c.N, App: c.app, Workdir: c.workdir, MPI: c.MPI}
	if c.session.Dir, err = os.Getwd(); err != nil {
		return cli.Failf("%v", err)
	}
	if c.exe, err = os.Executable(); err != nil {
		return cli.Failf("%v", err)
	}
	if err := c.find(); err != nil {
		return err
	}
	_, err = os.Stat(c.dir)
	made := err != nil
	if err := os.MkdirAll(c.dir, 0o777); err != nil {
		return cli.Failf("--dir %s: %v", text.Quote(c.dir), machine.Cause(err))
	}
	ended, stop := cli.UntilEnded()
	defer stop()
	if err = c.plan(cmd, added); err == nil && ended.Err() != nil {
		err = context.Cause(ended)
	}
	if err != nil { // nothing is left that would be in the way of the next start
		files, _ := os.ReadDir(c.dir)
		for _, file := range files {
			os.RemoveAll(filepath.Join(c.dir, file.Name()))
		}
		if made {
			os.Remove(c.dir)
		}
	}
	return err
}

// find looks for the application and its library.
func (c *campaigning) find() error {
	job := launch.New(launch.Config{Env: c.App.Env, Version: cli.Version, Args: c.app, MPI: c.MPI, Ranks: c.N})
	if err := job.Look(); err != nil {
		return err
	}
	c.MPI = job.Library().Lib
	return nil
}

// plan reads the library, profiles the application, and plans the campaign.
func (c *campaigning) plan(cmd *cobra.Command, added [][2]string) error {
	if err := c.read(cmd); err != nil {
		return err
	}
	own, err := c.own(added)
	if err != nil {
		return err
	}
	proposals, usual, err := c.look()
	if err != nil {
		return err
	}
	c.session.Plan = campaign.Plan{Seed: c.seed, Limits: campaign.Limits{Runs: c.runs, Budget: c.budget}, Usual: usual, Kernel: c.options.kernel}
	if c.options.kernel && !c.dry {
		p, err := c.bySize()
		if err != nil {
			return err
		}
		if len(p.Try) > 0 {
			proposals = append([]advice.Proposal{p}, proposals...)
		}
	}
	if c.session.Plan.Candidates, err = c.candidates(proposals, own); err != nil {
		return err
	}
	c.answer = campaigns.Answer{Session: &c.session, Dir: c.dir}
	for _, p := range proposals {
		c.session.Untried = append(c.session.Untried, p.Left...)
	}
	return c.session.Save(c.dir)
}

// read reads the library.
func (c *campaigning) read(cmd *cobra.Command) (err error) {
	source := &cli.Source{App: c.App, MPI: c.MPI, Timeout: c.Timeout, N: c.N}
	if c.catalog, _, err = source.Snapshot(cmd); err != nil {
		return err
	}
	source.Origins(c.catalog)
	c.Chosen = source.Chosen
	c.identify()
	c.judge = source.Judge(c.catalog)
	c.subject = &advice.Subject{Family: c.session.Family, Catalog: c.catalog, Judge: c.judge, Default: c.defaults()}
	c.subject.Ask(c.App.Env, c.Chosen)
	return nil
}

// look profiles the application once, and asks the rules.
func (c *campaigning) look() (proposals []advice.Proposal, usual time.Duration, err error) {
	if err := c.keepInput(); err != nil {
		return nil, 0, err
	}
	dir := filepath.Join(c.dir, "profile")
	begin := time.Now()
	run, err := c.start(dir, nil, c.budget)
	usual = time.Since(begin)
	switch broken := (*cli.RunFailed)(nil); {
	case errors.As(err, &broken) && broken.Late:
		return nil, 0, cli.Usagef("the budget is too small for one run of %s, which was ended after %v; give more with --budget", text.Quote(c.app[0]), c.budget)
	case err != nil:
		return nil, 0, failed(err, "the application failed"+unread()+": ")
	}
	defer run.Close()
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return nil, 0, cli.Failf("%v", err)
	}
	if len(run.Ranks) == 0 || p.Efficiency.Elapsed <= 0 {
		return nil, 0, cli.Failf("%s: no rank came from MPI_Init to MPI_Finalize", text.Quote(c.app[0]))
	}
	c.session.Where(run, p)
	c.session.Settings = launch.Settings(run.Dir)
	if c.options.kernel {
		if c.session.Kernel = kernel.Distinct(p); len(c.session.Kernel) == 0 {
			return nil, 0, cli.Failf("--kernel: %s calls no blocking collectives that are known; leave --kernel out", text.Quote(c.app[0]))
		}
		c.session.Kernel = c.session.Kernel[:min(len(c.session.Kernel), mostKernel)]
	}
	c.subject.Profile, c.subject.Findings = p, append(network.Findings(run, recording.Options{}), p.Findings()...)
	c.subject.Locate(c.App.Env)
	rules, problems := advice.ReadRules(c.App.Env)
	for _, problem := range problems {
		c.App.Complain("%v", problem)
	}
	return c.subject.Propose(rules), usual, nil
}

// mostKernel is how many distinct collectives are measured: those with the most time.
const mostKernel = 100

// kernelLimits end the measurement of one collective.
var kernelLimits = kernel.Limits{Repetitions: 300, Seconds: 0.2, Precision: 0.03}

// measureKernel measures the application's collectives.
func (c *campaigning) measureKernel(with *campaign.Candidate) (o campaign.Outcome, err error) {
	begin := time.Now()
	r := kernel.Runner{Command: c.exe, MPI: c.MPI, Ranks: c.N, Dir: c.dir, Settings: with.Set, Limits: kernelLimits}
	all := make([]kernel.Operation, len(c.session.Kernel))
	for k := range all {
		all[k] = c.session.Kernel[k].Operation
	}
	results, err := r.Run(all)
	var signal kernel.Interrupted
	switch {
	case errors.As(err, &signal):
		return o, cli.EndedBy(signal.Signal)
	case err != nil:
		o.Failed = err.Error()
	default:
		o = c.session.KernelTime(results)
	}
	o.Took = time.Since(begin)
	return o, nil
}

// identify notes which library the campaign is about.
func (c *campaigning) identify() {
	c.session.MPI, c.session.Family, c.session.BuildID = c.Chosen.Lib, c.Family(c.catalog), c.Chosen.BuildID
	c.session.Library, c.session.Starter = c.catalog.LibraryName(), c.App.Env.Word(c.Chosen.Launcher)
}

// defaults are the values that the library has without the user's settings: another process reads them.
func (c *campaigning) defaults() func(string) (string, bool) {
	var bare *catalog.Catalog
	return func(name string) (string, bool) {
		if bare == nil {
			bare = c.bare()
		}
		v := bare.Cvar(name)
		if v == nil || v.Current() == nil || v.Current().Status != catalog.StatusOK {
			return "", false
		}
		if item := bare.ItemOf(v, v.Current().Value); item != "" {
			return item, true
		}
		return v.Current().Value.String(), true
	}
}

func (c *campaigning) bare() *catalog.Catalog {
	none := &catalog.Catalog{}
	file := filepath.Join(c.dir, "defaults.json")
	cmd := exec.Command(c.exe, "snapshot", "--mpi", c.Chosen.Lib, "--out", file)
	for _, s := range os.Environ() {
		if name, _, _ := strings.Cut(s, "="); !settings.SetsMPI(name) || strings.HasPrefix(name, "OMPI_ALLOW") {
			cmd.Env = append(cmd.Env, s)
		}
	}
	cmd.Env = append(cmd.Env, "OMPI_MCA_mca_base_param_files=none")
	if err := cmd.Run(); err != nil {
		return none
	}
	defer os.Remove(file)
	if found, err := catalog.Load(file); err == nil {
		return found
	}
	return none
}

// own are the candidates of --add.
func (c *campaigning) own(added [][2]string) (all []campaign.Candidate, err error) {
	for _, nv := range added {
		one, notes, err := c.subject.Add(nv[0], nv[1])
		if err != nil && strings.Contains(nv[1], ",") {
			return nil, cli.Usagef("--add %v; several values are separated by |", err)
		} else if err != nil {
			return nil, cli.Usagef("--add %v", err)
		}
		for _, note := range notes {
			c.App.Complain("--add %s=%s: %s", nv[0], nv[1], note)
		}
		all = append(all, one)
	}
	return all, nil
}

// candidates are what the campaign tries.
func (c *campaigning) candidates(proposals []advice.Proposal, own []campaign.Candidate) ([]campaign.Candidate, error) {
	if err := c.choose(proposals, own); err != nil {
		return nil, err
	}
	for _, one := range own {
		if why := c.subject.Idle(one.Set); why != "" {
			c.App.Complain("--add %s: has no effect in this run: %s", one.Name, why)
		}
	}
	for _, one := range advice.Candidates(proposals) {
		if !slices.ContainsFunc(own, func(other campaign.Candidate) bool { return c.subject.Same(one.Set, other.Set) }) {
			own = append(own, one)
		}
	}
	return own, nil
}

// choose leaves the candidates that --only is about: by function, rule, or variable; own ones stay.
func (c *campaigning) choose(proposals []advice.Proposal, own []campaign.Candidate) error {
	used := make([]bool, len(c.only))
	globs := make([]text.Glob, len(c.only))
	for k, pattern := range c.only {
		var err error
		if globs[k], err = text.CompileGlob(pattern); err != nil {
			return cli.Usagef("--only %s: %v", text.Quote(pattern), err)
		}
	}
	about := func(words ...string) (some bool) {
		for k := range globs {
			if slices.ContainsFunc(words, globs[k].Match) {
				some, used[k] = true, true
			}
		}
		return some
	}
	for _, one := range own {
		about(one.Set[0].Name, one.Group)
	}
	for i := range proposals {
		p := &proposals[i]
		p.Try = slices.DeleteFunc(p.Try, func(one campaign.Candidate) bool {
			words := []string{p.Rule.Name}
			for subject := range strings.SplitSeq(p.Subject, ", ") {
				words = append(words, subject, strings.TrimPrefix(strings.ToLower(subject), "mpi_"))
			}
			for setting := range strings.FieldsSeq(one.Name) {
				name, _, _ := strings.Cut(setting, "=")
				words = append(words, name)
			}
			return len(globs) > 0 && !about(words...)
		})
	}
	if k := slices.Index(used, false); k >= 0 {
		return cli.Failf("--only %s: no rule proposes settings about that here; mpitx tune --dry-run lists what there is", text.Quote(c.only[k]))
	}
	return nil
}

// load reads a campaign that was stopped. It must be of this machine's library.
func (c *campaigning) load(cmd *cobra.Command) error {
	c.dir = c.resume
	s, err := tune.Load(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Usagef("--resume %s: the directory holds no campaign of mpitx tune", text.Quote(c.dir))
	} else if err != nil {
		return cli.Failf("--resume %v", err)
	}
	c.session = *s
	c.limits = s.Plan.Last()
	if cmd.Flags().Changed("budget") {
		c.limits.Budget = c.budget
	}
	if cmd.Flags().Changed("runs") {
		c.limits.Runs = c.runs
	}
	c.app, c.N, c.MPI, c.workdir = s.App, s.Ranks, s.MPI, s.Workdir
	if c.Chosen, err = c.App.Env.Choose(s.MPI); err != nil {
		return err
	}
	if c.Chosen.BuildID != s.BuildID {
		return cli.Failf("--resume %s: %s is another build than the campaign began with; begin a new one", text.Quote(c.dir), s.MPI)
	}
	if here, err := os.Getwd(); err != nil || here != s.Dir {
		return cli.Failf("--resume %s: the campaign was begun in %s; go there first", text.Quote(c.dir), text.Quote(s.Dir))
	}
	if err := c.find(); err != nil {
		return err
	}
	if c.exe, err = os.Executable(); err != nil {
		return cli.Failf("%v", err)
	}
	c.answer = campaigns.Answer{Session: &c.session, Dir: c.dir}
	return nil
}

// experiment makes the runs that are not made yet, and concludes.
func (c *campaigning) experiment() error {
	journal, err := campaign.OpenJournal(tune.JournalPath(c.dir))
	if err != nil {
		return cli.Failf("%v", err)
	}
	defer journal.Close()
	if c.resume != "" {
		if err := journal.Extend(&c.session.Plan, c.limits); err != nil {
			return cli.Usagef("--resume %s: %v", text.Quote(c.dir), err)
		}
		if err := c.session.Save(c.dir); err != nil {
			return cli.Failf("%v", err)
		}
	}
	bar := progress.New("tuning")
	defer bar.Clear()
	begin, spent := time.Now(), time.Duration(0)
	ended, stop := cli.UntilEnded() // a signal between two runs ends the campaign as one within a run does
	defer stop()
	c.answer.Result, err = campaign.Run(c.session.Plan, journal.Run(func(e campaign.Experiment, with *campaign.Candidate) (campaign.Outcome, error) {
		if ended.Err() != nil {
			return campaign.Outcome{}, context.Cause(ended)
		}
		o, err := c.measure(e, with)
		spent += o.Took
		bar.Update(uint64(spent/time.Second), uint64(c.session.Plan.Last().Budget/time.Second))
		return o, err
	}))
	c.answer.Overhead = time.Since(begin) - spent
	var small *campaign.BudgetError
	var own *cli.ExitError
	switch {
	case errors.As(err, &small):
		return cli.Usagef("the budget is too small: %v; to go on: mpitx tune --resume %s with a greater --budget or --runs", err, text.Quote(c.dir))
	case errors.As(err, &own):
		c.App.Say(fmt.Sprintf("to go on: mpitx tune --resume %s", text.Quote(c.dir)))
		return err
	case err != nil:
		return cli.Failf("%v", err)
	}
	return c.settle()
}

// measure makes one run.
func (c *campaigning) measure(e campaign.Experiment, with *campaign.Candidate) (o campaign.Outcome, err error) {
	if len(c.session.Kernel) > 0 && e.Stage != campaign.Confirming {
		return c.measureKernel(with)
	}
	dir := filepath.Join(c.dir, "run-"+strconv.Itoa(e.Number))
	limit := time.Duration(0)
	if e.Arm > 0 {
		limit = 5*max(c.slowest, c.session.Plan.Usual) + 10*time.Second
	}
	begin := time.Now()
	run, err := c.start(dir, with.Set, limit, "--no-paths")
	took := time.Since(begin)
	defer os.RemoveAll(dir)
	var broken *cli.RunFailed
	switch {
	case errors.As(err, &broken):
		return campaign.Outcome{Took: took, Failed: lastLine(broken)}, c.blameless()
	case err != nil:
		return o, err
	}
	defer run.Close()
	if o, err = tune.Read(run); err != nil {
		return campaign.Outcome{Took: took, Failed: err.Error()}, nil
	}
	o.Took = took
	if e.Arm == 0 {
		c.slowest = max(c.slowest, took)
	}
	return o, nil
}

// blameless says why any run would fail now: the application is gone, or the directory cannot be written, as on a full disk.
func (c *campaigning) blameless() error {
	if err := c.find(); err != nil {
		return err
	}
	return writable(c.dir)
}

func writable(dir string) error {
	probe := filepath.Join(dir, "probe")
	defer os.Remove(probe)
	if err := os.WriteFile(probe, make([]byte, 1<<16), 0o600); err != nil {
		return cli.Failf("--dir %s: %v", text.Quote(dir), machine.Cause(err))
	}
	return nil
}

// lastLine is why a run failed, in one line: the last one of the program, if it said something, or else of mpitx.
func lastLine(e *cli.RunFailed) string {
	last, ofProgram, help := "", false, false
	for line := range strings.Lines(e.Said) {
		line = strings.TrimSpace(line)
		own := strings.HasPrefix(line, "mpitx: ")
		switch {
		case strings.HasPrefix(line, "-----"): // around what Open MPI's launcher says
			help = !help
		case line == "" || help || len(line) >= 200 || strings.HasPrefix(line, "=") || strings.HasPrefix(line, "YOUR APPLICATION TERMINATED"): // of MPICH's
		case own && (ofProgram || strings.HasPrefix(line, "mpitx: --set ")):
		default:
			last, ofProgram = line, !own
		}
	}
	if last != "" {
		return e.How + ": " + last
	}
	return e.How
}

// start runs the application with settings, and records a profile with more options.
func (c *campaigning) start(dir string, set []settings.NameValue, limit time.Duration, more ...string) (*recording.Run, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	args := []string{"profile", "-n", strconv.Itoa(c.N), "--dir", dir, "--stack", "0", "--no-summary"}
	if c.MPI != "" {
		args = append(args, "--mpi", c.MPI)
	}
	args = append(args, more...)
	environ, rest := settings.ForLaunch(set)
	if rest != nil {
		file := dir + ".settings"
		if err := os.WriteFile(file, []byte(settings.Lines(rest)), 0o600); err != nil {
			return nil, cli.Failf("%v", machine.Cause(err))
		}
		defer os.Remove(file)
		args = append(args, "--settings", file)
	}
	cmd := exec.Command(c.exe, append(append(args, "--"), c.app...)...)
	defer c.giveInput(cmd)()
	if c.workdir == copyDir {
		work := filepath.Join(filepath.Dir(dir), "work")
		if err := copyTree(c.session.Dir, work, filepath.Dir(dir)); err != nil {
			os.RemoveAll(work)
			return nil, cli.Failf("--workdir copy: %v", err)
		}
		defer os.RemoveAll(work)
		cmd.Dir = work
	}
	cmd.Env = append(cmd.Environ(), environ...)
	return cli.MeasureRun(cmd, dir, limit)
}

// settle writes the settings that a campaign recommends.
func (c *campaigning) settle() error {
	r := c.answer.Result
	if r.Verdict != campaign.Faster {
		return nil
	}
	if c.catalog == nil {
		c.catalog = inspect.CachedCatalog(c.App.Env, c.Chosen)
	}
	if c.judge == nil {
		c.judge = c.App.Judge(c.Chosen)
	}
	return c.answer.Settle(c.catalog, c.judge)
}

// failed says why the application failed, with what it said.
func failed(err error, what string) error {
	var broken *cli.RunFailed
	if errors.As(err, &broken) {
		os.Stderr.WriteString(broken.Said)
		return cli.Failf("%s%v", what, broken)
	}
	return err
}

// undecided gives an error exitUsage, unless a signal ended mpitx.
func undecided(err error) error {
	var own *cli.ExitError
	if !errors.As(err, &own) {
		return &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if own.Code <= 128 {
		own.Code = cli.ExitUsage
	}
	return err
}
