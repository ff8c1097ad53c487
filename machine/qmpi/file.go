package qmpi

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mpitx/machine"
	"mpitx/machine/preflight"
)

// marks is the section in which objects say that they were compiled with qmpi.h, and for which family: "qmpi 1 openmpi".
const (
	marks   = ".mpitx.qmpi"
	newest  = "1" // version of the interface
	section = 1 << 16
)

// file is what the file of a tool says.
type file struct {
	families []string // that it was compiled for with qmpi.h
	version  string   // of qmpi.h, if it is not known
	native   string   // a routine of an MPI library's own QMPI that it calls
	draft    bool     // it calls routines of the draft
	linked   *machine.MPI
	machine  elf.Machine
}

// family is the family that a tool was compiled for; "" if it does not say.
func (x *file) family() string {
	switch {
	case len(x.families) > 0:
		return x.families[0]
	case x.linked != nil:
		return x.linked.Family
	}
	return ""
}

// CheckFile refuses a tool by its file alone. family is the application's, "" if it is not known; of names it in messages. like is a
// file for this processor. native: the tool is for the QMPI of the MPI library itself.
func CheckFile(e *machine.Env, t Tool, family, of, like string, native bool) error {
	if strings.ContainsRune(t.Path, '\n') {
		return t.wrong("its path contains a newline", "rename it")
	}
	x, err := t.read(e)
	if err != nil {
		return err
	}
	if f, err := elf.Open(like); err == nil {
		f.Close()
		if f.Machine != x.machine {
			return t.wrong(fmt.Sprintf("it is built for another processor (%s) than this machine's (%s)", processor(x.machine), processor(f.Machine)), "compile it for this machine")
		}
	}
	const compile = "compile it with mpitx's qmpi.h (`mpitx tools --cflags`)"
	switch {
	case native && (x.draft || len(x.families) > 0):
		return t.wrong("it is built for mpitx's chain of tools, not for the QMPI of the MPI library", "leave --via out, or compile it with -DQMPI_NATIVE")
	case !native && x.native != "":
		return t.wrong("it is built for the QMPI of an MPI library (it calls "+x.native+")", compile+", or use --via qmpi if the MPI library has QMPI")
	case x.version != "":
		return t.wrong("it is compiled with the qmpi.h of a newer mpitx (version "+x.version+" of the interface)", compile)
	}
	if family == "" {
		return nil
	}
	built := x.families
	if x.linked != nil {
		built = append(built, x.linked.Family)
	}
	for _, f := range built {
		if f != family {
			return t.wrong("it is compiled for "+machine.FamilyName(f)+", and "+of, "compile it with the mpicc of "+machine.FamilyName(family))
		}
	}
	return nil
}

func processor(m elf.Machine) string { return strings.TrimPrefix(m.String(), "EM_") }

// natives are the routines that MPICH adds to the draft, or names otherwise.
var natives = []string{"QMPI_Register_tool_name", "QMPI_Register_tool_storage", "QMPI_Register_function", "QMPI_Get_function", "QMPI_Get_tool_storage", "QMPI_Get_calling_address"}

var drafts = []string{"MPI_Register_tool_name", "MPI_Register_tool_storage", "MPI_Register_tool_function", "MPI_Get_next_tool_function", "MPI_Get_tool_storage", "MPI_Get_calling_address"}

// read reads the file of a tool. An error is a refusal.
func (t *Tool) read(e *machine.Env) (*file, error) {
	const path, library = "give the path of the tool's shared library", "compile it with -shared -fPIC"
	st, err := os.Stat(e.File(t.Path))
	switch {
	case err == nil && st.IsDir():
		return nil, t.wrong("this is a directory", path)
	case err == nil && !st.Mode().IsRegular(): // opening a pipe or a device can block
		return nil, t.wrong("this is not a regular file", path)
	}
	opened, err := os.Open(e.File(t.Path))
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, t.missing(err.Error())
	}
	defer opened.Close()
	head := make([]byte, 4)
	if n, _ := opened.ReadAt(head, 0); string(head[:n]) != elf.ELFMAG {
		return nil, t.wrong("this is not a shared library", library)
	}
	f, err := elf.NewFile(opened)
	if err != nil {
		return nil, t.wrong("its ELF header is damaged: "+err.Error(), "compile or copy it again")
	}
	if f.Type != elf.ET_DYN || slices.ContainsFunc(f.Progs, func(h *elf.Prog) bool { return h.Type == elf.PT_INTERP }) && isProgram(f) {
		return nil, t.wrong("this is not a shared library, but a program or an object file", library)
	}
	x := &file{machine: f.Machine, linked: preflight.Linked(e, t.Path, f)}
	symbols, _ := f.DynamicSymbols()
	for _, s := range symbols {
		switch {
		case s.Section != elf.SHN_UNDEF:
		case slices.Contains(natives, s.Name):
			x.native = s.Name
		case slices.Contains(drafts, s.Name):
			x.draft = true
		}
	}
	x.readMarks(f)
	return x, nil
}

// isProgram distinguishes position-independent programs from libraries that can also be run, such as libc.
func isProgram(f *elf.File) bool {
	const pie = 0x08000000 // DF_1_PIE
	values, err := f.DynValue(elf.DT_FLAGS_1)
	return err == nil && len(values) > 0 && values[0]&pie != 0
}

func (x *file) readMarks(f *elf.File) {
	s := f.Section(marks)
	if s == nil || s.Size > section {
		return
	}
	data, err := s.Data()
	if err != nil {
		return
	}
	for text := range strings.SplitSeq(string(data), "\x00") {
		words := strings.Fields(text)
		if len(words) < 3 || words[0] != "qmpi" {
			continue
		}
		if words[1] != newest {
			x.version = words[1]
		}
		if !slices.Contains(x.families, words[2]) {
			x.families = append(x.families, words[2])
		}
	}
}
