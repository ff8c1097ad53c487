package main

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/spf13/cobra"

	"mpitx/binding"
	"mpitx/binding/agent/wrapgen"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/fixtures"
)

func newSetup(a *app) *cobra.Command {
	var cc, outDir string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Build what mpitx needs for an MPI library",
		Long: `Build, with an MPI's compiler wrapper, the shim through which mpitx uses that MPI, the agent that mpitx sample puts into
applications, and the program behind its --workload. The sources are inside mpitx; what is built goes where mpitx finds it. One
of each serves every release of its family (Open MPI; MPICH and its derivatives; the standard ABI of MPI-5), but an agent knows
those functions only that the mpi.h has which it is built with. The agent takes a minute.`,
		Example: `  mpitx setup --mpicc mpicc.openmpi
  mpitx setup --mpicc /opt/mpich/bin/mpicc`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if outDir == "" {
				outDir = a.env.DataDir()
			}
			if outDir == "" {
				return failf("build shim: there is no home directory to put it: say where with --dir")
			}
			return setup(a, cc, outDir)
		},
	}
	cmd.Flags().StringVar(&cc, "mpicc", "mpicc", "the MPI's compiler wrapper")
	cmd.Flags().StringVar(&outDir, "dir", "", "where to put what is built (default: the user's data directory)")
	cmd.MarkFlagDirname("dir")
	return cmd
}

func setup(a *app, cc, outDir string) error {
	sources := map[string][]byte{}
	for _, name := range []string{"shim/shim.c", "shim/mpitx.h"} {
		text, err := fs.ReadFile(binding.Sources, name)
		if err != nil {
			return err
		}
		sources[path.Base(name)] = text
	}
	file, family, err := a.env.BuildShim(cc, sources, outDir)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: shim for %s\n", file, family)
	a.out.Flush()
	files, err := a.env.BuildAgent(cc, family, locate.AgentSources{Binding: binding.Sources, Workload: fixtures.Workload, Wrappers: wrappers}, outDir)
	if err != nil {
		return err
	}
	for i, kind := range []string{"agent", "workload"} {
		fmt.Fprintf(a.out, "%s: %s for %s\n", files[i], kind, family)
	}
	return nil
}

func wrappers(header, macros string) (string, error) {
	text, err := fs.ReadFile(binding.Sources, "agent/prototypes.txt")
	if err != nil {
		return "", err
	}
	table, err := wrapgen.ParseTable(string(text))
	if err != nil {
		return "", err
	}
	return wrapgen.Merge(table, header, macros).Write(), nil
}
