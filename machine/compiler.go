package machine

import (
	"path/filepath"
	"strings"
)

// Compiler is the command that compiles programs for an MPI: its compiler wrapper, or, for the standard ABI, the plain
// compiler with the directory of mpi.h. It is "" if there is none.
func (e *Env) Compiler(m MPI) string {
	switch {
	case m.Family == ABI:
		return e.abiCompiler(m)
	case m.Impl != "" && e.inPath("mpicc."+m.Impl) != "":
		return "mpicc." + m.Impl
	case e.isExecutable(filepath.Join(m.Prefix, "bin", "mpicc")):
		return filepath.Join(m.Prefix, "bin", "mpicc")
	case e.inPath("mpicc") != "":
		return "mpicc"
	}
	return ""
}

// abiHeaders are the places of the standard ABI's mpi.h below a prefix. MPICH's mpi.h provides the ABI with -DMPI_ABI.
var abiHeaders = []struct{ impl, file string }{
	{OpenMPI, "include/standard_abi/mpi.h"}, {OpenMPI, "include/openmpi/standard_abi/mpi.h"}, {OpenMPI, "lib/TRIPLET/openmpi/include/standard_abi/mpi.h"},
	{OpenMPI, "lib64/openmpi/include/standard_abi/mpi.h"},
	{MPICH, "include/mpi_abi.h"}, {MPICH, "include/TRIPLET/mpich/mpi_abi.h"}, {MPICH, "lib/TRIPLET/mpich/include/mpi_abi.h"},
	{MPICH, "include/mpich-TRIPLET/mpi_abi.h"},
}

// abiCompiler also links, because the workload is a program.
func (e *Env) abiCompiler(m MPI) string {
	folder := e.abiHeader(m)
	if folder == "" {
		return ""
	}
	return strings.Join(linker(e), " ") + " -DMPI_ABI -I" + folder + " -Wl,--no-as-needed -L" + filepath.Dir(m.Lib) + " -l:" + filepath.Base(m.Lib)
}

// abiHeader is the directory of the header, of the library's own implementation if possible; all are the same.
func (e *Env) abiHeader(m MPI) string {
	other := ""
	for _, prefix := range []string{m.Prefix, "/usr", "/usr/local"} {
		for _, h := range abiHeaders {
			path := filepath.Join(prefix, strings.ReplaceAll(h.file, "TRIPLET", e.triplet()))
			switch {
			case !e.isFile(path):
			case h.impl == m.Impl:
				return filepath.Dir(path)
			case other == "":
				other = filepath.Dir(path)
			}
		}
	}
	return other
}

// SetupCommand is the mpitx setup command for an MPI.
func (e *Env) SetupCommand(m MPI) string {
	if m.Family == ABI {
		return "mpitx setup --mpi abi"
	}
	if cc := e.Compiler(m); cc != "" {
		return "mpitx setup --mpicc " + cc
	}
	return "mpitx setup --mpicc mpicc"
}
