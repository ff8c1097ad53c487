package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newRecord(a *app) *cobra.Command {
	o := &sampleOptions{a: a, record: true}
	cmd := &cobra.Command{
		Use:   "record --pvar GLOB… [flags] -- APPLICATION [ARGUMENT…]",
		Short: "Sample performance variables inside an application, and keep the run directory",
		Long: `Sample as mpitx sample does, and keep the run directory, from which mpitx export makes any format later and mpitx stats a
summary. Its name is printed at the end, on standard error.`,
		Example: `  mpirun -n 4 mpitx record --pvar 'mpitx:*' --dir run1 -- ./app input
  mpitx stats run1
  mpitx export run1 -o csv --out samples.csv`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.workload, "workload", "", "run a built-in `EXERCISER` instead of an application: "+strings.Join(workloads, ", "))
	cmd.RegisterFlagCompletionFunc("workload", cobra.FixedCompletions(workloads, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
