package variables

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/machine/keep"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
	"mpitx/ui/explorer"
	"mpitx/ui/link"
	"mpitx/ui/term"
)

type tuiOptions struct {
	cli.Source
	cli.ThemeFlag
	readOnly bool
	diff     bool
}

func NewTUI(a *cli.App) *cobra.Command {
	o := &tuiOptions{Source: cli.Source{App: a}}
	cmd := &cobra.Command{
		Use:   "tui [--diff A B]",
		Short: "Explore variables on a full screen: browse, search, edit, watch",
		Long: `Explore the variables of an MPI library on a full screen: browse categories,
search (/), filter (f), read, edit (e) and watch (p, w) variables. Press ? for
all keys. mpitx without a command opens the same screen.

The library runs in processes of its own. If it crashes, the screen stays, and
R restarts it without the variable that crashed it. With -n 4, these processes
are four ranks under the MPI's launcher. Writes change these processes only. A
variable that the library reads only when it starts is set for the next run: C
shows what is set, with what it needs, and R restarts the processes with it. S
copies the command that sets variables for a run. With --from FILE, the explorer
shows a snapshot and needs no MPI.

With --diff, the explorer shows what changed between A and B, with the values of
both, most important first. A and B are what mpitx diff takes: snapshots,
libraries (mpi:NAME), ranks or nodes. In the filter bar (f), change= selects
what appeared, vanished, was renamed, or has another default.`,
		Example: `  mpitx tui -n 4
  mpitx tui --from snapshot.json
  mpitx tui --diff openmpi-4.1.4.json openmpi-5.0.7.json`,
		Args: o.arguments,
		RunE: o.run,
	}
	o.Source.Flags(cmd, false)
	o.ThemeFlag.Flags(cmd)
	cmd.Flags().BoolVar(&o.readOnly, "read-only", false, "never write to the library")
	cmd.Flags().BoolVar(&o.diff, "diff", false, "show what changed between A and B")
	return cmd
}

// arguments checks that --diff has two sides, and that there are no arguments without it.
func (o *tuiOptions) arguments(cmd *cobra.Command, args []string) error {
	switch {
	case !o.diff:
		return cli.NoArguments(cmd, args)
	case len(args) < 2 || slices.Contains(args, ""):
		return cli.Usagef("tui --diff: name two sides, such as mpitx tui --diff OLD.json NEW.json")
	case len(args) > 2:
		return cli.Usagef("tui --diff: name two sides only, and leave %q out; / searches and f filters", args[2])
	case slices.Contains(args, "-"):
		return cli.Usagef("tui --diff: the explorer reads its keys from standard input; name a file instead of -")
	}
	return nil
}

// compare finds the differences before the screen opens.
func (o *tuiOptions) compare(cmd *cobra.Command, args []string, options *explorer.Options) error {
	p := &diffOptions{a: o.App, from: o.From, mpi: o.MPI, n: o.N, timeout: o.Timeout}
	d, err := p.compare(cmd, args)
	if err != nil {
		return err
	}
	options.Diff = d
	options.Config = nil // a filter of changes is for this session
	return nil
}

func (o *tuiOptions) run(cmd *cobra.Command, args []string) error {
	if l := o.App.Env.Launcher(); l.Rank >= 0 {
		if l.Rank > 0 {
			return nil // one says it
		}
		return cli.Usagef("tui: does not run under %s; start it alone, with mpitx tui -n %d", l.Command(), max(l.Size, 1))
	}
	if err := o.Check(cmd); err != nil {
		return err
	}
	if why := cli.NoFullScreen(); why != "" {
		return cli.Usagef("tui: %s; mpitx %s prints the same", why, map[bool]string{true: "diff", false: "list"}[o.diff])
	}
	t, err := term.Detect(os.Stdout, o.App.Env.Getenv, o.App.Color)
	if err != nil {
		return cli.Usagef("%v", err)
	}
	file, problem := o.Configure(o.App, &t)
	options := explorer.Options{Term: t, Config: file, Export: o.exportSettings, ReadOnly: o.readOnly, Virtual: virtual.Matching(o.From == ""), Items: o.items}
	options.HowToSet = func(c *catalog.Catalog, all []explorer.Setting) []string {
		return settings.HowToSet(o.Family(c), o.App.Env.Word(o.Chosen.Launcher), assignments(c, all), text.Charset(t.UTF8))
	}
	judge := o.App.Judge(o.Chosen)
	judge.Elsewhere = o.From != ""
	options.Essentials = func(c *catalog.Catalog) map[string]explorer.Essential { return purposes(judge.Knowledge, c) }
	of := func(c *catalog.Catalog) *settings.Judge {
		of := *judge
		of.Impl = o.Family(c)
		return &of
	}
	options.Effect = func(c *catalog.Catalog, v *catalog.Variable) []string { return of(c).Effect(c, v).Lines(c.Job.Size) }
	options.AtStart = func(c *catalog.Catalog, v *catalog.Variable) string { return of(c).Effect(c, v).AtStart() }
	options.Complete = func(c *catalog.Catalog, all []explorer.Setting) []explorer.Setting {
		return completed(of(c).Complete(c, assignments(c, all)), all)
	}
	if o.diff {
		if err := o.compare(cmd, args, &options); err != nil {
			return err
		}
	} else if o.From != "" {
		size, err := snapshotSize(o.From)
		if err != nil {
			return err
		}
		options.Source, options.Size, options.Load = filepath.Base(o.From), size, o.Load
	} else if err := o.live(&options); err != nil {
		return err
	}
	options.Warning = strings.Trim(problem+"; "+options.Warning, "; ")
	o.App.Out.Flush()
	debug.SetGCPercent(50) // unlike the other commands this one stays
	ctx, forget := keep.QuitContext()
	defer forget()
	if err := explorer.Run(ctx, options); err != nil {
		return cli.Failf("%v", err)
	}
	return nil
}

