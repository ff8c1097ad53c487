// Package record has the commands that run an application with mpitx's agent. run takes any mix of tools; sample, record, profile and
// trace are presets of it.
package record

import (
	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/text"
)

// recorder is a command that runs an application with tools.
type recorder struct {
	*cli.App
	program
	quiet  bool // --no-summary
	tools  []tool
	output output
}

// tool records in an application, or watches it.
type tool interface {
	// configure checks what does not depend on the machine, and adds what the agent is asked to do.
	configure(cmd *cobra.Command, c *launch.Config) error
	// check looks for reasons in the library against the run, and warns if this process reports for its job (first).
	check(m machine.MPI, first bool) error
}

// output is what a command makes of a run.
type output interface {
	tool
	// promise says what becomes of the run in a directory if its job fails.
	promise(dir string) launch.Promise
	// summarize says what was recorded, on standard error.
	summarize(run *recording.Run)
	// deliver writes the result, and says where it is.
	deliver(j *launch.Job) error
}

// run is the way of every recording command.
func (r *recorder) run(cmd *cobra.Command, args []string) error {
	c, err := r.configure(cmd, args)
	j := launch.New(c)
	r.Last = j.End
	if err == nil {
		err = j.Look()
	}
	if err == nil && j.Checks() {
		err = r.check(j.Library(), j.First())
	}
	if err == nil {
		err = j.Enter()
	}
	if err == nil {
		err = j.Start(r.output.promise(j.Shown))
	}
	if err == nil && j.Run != nil {
		defer j.Run.Close()
		if !j.Told {
			for _, line := range j.Messages(r.known(j.Library())) {
				r.Complain("%s", line)
			}
			for _, t := range r.tools {
				if skip, is := t.(*skipping); is {
					skip.explain(j.Run)
				}
			}
			r.output.summarize(j.Run)
			j.Tell()
		}
		err = r.output.deliver(j)
	}
	return cli.Ended(j.Code, err)
}

// configure checks everything that does not depend on the machine.
func (r *recorder) configure(cmd *cobra.Command, args []string) (launch.Config, error) {
	c, err := r.program.config(cmd, args, r.App)
	for _, t := range append(r.tools, r.output) {
		if err == nil {
			err = t.configure(cmd, &c)
		}
	}
	return c, err
}

func (r *recorder) check(m machine.MPI, first bool) error {
	if first {
		r.warn(r.App, m)
	}
	for _, t := range append([]tool{r.output}, r.tools...) {
		if err := t.check(m, first); err != nil {
			return err
		}
	}
	return nil
}

// known is what explains the messages about a run.
func (r *recorder) known(m machine.MPI) launch.Known {
	items := inspect.CachedCatalog(r.Env, m)
	k := launch.Known{
		Names:        inspect.CachedNames(r.Env, m),
		Item:         func(cvar, value string) string { return inspect.DescribedItem(items, cvar, value) },
		ExplainPvar:  func(string, []string) string { return "" },
		ExplainEvent: func(string, []string) string { return "" },
	}
	for _, t := range r.tools {
		switch t := t.(type) {
		case *sampling:
			k.ExplainPvar = func(pattern string, names []string) string { return t.explain(m, pattern, names) }
		case *tracing:
			k.ExplainEvent = func(pattern string, names []string) string { return t.explainEvent(m, pattern, names) }
		}
	}
	return k
}

// asks adds a line to what the agent is asked to do.
func asks(c *launch.Config, key, value string) {
	c.Tool = append(c.Tool, launch.Ask{Key: key, Value: value})
}

// runningWarning says of a run that some ranks may still write to it.
func (r *recorder) runningWarning(j *launch.Job, more string) {
	if j.StillRunning {
		dir := text.Quote(j.Shown)
		r.Complain("some ranks were still running; %safter they have ended, mpitx recover %s collects what they left in memory", more, dir)
	}
}
