package installed

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent"
	"mpitx/agent/wrapgen"
	"mpitx/binding"
	"mpitx/cmd/mpitx/cli"
	"mpitx/fixtures"
	"mpitx/machine"
)

func NewSetup(a *cli.App) *cobra.Command {
	var cc, mpi, outDir string
	var algorithms bool
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Build the shim and agent for an MPI library",
		Long: `Build the shim (which gives mpitx access to an MPI), the agent (which mpitx
sample preloads into applications), and the program that runs --workload. Their
sources are part of mpitx, and the results go where mpitx finds them. One build
serves every release of its family (Open MPI; MPICH and its derivatives; the
standard ABI of MPI-5), but an agent knows only the functions in the mpi.h that
it is built with. The agent takes a minute to build.

Without flags, mpitx setup builds for every installed family that has an mpi.h,
with the MPI's compiler wrapper. The standard ABI needs no wrapper: the header
of Open MPI 6 or MPICH 5 is enough.

With --algorithms, mpitx setup does something else: MPICH hides its functions, so
that mpitx report RUN algorithms does not know them. mpitx runs each algorithm in
two jobs of two ranks, and keeps in its cache which functions the library went
through. This is valid for this build of MPICH only, also for earlier runs.`,
		Example: `  mpitx setup
  mpitx setup --mpi abi
  mpitx setup --mpicc /opt/mpich/bin/mpicc
  mpitx setup --algorithms`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if algorithms {
				return findAlgorithms(cmd, a, mpi)
			}
			if outDir == "" {
				outDir = a.Env.DataDir()
			}
			if outDir == "" {
				return cli.Failf("build shim: there is no home directory; name a directory with --dir")
			}
			if cmd.Flags().Changed("mpicc") {
				return setup(a, cc, outDir)
			}
			return setupAll(a, mpi, outDir)
		},
	}
	cmd.Flags().StringVar(&cc, "mpicc", "", "build with this compiler `WRAPPER` (default: the wrapper of each MPI that is found)")
	cli.ChooseMPI(cmd, &mpi, "build for this `MPI` only", false)
	cmd.MarkFlagsMutuallyExclusive("mpicc", "mpi")
	cmd.Flags().StringVar(&outDir, "dir", "", "put the results into this `DIRECTORY` (default: the user's data directory)")
	cmd.Flags().BoolVar(&algorithms, "algorithms", false, "find out which functions of MPICH serve collective calls, instead of building")
	cmd.MarkFlagsMutuallyExclusive("algorithms", "mpicc")
	cmd.MarkFlagsMutuallyExclusive("algorithms", "dir")
	cmd.MarkFlagDirname("dir")
	return cmd
}

// setupAll builds for one MPI, or for each family that is installed.
func setupAll(a *cli.App, want, outDir string) error {
	all := a.Env.Find()
	if want != "" {
		m, err := a.Env.Choose(want)
		if err != nil {
			return err
		}
		all = []machine.MPI{m}
	}
	done := map[string]bool{machine.Demo: true} // nothing to build
	var without []string
	for _, m := range all {
		if done[m.Family] {
			continue
		}
		cc := a.Env.Compiler(m)
		if cc == "" {
			without = append(without, m.Name())
			continue
		}
		if err := setup(a, cc, outDir); err != nil {
			return err
		}
		done[m.Family] = true
	}
	if want == machine.Demo {
		fmt.Fprintln(a.Out, "nothing to build: the demo MPI is part of mpitx")
	}
	if len(done) > 1 || want == machine.Demo {
		return nil
	}
	if len(without) > 0 {
		return &machine.Error{What: "build for " + strings.Join(without, ", "), Why: "neither its mpicc nor, for the standard ABI, its mpi.h was found",
			Do: "install the development package (libopenmpi-dev, libmpich-dev), or name a compiler: --mpicc 'cc -I DIRECTORY-OF-MPI.H'"}
	}
	return setup(a, "mpicc", outDir)
}

func setup(a *cli.App, cc, outDir string) error {
	sources, err := fs.Sub(binding.Sources, "shim")
	if err != nil {
		return err
	}
	file, family, err := a.Env.BuildShim(cc, sources, outDir)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s: shim for %s\n", file, family)
	a.Out.Flush()
	files, err := a.Env.BuildAgent(cc, family, machine.AgentSources{Agent: agent.Sources, Binding: binding.Sources, Workload: fixtures.Workload, Wrappers: wrappers}, outDir)
	if err != nil {
		return err
	}
	for i, what := range []string{"agent for " + family, "workload for " + family, "library for tools"} {
		fmt.Fprintf(a.Out, "%s: %s\n", files[i], what)
	}
	return nil
}

func wrappers(header, macros string) (string, error) {
	text, err := fs.ReadFile(agent.Sources, "prototypes.txt")
	if err != nil {
		return "", err
	}
	table, err := wrapgen.ParseTable(string(text))
	if err != nil {
		return "", err
	}
	return wrapgen.Merge(table, header, macros).Write(), nil
}
