package machine

import (
	"debug/elf"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tree is a simulated machine: a file system below a temporary directory, and an environment.
type tree struct {
	t   *testing.T
	env *Env
}

func newTree(t *testing.T, environ ...string) *tree {
	return &tree{t, &Env{Environ: environ, Root: t.TempDir(), PID: 1000, UID: 1000, Arch: "amd64"}}
}

func (tr *tree) write(path string, data []byte, mode os.FileMode) {
	tr.t.Helper()
	path = tr.env.File(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, mode); err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) link(path, target string) {
	tr.t.Helper()
	path = tr.env.File(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tr.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		tr.t.Skipf("no symbolic links here: %v", err)
	}
}

func (tr *tree) exe(path string, text ...string) {
	tr.write(path, []byte(strings.Join(text, "\n")), 0o755)
}

// lib writes a shared library with a SONAME and some names in its dynamic string table.
func (tr *tree) lib(path, soname string, names ...string) {
	tr.write(path, sharedLibrary(elf.EM_X86_64, soname, names...), 0o644)
}

// process adds a process to /proc.
func (tr *tree) process(pid, ppid int, exe string) {
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	tr.write(dir+"stat", []byte(strconv.Itoa(pid)+" (a (b) c) S "+strconv.Itoa(ppid)+" 1 1"), 0o644)
	tr.link(dir+"exe", exe)
}

// debian is a Debian with Open MPI and MPICH.
func debian(t *testing.T, environ ...string) *tree {
	tr := newTree(t, append(environ, "PATH=/usr/local/bin:/usr/bin")...)
	lib := "/usr/lib/x86_64-linux-gnu/"
	tr.lib(lib+"libmpi.so.40.30.4", "libmpi.so.40", "ompi_mpi_comm_world")
	tr.link(lib+"libmpi.so.40", "libmpi.so.40.30.4")
	tr.link(lib+"openmpi/lib/libmpi.so", "../../libmpi.so.40")
	tr.lib(lib+"libmpich.so.12.2.2", "libmpich.so.12", "MPI_T_init_thread")
	tr.link(lib+"libmpich.so.12", "libmpich.so.12.2.2")
	tr.write(lib+"pkgconfig/ompi.pc", []byte("Name: Open MPI\nVersion: 4.1.4\n"), 0o644)
	tr.exe("/usr/bin/orterun")
	tr.exe("/usr/bin/mpiexec.hydra")
	tr.exe("/usr/bin/hydra_pmi_proxy")
	tr.link("/usr/bin/mpirun.openmpi", "orterun")
	tr.link("/usr/bin/mpirun.mpich", "mpiexec.hydra")
	tr.link("/usr/bin/mpirun", "/etc/alternatives/mpirun")
	tr.link("/etc/alternatives/mpirun", "/usr/bin/mpirun.openmpi")
	return tr
}

const (
	debianOpenMPI = "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4"
	debianMPICH   = "/usr/lib/x86_64-linux-gnu/libmpich.so.12.2.2"
)

// sharedLibrary is the smallest one that debug/elf accepts: a dynamic section with a SONAME, its strings, a build id.
func sharedLibrary(machine elf.Machine, soname string, names ...string) []byte {
	le := binary.LittleEndian
	dynstr := []byte("\x00" + soname + "\x00")
	for _, n := range names {
		dynstr = append(dynstr, n+"\x00"...)
	}
	var dynamic []byte
	for _, v := range []uint64{uint64(elf.DT_SONAME), 1, uint64(elf.DT_NULL), 0} {
		dynamic = le.AppendUint64(dynamic, v)
	}
	note := append([]byte{4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0}, "GNU\x00\xde\xad"...)
	note = le.AppendUint16(note, uint16(crc32.ChecksumIEEE(dynstr))) // different libraries have different ones
	shstrtab := []byte("\x00.dynstr\x00.dynamic\x00.note.gnu.build-id\x00.shstrtab\x00")
	sections := []struct {
		name  uint32
		kind  elf.SectionType
		link  uint32
		data  []byte
		entry uint64
	}{
		{0, elf.SHT_NULL, 0, nil, 0},
		{1, elf.SHT_STRTAB, 0, dynstr, 0},
		{9, elf.SHT_DYNAMIC, 1, dynamic, 16},
		{18, elf.SHT_NOTE, 0, note, 0},
		{37, elf.SHT_STRTAB, 0, shstrtab, 0},
	}
	body, headers := []byte{}, []byte{}
	for _, s := range sections {
		headers = le.AppendUint32(headers, s.name)
		headers = le.AppendUint32(headers, uint32(s.kind))
		for _, v := range []uint64{0, 0, uint64(64 + len(body)), uint64(len(s.data))} {
			headers = le.AppendUint64(headers, v)
		}
		headers = le.AppendUint32(headers, s.link)
		headers = le.AppendUint32(headers, 0)
		headers = le.AppendUint64(headers, 1)
		headers = le.AppendUint64(headers, s.entry)
		body = append(body, s.data...)
	}
	h := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	h = le.AppendUint16(h, uint16(elf.ET_DYN))
	h = le.AppendUint16(h, uint16(machine))
	h = le.AppendUint32(h, 1)
	for _, v := range []uint64{0, 0, uint64(64 + len(body))} {
		h = le.AppendUint64(h, v)
	}
	h = le.AppendUint32(h, 0)
	for _, v := range []uint16{64, 0, 0, 64, uint16(len(sections)), uint16(len(sections) - 1)} {
		h = le.AppendUint16(h, v)
	}
	return append(append(h, body...), headers...)
}
