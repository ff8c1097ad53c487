package settings

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

// HowToGet is the end of a message: how to make a library offer a variable that it does not offer now, and the similar names (near,
// may be ""). set gives the settings that the application has already.
func HowToGet(m machine.MPI, pattern string, set func(name string) (value string, ok bool), near string) string {
	const own = "variables of mpitx work with any MPI (mpitx:*)"
	is := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(strings.ToLower(pattern), s) })
	}
	has := func(name string) bool {
		value, ok := set(name)
		return ok && value != "0"
	}
	switch {
	case strings.HasPrefix(pattern, "mpitx:") && near != "":
		return near
	case strings.HasPrefix(pattern, "mpitx:"):
		return ": `mpitx list virtual` lists mpitx's variables; mpitx:calls/MPI_Send is the share of one function, mpitx:net/eth0/bytes_sent a counter of an interface"
	case m.Impl == machine.OpenMPI && is("monitoring") && has("pml_monitoring_enable"):
		return ": with pml_monitoring_enable Open MPI 4 has coll_monitoring_* and osc_monitoring_*, and Open MPI 5 pml_monitoring_* as well; " + own + near
	case m.Impl == machine.OpenMPI && is("monitoring"):
		return ": --set pml_monitoring_enable=1 (mpirun --mca pml_monitoring_enable 1) enables coll_monitoring_* and osc_monitoring_*, and in Open MPI 5 " +
			"pml_monitoring_* (in 6.0 it crashes programs); " + own + near
	case m.Impl == machine.OpenMPI && is("spc"):
		return ": it needs an Open MPI built with --enable-spc, and --set mpi_spc_attach=all (mpirun --mca mpi_spc_attach all); " + own + near
	case m.Impl == machine.MPICH:
		return ": MPICH has performance variables only if it was built with --enable-mpit-pvars=all; distributions build it without; " + own + near
	}
	if near != "" {
		return near
	}
	return ": `mpitx list pvars` lists what it has; " + own
}

// PvarNames are the performance variables among cached names, with and without their class: only they have a class.
func PvarNames(names []string) []string {
	var all []string
	for _, n := range names {
		if bare, class := catalog.SplitClass(n); class != 0 {
			all = append(all, n, bare)
		}
	}
	return all
}

// ComesLate reports whether a pattern may match a variable that MPICH registers with the first window, if it was built with
// those.
func ComesLate(m machine.MPI, pattern string) bool {
	const prefix, one = "rma_", "rma_winlock_getlocallock"
	if m.Impl != machine.MPICH {
		return false
	}
	literal := pattern
	if k := strings.IndexAny(literal, "*?[{"); k >= 0 {
		literal = literal[:k]
	}
	if !strings.HasPrefix(literal, prefix) && !strings.HasPrefix(prefix, literal) {
		return false
	}
	library, err := os.ReadFile(m.Lib)
	return err != nil || bytes.Contains(library, []byte(one))
}
