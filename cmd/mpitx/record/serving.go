package record

import (
	"github.com/spf13/cobra"

	"mpitx/launch"
	"mpitx/machine"
)

// serving records what the library really did: which algorithms served collective calls, in profiles and traces, and which transports reached other processes, in
// profiles.
type serving struct {
	profiling             *profiling // nil: there are none
	tracing               *tracing
	noAlgorithms, noPaths bool
}

func (o *serving) flags(cmd *cobra.Command, of string) {
	cmd.Flags().BoolVar(&o.noAlgorithms, "no-algorithms", false, of+"do not record which algorithms serve collective calls")
	if o.profiling != nil {
		cmd.Flags().BoolVar(&o.noPaths, "no-paths", false, of+"do not record over which transports ranks reach each other")
	}
}

func (o *serving) configure(cmd *cobra.Command, c *launch.Config) error {
	profiles, traces := o.profiling != nil && o.profiling.on, o.tracing != nil && o.tracing.on
	if !profiles {
		if err := needs(cmd, "--profile", "no-paths"); err != nil {
			return err
		}
	}
	if !profiles && !traces {
		return needs(cmd, "--profile or --trace", "no-algorithms")
	}
	if !o.noAlgorithms {
		asks(c, "algorithms", "1")
	}
	if profiles && !o.noPaths {
		asks(c, "paths", "1")
	}
	return nil
}

func (o *serving) check(machine.MPI, bool) error { return nil }
