package record

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
	"mpitx/export/runs"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/where"
	"mpitx/text"
)

// ExitHung is the exit code of a job that --hang has killed; timeout(1) uses it, too.
const ExitHung = 124

// hang looks for a job that makes no progress (--hang).
type hang struct {
	*recorder
	asked string

	idle time.Duration
	kill bool
}

func (o *hang) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.asked, "hang", "", "report a job that has made no progress for this `TIME`; TIME:kill also ends it")
}

func (o *hang) configure(_ *cobra.Command, c *launch.Config) error {
	if err := o.parse(); err != nil || o.asked == "" {
		return err
	}
	c.Watch, c.Kills = append(c.Watch, o.watch), o.kill
	return nil
}

func (o *hang) check(machine.MPI, bool) error { return nil }

// parse parses TIME, TIME:report and TIME:kill.
func (o *hang) parse() (err error) {
	if o.asked == "" {
		return nil
	}
	text, action, _ := strings.Cut(o.asked, ":")
	o.idle, err = time.ParseDuration(text)
	switch o.kill = action == "kill"; {
	case err != nil:
		return cli.Usagef("--hang %s: must be a time such as 60s or 10m, or TIME:kill", o.asked)
	case o.idle < time.Second:
		return cli.Usagef("--hang %s: must be at least 1s", o.asked)
	case action != "" && action != "report" && !o.kill:
		return cli.Usagef("--hang %s: the action must be report or kill", o.asked)
	}
	return nil
}

// watch looks for a hang until the job is over.
func (o *hang) watch(dir string, over <-chan struct{}, kill func(code int)) {
	var run *recording.Run
	reported := false
	for {
		select {
		case <-over:
			if run != nil {
				run.Close()
			}
			return
		case <-time.After(min(max(o.idle/20, 100*time.Millisecond), 5*time.Second)):
		}
		if run == nil {
			run, _ = recording.Open(dir)
		} else if run.Refresh() != nil {
			continue
		}
		if run == nil {
			continue
		}
		job := where.Read(run, nil)
		idle, waits := where.Progress(job)
		if !waits || idle < o.idle {
			reported = false
			continue
		}
		if !reported {
			reported = true
			o.reportHang(run, idle)
		}
		if o.kill {
			o.Say("--hang: ending the job")
			kill(ExitHung)
			<-over
			run.Close()
			return
		}
	}
}

const hangStack = 16

// reportHang prints the states on standard error.
func (o *hang) reportHang(run *recording.Run, idle time.Duration) {
	var b bytes.Buffer
	callers := sites.NewCallers(run.Start)
	defer callers.Close()
	job := where.Look(func() *where.Job { return where.ReadStacks(run, callers.Site, callers.Stacks(hangStack)) })
	fmt.Fprintf(&b, "mpitx: no rank has made progress for %s\n", text.RoughDuration(idle))
	answer := runs.Where{Run: run, Job: job, Report: where.Analyze(job), Notes: launch.Incomplete(run)}
	answer.Write(&b, export.FormatWide, export.Terminal{UTF8: true})
	o.Errs.Write(b.Bytes())
}
