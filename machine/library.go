package machine

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// The families of MPI are its ABIs. A shim is built for a family.
const (
	OpenMPI = "openmpi"
	MPICH   = "mpich" // also Intel MPI, Cray MPICH, MVAPICH
	ABI     = "abi"   // the standard ABI of MPI-5
	Demo    = "demo"  // the built-in fixture MPI
)

// Families are the values of --mpi other than paths.
var Families = []string{OpenMPI, MPICH, ABI, Demo}

// MPI is one installed MPI library.
type MPI struct {
	Family   string // OpenMPI, MPICH, ABI or Demo
	Impl     string // the implementation: OpenMPI, MPICH or Demo; decides the launcher and the names of settings. It may be "" for ABI
	Prefix   string // the installation prefix
	Lib      string // path of libmpi with symbolic links resolved; "" for Demo
	SONAME   string
	BuildID  string // in hexadecimal; "" if the library has none
	Launcher string // path of its mpirun or mpiexec; "" if none was found
	Version  string // from its pkg-config file or the library's text; "" if finding it takes long (Choose leaves it empty)
	Why      string // how it was found or why it was chosen: "mpirun in PATH (/usr/bin/mpirun)"
}

// Name is the usual name of the MPI: "Open MPI", "MPICH with the standard ABI".
func (m MPI) Name() string {
	if m.Family == ABI && m.Impl != "" {
		return FamilyName(m.Impl) + " with the standard ABI"
	}
	return FamilyName(m.Impl, m.Family)
}

// FamilyName is the display name of the first family that is not empty.
func FamilyName(families ...string) string {
	for _, f := range families {
		switch f {
		case OpenMPI:
			return "Open MPI"
		case MPICH:
			return "MPICH"
		case ABI:
			return "an MPI with the standard ABI"
		case Demo:
			return "the demo MPI"
		}
	}
	return "an unknown MPI"
}

// demo is the built-in MPI, which needs no library.
func demo(why string) MPI {
	return MPI{Family: Demo, Impl: Demo, Why: why}
}

// sonames lists the file names of libmpi, in order.
var (
	sonames = []string{
		"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.20", "libmpi.so.80",
		"libmpi_abi_openmpi.so.1.0.0", "libmpi_abi_mpich.so.1.0.0", // Debian's, of which only one can be libmpi_abi.so.1
	}
	sonameGlobs = []string{"libmpi_*.so.12", "libmpi_abi*.so.[01]*"} // Cray's; not searched in the distribution's directories of thousands of files
	bareNames   = []string{"libmpi.so", "libmpich.so"}               // development links; used if there is nothing else
)

var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64,
	"loong64": elf.EM_LOONGARCH, "s390x": elf.EM_S390, "386": elf.EM_386,
}

// inspect reads SONAME, build id and family of a libmpi. It returns false for any other file.
func (e *Env) inspect(path string) (MPI, bool) {
	real := e.resolve(path)
	if m, ok := e.libs.Load(real); ok {
		return m.(MPI), m.(MPI).Family != ""
	}
	m, ok := e.readLib(real)
	e.libs.Store(real, m)
	return m, ok
}

func (e *Env) readLib(real string) (MPI, bool) {
	f, err := elf.Open(e.File(real))
	if err != nil {
		return MPI{}, false
	}
	defer f.Close()
	if want, ok := machines[e.Arch]; f.Type != elf.ET_DYN || ok && f.Machine != want {
		return MPI{}, false
	}
	m := MPI{Lib: real, BuildID: buildID(f)}
	if s, err := f.DynString(elf.DT_SONAME); err == nil && len(s) > 0 {
		m.SONAME = s[0]
	}
	m.Family, m.Impl = family(f, m.SONAME, filepath.Base(real))
	m.Prefix = prefixOfLib(real)
	return m, m.Family != ""
}

