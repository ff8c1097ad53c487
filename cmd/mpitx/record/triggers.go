package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/agent/condition"
	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/sites"
)

// triggers are --when, --on and --then. --on and --then belong to the --when before them.
type triggers struct {
	*recorder
	given []givenTrigger

	all       []*condition.Trigger
	variables patterns // of the conditions
	samples   bool     // --then sample
}

type givenTrigger struct {
	when, on, then string
	has            map[string]bool
}

func (g *givenTrigger) place(flag string) *string {
	return map[string]*string{"when": &g.when, "on": &g.on, "then": &g.then}[flag]
}

// triggerFlag is one of the three.
type triggerFlag struct {
	name string
	x    *triggers
}

// String is the last value.
func (f triggerFlag) String() string {
	if f.x != nil {
		for i := range slices.Backward(f.x.given) {
			if g := &f.x.given[i]; g.has[f.name] {
				return *g.place(f.name)
			}
		}
	}
	return ""
}

func (f triggerFlag) Type() string { return "string" }

// Set keeps a value. --on and --then before the first --when belong to that one.
func (f triggerFlag) Set(value string) error {
	x := f.x
	last := len(x.given) - 1
	if last < 0 || f.name == "when" && x.given[last].has["when"] {
		x.given = append(x.given, givenTrigger{has: map[string]bool{}})
		last++
	}
	g := &x.given[last]
	place := g.place(f.name)
	if g.has[f.name] { // --on A --on B
		value = *place + "," + value
	}
	*place, g.has[f.name] = value, true
	return nil
}

func (x *triggers) flags(cmd *cobra.Command) {
	add := func(name, usage string) *pflag.Flag { return cmd.Flags().VarPF(triggerFlag{name, x}, name, "", usage) }
	add("when", "check this `CONDITION` over variables and arguments in MPI calls; may be repeated")
	add("on", "check the --when before it only in these `FUNCTIONS`, names or patterns separated by commas (default: all)")
	add("then", "what to do when the --when before it becomes true (`ACTIONS`, separated by commas): "+strings.Join(condition.ActionNames, ", "))
	cmd.RegisterFlagCompletionFunc("on", completeFunctions)
	cmd.RegisterFlagCompletionFunc("then", cobra.FixedCompletions(condition.ActionNames, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("when", x.CompleteNames(catalog.Pvars|catalog.Virtual))
}

// configure compiles the conditions. Their variables are read by the sampling.
func (x *triggers) configure(_ *cobra.Command, c *launch.Config) error {
	x.variables = patterns{r: x.recorder, flag: "--when", words: condition.Arguments}
	for _, g := range x.given {
		t, err := g.compile()
		if err != nil {
			return err
		}
		x.all = append(x.all, t)
		x.samples = x.samples || t.Then.Sample
		for _, v := range t.Variables {
			if p := v.Pattern(); !slices.Contains(x.variables.all, p) {
				x.variables.all = append(x.variables.all, p)
			}
		}
		asks(c, "trigger", t.Configuration())
	}
	return nil
}

func (x *triggers) check(m machine.MPI, first bool) error { return x.variables.refusePvars(m, first) }

// compile checks everything about a trigger that does not depend on the library.
func (g *givenTrigger) compile() (*condition.Trigger, error) {
	if !g.has["when"] {
		return nil, cli.Usagef("--on and --then belong to a condition; add --when CONDITION")
	}
	c, err := condition.Parse(g.when)
	if err != nil {
		return nil, cli.Usagef("--when %v", err)
	}
	t := &condition.Trigger{Condition: c}
	for _, f := range c.Functions() {
		if err := knownFunction(f.Name); err != nil {
			return nil, cli.Usagef("--when %v", &condition.Error{Text: c.Text, Column: f.Column, What: err.Error()})
		}
	}
	for _, f := range strings.Split(g.on, ",") {
		if f = strings.TrimSpace(f); f == "" {
			if g.has["on"] {
				return nil, cli.Usagef("--on %q: a name is empty; use names of MPI functions such as MPI_Recv", g.on)
			}
			continue
		}
		if err := knownFunction(f); err != nil {
			return nil, cli.Usagef("--on %v", err)
		}
		t.On = append(t.On, f)
	}
	if g.has["then"] {
		if t.Then, err = condition.ParseActions(g.then); err != nil {
			return nil, cli.Usagef("--then %v", err)
		}
	}
	return t, nil
}

// knownFunction refuses a name or pattern that matches no function of the agent's table. MPIX_ functions are those of single
// libraries.
func knownFunction(name string) error {
	if strings.HasPrefix(strings.ToUpper(name), "MPIX_") {
		return nil
	}
	m, err := (&catalog.Filter{Names: []string{name}}).Compile()
	if err != nil {
		return err
	}
	all := virtual.Functions()
	if strings.ContainsAny(name, "@:\n") || !slices.ContainsFunc(all, m.MatchName) {
		return fmt.Errorf("%s: no such MPI function%s", name, catalog.DidYouMean(all, name))
	}
	return nil
}

// printSummary prints what the triggers found on standard error, and reports whether a trigger recorded anything.
func (x *triggers) printSummary(run *recording.Run) (events bool) {
	all := sites.Triggers(run)
	if len(all) == 0 {
		return false
	}
	var b bytes.Buffer
	const most = 5
	if err := runs.Triggers(&b, all, export.FormatTable, most, "mpitx: --when ", export.Terminal{UTF8: true, Width: x.MessageWidth()}); err != nil {
		x.Complain("%v", err)
	}
	x.Out.Flush()
	x.Errs.Write(b.Bytes())
	for _, t := range all {
		events = events || t.Recorded > 0 || slices.Contains(t.Then, "sample") && t.Fired > 0
	}
	return events
}
