package installed

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
	"mpitx/machine/keep"
	"mpitx/machine/newfile"
	"mpitx/recording"
	"mpitx/recording/algorithm"
	"mpitx/recording/profile"
	"mpitx/text"
)

// findAlgorithms runs all algorithms of an MPICH, and keeps in the cache which functions they are.
func findAlgorithms(cmd *cobra.Command, a *cli.App, mpi string) error {
	if mpi == "" {
		mpi = machine.MPICH
	}
	if a.Env.Launcher().Name != "" {
		return cli.Usagef("setup --algorithms starts its own jobs: run it without a launcher")
	}
	source := &cli.Source{App: a, MPI: mpi, Timeout: time.Minute}
	c, _, err := source.Snapshot(cmd)
	if err != nil {
		return err
	}
	if source.Chosen.Family != machine.MPICH {
		return cli.Usagef("--algorithms: %s does not hide the functions that serve collective calls; name an MPICH with --mpi", source.Chosen.Name())
	}
	cache := a.Env.CacheDir()
	if cache == "" {
		return cli.Failf("find algorithms: there is no home directory for the result; set XDG_CACHE_HOME")
	}
	var all []algorithm.Forced
	for _, fallback := range []string{"error", "silent"} {
		found, err := forcedRun(mpi, fallback, c)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	build, functions, unknown := algorithm.Learn(all)
	if build == "" {
		return cli.Failf("find algorithms: the agent saw no calls of UCX; it needs an MPICH that uses UCX, and has a build ID")
	}
	if build != source.Chosen.BuildID {
		return cli.Failf("find algorithms: the program behind --workload loads another MPICH than %s; build it again with mpitx setup --mpicc, or choose the other one with --mpi", source.Chosen.Lib)
	}
	path := filepath.Join(cache, algorithm.FileOf(build))
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return cli.Failf("%v", err)
	}
	if _, err := newfile.Write(path, "", newfile.Replace, func(w io.Writer) error { return json.NewEncoder(w).Encode(functions) }); err != nil {
		return cli.Failf("%v", err)
	}
	fmt.Fprintf(a.Out, "%s: %s of %s\n", path, text.Count(functions.Algorithms(), "algorithm"), c.LibraryName())
	if len(unknown) > 0 {
		fmt.Fprintf(a.Out, "not found: %s\n", strings.Join(unknown, ", "))
	}
	return nil
}

// forcedRun runs the workload that forces each algorithm. If an algorithm cannot be used, the call fails, or the library uses another one.
func forcedRun(mpi, fallback string, c *catalog.Catalog) (all []algorithm.Forced, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, cli.Failf("%v", err)
	}
	dir, err := os.MkdirTemp("", "mpitx-algorithms-")
	if err != nil {
		return nil, cli.Failf("%v", err)
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "run")
	child := exec.Command(exe, "profile", "-n", "2", "--mpi", mpi, "--dir", dir, "--stack", "0", "--no-summary", "--no-paths", "--set", "MPIR_CVAR_DEVICE_COLLECTIVES=none",
		"--set", "MPIR_CVAR_COLLECTIVE_FALLBACK="+fallback, "--workload", "algorithms")
	keeper := keep.Catch(keep.Options{})
	defer keeper.Stop()
	var said strings.Builder
	child.Stdout, child.Stderr = io.Discard, &said
	if err = keeper.Start(child); err == nil {
		err = child.Wait()
	}
	if passed := keeper.Stop(); passed != 0 {
		return nil, cli.EndedBy(passed)
	}
	if err != nil {
		return nil, cli.Failf("find algorithms: a run failed: %v\n%s", err, said.String())
	}
	run, err := recording.Open(dir)
	if err != nil {
		return nil, cli.Failf("%v", err)
	}
	defer run.Close()
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return nil, cli.Failf("%v", err)
	}
	for _, s := range p.Algorithms {
		operation, value, ok := strings.Cut(s.Object.Name, " ")
		if ok && algorithm.Operation(s.Function) == operation {
			all = append(all, algorithm.Forced{Operation: operation, Value: valueName(c, operation, value), Instead: fallback == "silent", Text: strings.Join(append([]string{"@" + s.Build}, s.Functions...), " ")})
		}
	}
	return all, nil
}

// valueName is the name of a variable's value; MPICH 4.0 names values only in descriptions.
func valueName(c *catalog.Catalog, operation, value string) string {
	if v := c.Cvar("MPIR_CVAR_" + strings.ToUpper(operation) + "_INTRA_ALGORITHM"); v != nil {
		if e := c.EnumOf(v); e != nil {
			for _, item := range e.Items {
				if fmt.Sprint(item.Value) == value {
					return item.Name
				}
			}
		}
	}
	return value
}
