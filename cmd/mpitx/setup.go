package main

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/spf13/cobra"

	"mpitx/binding"
)

func newSetup(a *app) *cobra.Command {
	var cc, outDir string
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Build the shim for an MPI library",
		Long: `Build the shim through which mpitx uses an MPI library, with that MPI's compiler wrapper. The sources are inside mpitx; the
shim goes where mpitx finds it. One shim serves every release of its family (Open MPI; MPICH and its derivatives; the
standard ABI of MPI-5).`,
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
			sources := map[string][]byte{}
			for _, name := range []string{"shim/shim.c", "shim/mpitx.h"} {
				text, err := fs.ReadFile(binding.ShimSources, name)
				if err != nil {
					return err
				}
				sources[path.Base(name)] = text
			}
			file, family, err := a.env.BuildShim(cc, sources, outDir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s: shim for %s\n", file, family)
			return err
		},
	}
	cmd.Flags().StringVar(&cc, "mpicc", "mpicc", "the MPI's compiler wrapper")
	cmd.Flags().StringVar(&outDir, "dir", "", "where to put the shim (default: the user's data directory)")
	return cmd
}