// family uses the SONAME if that decides, else the names in the dynamic string table: libmpi.so.12 was also Open MPI
// 1.10's.
func family(f *elf.File, soname, file string) (fam, impl string) {
	has := dynamicNames(f)
	switch {
	case strings.HasPrefix(soname, "libmpi_abi.so."):
		switch {
		case strings.Contains(file, "openmpi") || has("ompi_mpi_comm_world") || has("ompi_mpi_init"):
			return ABI, OpenMPI
		case strings.Contains(file, "mpich") || has("QMPI_Register_tool_name"):
			return ABI, MPICH
		}
		return ABI, ""
	case soname == "libmpi.so.40", soname == "libmpi.so.80":
		return OpenMPI, OpenMPI
	case strings.HasPrefix(soname, "libmpich.so."):
		return MPICH, MPICH
	case has("ompi_mpi_comm_world"):
		return OpenMPI, OpenMPI
	case has("MPI_T_init_thread") && (has("QMPI_Register_tool_name") || has("MPIR_Dup_fn") || has("MPIX_Query_cuda_support") ||
		strings.HasSuffix(soname, ".so.12")):
		return MPICH, MPICH
	}
	return "", ""
}

// dynamicNames reports whether a name is in the dynamic string table, which is read on first use.
func dynamicNames(f *elf.File) func(string) bool {
	var table []byte
	return func(name string) bool {
		if table == nil {
			table = []byte{0}
			if s := f.Section(".dynstr"); s != nil && s.Size < 1<<26 {
				if data, err := s.Data(); err == nil {
					table = data
				}
			}
		}
		// Linkers store a name that is the end of another one, such as MPI_T_init_thread in PMPI_T_init_thread, inside
		// it.
		return bytes.Contains(table, []byte(name+"\x00"))
	}
}

// BuildID is the build id of an ELF file in hexadecimal; "" if it has none.
func BuildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return buildID(f)
}

// buildID is the descriptor of the GNU build-id note.
func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Size > 1024 {
		return ""
	}
	data, err := s.Data()
	if err != nil || len(data) < 12 {
		return ""
	}
	name, desc := uint64(f.ByteOrder.Uint32(data)), uint64(f.ByteOrder.Uint32(data[4:]))
	start := 12 + (name+3)&^3
	if start+desc > uint64(len(data)) {
		return ""
	}
	return hex.EncodeToString(data[start : start+desc])
}

// prefixOfLib goes up from the directory of a libmpi to the prefix, past lib, lib64, the multiarch directory and
// similar ones.
func prefixOfLib(lib string) string {
	dir := filepath.Dir(lib)
	for {
		base := filepath.Base(dir)
		switch {
		case base == "lib" || base == "lib64" || base == "release" || base == "intel64" || strings.HasSuffix(base, "-linux-gnu"):
			dir = filepath.Dir(dir)
		default:
			return dir // also /usr/lib64/openmpi, a prefix of its own
		}
	}
}

// Version reads the cheap sources: the pkg-config file next to the library, else Open MPI's text in the library.
func (e *Env) Version(m MPI) string {
	names := map[string][]string{OpenMPI: {"ompi.pc", "ompi-c.pc"}, MPICH: {"mpich.pc"}}[m.Impl]
	dir := filepath.Dir(m.Lib)
	for _, name := range names {
		data, err := os.ReadFile(e.File(filepath.Join(dir, "pkgconfig", name)))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if v, ok := strings.CutPrefix(line, "Version:"); ok {
				return strings.TrimSpace(v)
			}
		}
	}
	if m.Impl == OpenMPI {
		return e.textVersion(m.Lib)
	}
	return ""
}

// textVersion finds "Open MPI v4.1.4" in the constants of a library.
func (e *Env) textVersion(lib string) string {
	f, err := elf.Open(e.File(lib))
	if err != nil {
		return ""
	}
	defer f.Close()
	s := f.Section(".rodata")
	if s == nil || s.Size > 1<<24 {
		return ""
	}
	data, err := s.Data()
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(data, []byte("Open MPI v"))
	if !ok {
		return ""
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r <= ' ' || r == ',' })
	if end < 1 || end > 40 {
		return ""
	}
	return string(rest[:end])
}

// SameLibrary reports whether two libraries are the same file or copies of it.
func SameLibrary(a, b MPI) bool {
	return a.Lib == b.Lib || a.BuildID != "" && a.BuildID == b.BuildID
}