// purposes are what users commonly tune control variables for, by name.
func purposes(k *tuning.Knowledge, c *catalog.Catalog) map[string]explorer.Essential {
	uses := map[string]explorer.Essential{}
	add := func(groups []tuning.Group, elsewhere bool) {
		for _, g := range groups {
			for i, v := range g.Cvars {
				uses[v.Name] = explorer.Essential{Place: len(uses), Purpose: g.Title, Use: g.Uses[i], Elsewhere: elsewhere}
			}
		}
	}
	add(k.Essentials(c), false)
	add(k.Elsewhere(c), true)
	return uses
}

// snapshotSize checks, before the screen opens, that a snapshot can be read, and returns its size in bytes.
func snapshotSize(path string) (int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, cli.Failf("--from %s: no such file; mpitx snapshot -o FILE writes one", path)
	} else if err != nil {
		return 0, cli.Failf("--from %s: %v", path, errors.Unwrap(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return 0, cli.Failf("--from %s: %v", path, err)
	case info.IsDir():
		return 0, cli.Failf("--from %s: it is a directory, not a snapshot", path)
	case info.Mode().IsRegular() && info.Size() == 0:
		return 0, cli.Failf("--from %s: the file is empty, not a snapshot", path)
	}
	return info.Size(), nil
}

// exportSettings writes what was changed in the explorer for the next run.
func (o *tuiOptions) exportSettings(c *catalog.Catalog, all []explorer.Setting, form int) (string, []string, error) {
	return settings.Settings(o.Family(c), settings.Form(form), assignments(c, all), text.UTF8)
}

func assignments(c *catalog.Catalog, all []explorer.Setting) (out []settings.Assignment) {
	for _, s := range all {
		out = append(out, settings.Assignment{Variable: s.V, Enum: c.Enum(s.V.Enum), Value: s.Value, Notes: slices.Concat(s.Notes, s.Doubts), NeededBy: s.NeededBy})
	}
	return out
}

// completed are settings after Judge.Complete. Notes that the given ones did not have are doubts.
func completed(all []settings.Assignment, given []explorer.Setting) (out []explorer.Setting) {
	for _, a := range all {
		s := explorer.Setting{V: a.Variable, Value: a.Value, NeededBy: a.NeededBy, Doubts: a.Notes}
		for _, g := range given {
			if g.V == a.Variable {
				s.Notes, s.Doubts = g.Notes, a.Notes[len(g.Notes)+len(g.Doubts):]
			}
		}
		out = append(out, s)
	}
	return out
}

// items are those by which `mpitx write` takes a variable's value, too.
func (o *tuiOptions) items(c *catalog.Catalog, v *catalog.Variable) *catalog.Enum {
	count := 0
	if v.After != nil {
		count = v.After.Count
	}
	return settings.Enum(o.Family(c), v, c.Enum(v.Enum), count)
}

// live prepares the back end.
func (o *tuiOptions) live(options *explorer.Options) error {
	argv, environ, err := serveCommand(&o.Source)
	if err != nil {
		return err
	}
	options.Warning = settings.Overridden(o.App.Env, o.Chosen, o.MPI)
	options.Source = "1 process"
	if o.N > 0 {
		options.Source = strconv.Itoa(o.N) + " ranks"
	}
	options.Environ = func(c *catalog.Catalog, all []explorer.Setting) (set []string) {
		for _, a := range assignments(c, all) {
			if kv := a.Environment(o.Chosen.Impl); kv != "" {
				set = append(set, kv)
			}
		}
		return set
	}
	options.Start = func(ctx context.Context, exclude, set []string) (link.Backend, error) {
		return link.Start(ctx, link.Options{Command: argv, Env: slices.Concat(environ, set), Exclude: exclude})
	}
	return nil
}
