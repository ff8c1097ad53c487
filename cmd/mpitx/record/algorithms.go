package record

import (
	"github.com/spf13/cobra"

	"mpitx/launch"
	"mpitx/machine"
)

// serving records which algorithms serve collective calls, in profiles and traces.
type serving struct {
	profiling *profiling // nil: there are none
	tracing   *tracing
	off       bool // --no-algorithms
}

func (o *serving) flags(cmd *cobra.Command, of string) {
	cmd.Flags().BoolVar(&o.off, "no-algorithms", false, of+"do not record which algorithms serve collective calls")
}

func (o *serving) configure(cmd *cobra.Command, c *launch.Config) error {
	if on := o.profiling != nil && o.profiling.on || o.tracing != nil && o.tracing.on; !on {
		return needs(cmd, "--profile or --trace", "no-algorithms")
	}
	if !o.off {
		asks(c, "algorithms", "1")
	}
	return nil
}

func (o *serving) check(machine.MPI, bool) error { return nil }
