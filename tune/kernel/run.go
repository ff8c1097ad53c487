package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"mpitx/machine/keep"
	"mpitx/recording"
	"mpitx/recording/algorithm"
	"mpitx/recording/profile"
	"mpitx/settings"
)

// Runner runs lists of operations.
type Runner struct {
	Command  string // mpitx
	MPI      string // --mpi
	Ranks    int
	Dir      string   // for files, which are removed; all nodes see it
	Environ  []string // nil: that of this process
	Settings []settings.NameValue
	Limits   Limits
}

// Interrupted is the error of a run that a signal to this process ended.
type Interrupted struct{ Signal syscall.Signal }

func (i Interrupted) Error() string { return "ended by a signal (" + i.Signal.String() + ")" }

// Run measures operations. Where the program crashes or hangs, the results say in which one, and which ones it did not come to.
func (r *Runner) Run(all []Operation) ([]Result, error) {
	if len(all) > Most {
		return nil, fmt.Errorf("%d operations are more than one run can measure (%d)", len(all), Most)
	}
	dir, err := os.MkdirTemp(r.Dir, "kernel-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	list, run := filepath.Join(dir, "list"), filepath.Join(dir, "run")
	_, rest := settings.ForLaunch(r.Settings)
	err = errors.Join(os.WriteFile(list, write(all, r.Limits), 0o600), os.WriteFile(list+".settings", []byte(settings.Lines(rest)), 0o600))
	if err != nil {
		return nil, err
	}
	why, err := r.execute(list, run, limitOf(len(all), r.Limits))
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(list + ".results")
	if err != nil {
		return nil, errors.New(why)
	}
	results, at, err := read(content, len(all))
	if err != nil {
		return nil, err
	}
	if why != "" {
		if at < 0 || !results[at].Skipped { // before the first operation, or after the last one
			return nil, errors.New(why)
		}
		results[at].Crashed, results[at].Skipped, results[at].Error = true, false, why
	}
	return results, name(run, all, results)
}

// limitOf is a time that a run takes only if it hangs.
func limitOf(n int, limits Limits) time.Duration {
	return 30*time.Second + time.Duration(float64(n)*(1+3*limits.Seconds)*float64(time.Second))
}

func (r *Runner) arguments(list, run string) []string {
	args := []string{"profile", "-n", strconv.Itoa(r.Ranks), "--dir", run, "--stack", "0", "--no-summary", "--no-paths", "--kernel", list}
	if r.MPI != "" {
		args = append(args, "--mpi", r.MPI)
	}
	return append(args, "--settings", list+".settings")
}

// execute runs the program. why says how it failed.
func (r *Runner) execute(list, run string, limit time.Duration) (why string, err error) {
	var said bytes.Buffer
	cmd := exec.Command(r.Command, r.arguments(list, run)...)
	environ, _ := settings.ForLaunch(r.Settings)
	cmd.Stdout, cmd.Stderr, cmd.Env = io.Discard, &said, append(slices.Clone(r.Environ), environ...)
	if r.Environ == nil {
		cmd.Env = append(os.Environ(), environ...)
	}
	keeper := keep.Catch(keep.Options{})
	defer keeper.Stop()
	if err := keeper.Start(cmd); err != nil {
		return "", err
	}
	var late atomic.Bool
	defer time.AfterFunc(limit, func() {
		late.Store(true)
		cmd.Process.Signal(syscall.SIGTERM) // mpitx ends its launcher
	}).Stop()
	err = cmd.Wait()
	if passed := keeper.Stop(); passed != 0 && !late.Load() {
		return "", Interrupted{passed}
	}
	switch {
	case late.Load():
		return fmt.Sprintf("it took more than %v", limit.Round(time.Second)), nil
	case err != nil:
		return strings.TrimSpace(err.Error() + "\n" + said.String()), nil
	}
	return "", nil
}

// name says which algorithms served the operations.
func name(dir string, all []Operation, results []Result) error {
	run, err := recording.Open(dir)
	if err != nil {
		return nil // the program crashed early
	}
	defer run.Close()
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return err
	}
	calls := make([]uint64, len(all))
	for _, a := range p.AlgorithmsOfSizes() {
		index, ok := strings.CutPrefix(a.Object.Name, "kernel ")
		k, err := strconv.Atoi(index)
		if !ok || err != nil || k < 0 || k >= len(all) || algorithm.Operation(a.Function) != all[k].Function || a.Calls <= calls[k] || len(a.Functions) == 0 || p.Unlearned != "" {
			continue
		}
		calls[k], results[k].Algorithm = a.Calls, a.Text()
	}
	return nil
}
