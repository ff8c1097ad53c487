package machine

import (
	"fmt"
	"path/filepath"
)

// Mismatch is the error about a launcher that does not match the library, so that each process is a job of its own; nil
// if they match. size is the size of MPI_COMM_WORLD. linked is true if a program links the library, so that no other
// can be chosen.
func Mismatch(l Launch, m MPI, size int, linked bool) error {
	if size != 1 || l.Size <= 1 {
		return nil
	}
	err := &Error{What: fmt.Sprintf("the %d processes that %s started are not one job: each has MPI_Comm_size 1", l.Size, l.by())}
	lib := m.Name() + " (" + m.Lib + ")"
	switch {
	case l.Name == "slurm":
		err.Why = lib + " did not get them from srun"
		err.Do = "use srun --mpi=" + or(slurmMPI(m), "cray_shasta") + " (`srun --mpi=list` shows what is there), or " + ownLauncher(m) + " inside the allocation"
	case foreign(l, m):
		err.Why = "the library is " + lib
		err.Do = "start them with " + ownLauncher(m)
		if !linked {
			err.Do += ", or " + readOwn(l, m)
		}
	case l.Name == "pmi" || l.Name == "pmix":
		err.Why = lib + " does not work with this launcher"
		err.Do = "start them with " + ownLauncher(m)
	default:
		err.Why = "the library, " + lib + ", is of the same family, so launcher and library belong to different installations or versions"
		err.Do = "start them with " + ownLauncher(m)
		if !linked {
			err.Do += ", or name the launcher's library with --mpi PREFIX"
		}
	}
	return err
}

// InitFailed is the error about an MPI_Init that fails under another library's launcher, with the known cause; nil if
// launcher and library match, or if nothing is known.
func InitFailed(l Launch, m MPI, how string) error {
	if !foreign(l, m) {
		return nil
	}
	return &Error{
		What: "MPI_Init of " + m.Name() + " (" + m.Lib + ") fails under " + l.by(),
		Why:  how,
		Do:   "start mpitx with " + ownLauncher(m) + ", or " + readOwn(l, m),
	}
}

// WrongLauncher says that another library's launcher started a program of m, and which one to use; "" if the launcher
// is m's or unknown.
func WrongLauncher(l Launch, m MPI) string {
	if !foreign(l, m) {
		return ""
	}
	return "it was started by " + l.by() + "; start it with " + ownLauncher(m)
}

func foreign(l Launch, m MPI) bool { return l.Family != "" && m.Impl != "" && l.Family != m.Impl }

// readOwn says how to read the launcher's library instead of m.
func readOwn(l Launch, m MPI) string {
	family := l.Family
	if m.Family == ABI {
		family = "PATH of its libmpi_abi.so.1, or --mpi " + family
	}
	return "read the launcher's own library with --mpi " + family
}

// by names the launcher: Open MPI's mpirun (/usr/bin/orterun).
func (l Launch) by() string {
	s := l.Command()
	if l.Family != "" {
		s = FamilyName(l.Family) + "'s " + s
	}
	if l.Exe != "" && filepath.Base(l.Exe) != l.Command() {
		s += " (" + l.Exe + ")"
	}
	return s
}

// ownLauncher is the launcher command of a library.
func ownLauncher(m MPI) string {
	if m.Launcher != "" {
		return m.Launcher
	}
	return "the mpirun of " + m.Name()
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
