//go:build linux

package preflight

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mpitx/fixtures/mutate"
	"mpitx/fixtures/need"
	"mpitx/machine"
)

// bench is a directory with compiled C programs.
type bench struct {
	t   *testing.T
	dir string
	env *machine.Env
}

func newBench(t *testing.T) *bench {
	need.Commands(t, "cc")
	dir := t.TempDir()
	return &bench{t, dir, &machine.Env{Environ: []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=/home/u"}, PID: os.Getpid(), UID: 1000, Arch: runtime.GOARCH}}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) file(name, text string, mode os.FileMode) string {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return b.path(name)
}

func (b *bench) compile(name, text string, args ...string) string {
	b.t.Helper()
	source := b.file(name+".c", text, 0o600)
	out, err := exec.Command("cc", append([]string{"-o", b.path(name), source}, args...)...).CombinedOutput()
	if err != nil {
		b.t.Fatalf("cc %s: %v\n%s", name, err, out)
	}
	return b.path(name)
}

// library makes a file that looks like a libmpi.
func (b *bench) library(soname string) string {
	return b.compile(soname, "int MPI_Init(void){return 0;} int PMPI_Init(void){return 0;} int MPI_T_init_thread(void){return 0;} int MPIR_Dup_fn(void){return 0;}", "-shared", "-fPIC", "-Wl,-soname,"+soname)
}

func (b *bench) check(want string, argv ...string) *Program {
	b.t.Helper()
	p, err := Check(b.env, argv)
	if want == "" {
		if err != nil {
			b.t.Errorf("%q: %v", argv, err)
		}
		return p
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		b.t.Errorf("%q: %v: want %q", argv, err, want)
	}
	var located *machine.Error
	if err != nil && !errors.As(err, &located) {
		b.t.Errorf("%q: %T", argv, err)
	}
	return p
}

const caller = "int MPI_Init(void); int main(void){return MPI_Init();}"

func TestWhatCannotBeStarted(t *testing.T) {
	b := newBench(t)
	b.check("no such file", b.path("nothing"))
	b.check("no such program is in PATH", "no-such-program-at-all")
	b.check("not executable", b.file("data", "x", 0o644))
	b.check("this is a directory", b.dir+"/")
	b.check("neither a program", b.file("text", "echo hello\n", 0o755))
	b.check("neither a program", b.file("empty", "", 0o755))
	b.check("damaged", b.file("cut", "\x7fELF", 0o755))
	b.check("damaged", b.file("rubbish", "\x7fELF"+strings.Repeat("\xff", 200), 0o755))
}

func TestStatic(t *testing.T) {
	b := newBench(t)
	b.check("linked statically, so the agent cannot", b.compile("static", "int main(void){return 0;}", "-static"))
	b.check("statically, with the MPI library, so", b.compile("both", "int PMPI_Init(void){return 0;} int main(void){return PMPI_Init();}", "-static"))
	b.check("linked into it", b.compile("inside", "int PMPI_Init(void){return 0;} int main(void){return PMPI_Init();}"))
	// A program with MPI_X but without PMPI_X has a PMPI tool.
	p := b.check("", b.compile("tool", "int MPI_Init(void){return 0;} int main(void){return MPI_Init();}"))
	if p.Linked != nil || len(p.Notes) != 1 {
		t.Errorf("%+v", p)
	}
}

// The loader ignores LD_PRELOAD for programs with more privileges than their user.
func TestElevated(t *testing.T) {
	b := newBench(t)
	b.env.UID = os.Getuid() + 1
	plain := b.compile("plain", "int main(void){return 0;}")
	b.check("", plain)
	set := b.compile("set", "int main(void){return 0;}")
	script := b.file("script", "#! "+set+" -x\n", 0o755)
	other := b.file("other", "#!/usr/bin/env set\n", 0o755)
	b.check("", script)
	mode := func(m os.FileMode) {
		t.Helper()
		if err := os.Chmod(set, m); err != nil {
			t.Fatal(err)
		}
	}
	mode(0o755 | os.ModeSetuid)
	for _, argv := range [][]string{{set}, {script}, {other}, {"env", "A=1", set}, {"nice", script}} {
		b.check("set: it has the setuid bit, so the loader ignores LD_PRELOAD; observe a copy without it (cp "+set+" DIR)", argv...)
	}
	b.env.UID = os.Getuid() // its owner has no more privileges
	b.check("", set)
	b.env.UID++
	mode(0o755 | os.ModeSetgid)
	b.check("", set) // a group that the test already has
	mode(0o755)
	b.file("env", "#!/bin/sh\n", 0o755|os.ModeSetuid) // the kernel ignores the bit of scripts
	b.check("", "env", plain)
	for text, want := range map[string]bool{"": false, "\x01\x00\x00\x02": false, "\x00\x00\x00\x02" + strings.Repeat("\x00", 16): false, "\x01\x00\x00\x02" + strings.Repeat("\x00", 16): true,
		"\x00\x00\x00\x02\x00\x20\x00\x00" + strings.Repeat("\x00", 12): true, "\x00\x00\x00\x02" + strings.Repeat("\x00", 8) + "\x40" + strings.Repeat("\x00", 7): true} {
		if got := capable([]byte(text)); got != want {
			t.Errorf("capabilities %q: %v", text, got)
		}
	}
	// Only root may write the attribute.
	if err := unix.Setxattr(set, "security.capability", []byte("\x01\x00\x00\x02\x00\x20\x00\x00"+strings.Repeat("\x00", 12)), 0); err != nil {
		t.Logf("no file capabilities: %v", err)
		return
	}
	b.check("set: it has file capabilities, so", set)
	b.env.UID = 0
	b.check("", set)
}

func TestLinked(t *testing.T) {
	b := newBench(t)
	openmpi, mpich := b.library("libmpi.so.40"), b.library("libmpich.so.12")
	direct := b.compile("direct", caller, openmpi, "-Wl,-rpath,$ORIGIN")
	p := b.check("", direct)
	if p.Linked == nil || p.Linked.Family != machine.OpenMPI {
		t.Fatalf("%+v", p)
	}
	// Through another library, as Fortran programs are.
	layer := b.compile("liblayer.so", "int MPI_Init(void); int layer(void){return MPI_Init();}", "-shared", "-fPIC", mpich, "-Wl,-soname,liblayer.so")
	far := b.compile("far", "int layer(void); int main(void){return layer();}", layer, "-Wl,--allow-shlib-undefined", "-Wl,-rpath-link,"+b.dir)
	b.env.Environ = append(b.env.Environ, "LD_LIBRARY_PATH="+b.dir)
	p = b.check("", far)
	if p.Linked == nil || p.Linked.Family != machine.MPICH {
		t.Fatalf("%+v", p)
	}
	if p.Linked.Lib != mpich {
		t.Errorf("%s, want %s", p.Linked.Lib, mpich)
	}

	fits := func(l machine.Launch, want, asked, text string) {
		t.Helper()
		err := p.Fits(l, want, machine.MPI{Family: asked, Impl: asked})
		if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
			t.Errorf("%v: want %q", err, text)
		}
	}
	fits(machine.Launch{Rank: -1}, "", "", "")
	fits(machine.Launch{Name: "hydra", Family: machine.MPICH}, "", "", "")
	fits(machine.Launch{Name: "slurm"}, "", "", "")
	fits(machine.Launch{Name: "orte", Family: machine.OpenMPI}, "", "", "started by Open MPI's mpirun")
	fits(machine.Launch{Rank: -1}, "--mpi openmpi", machine.OpenMPI, "and --mpi openmpi is Open MPI; leave --mpi out")
	fits(machine.Launch{Rank: -1}, "--mpi mpich", machine.MPICH, "")

	missing := b.compile("missing", caller, openmpi)
	b.env.Environ = b.env.Environ[:2]
	os.Remove(b.path("libmpi.so.40"))
	if p = b.check("", missing); p.Linked != nil && strings.HasPrefix(p.Linked.Lib, b.dir) {
		t.Errorf("%+v", p.Linked)
	}
}

func TestBetween(t *testing.T) {
	b := newBench(t)
	static := b.compile("static", "int main(void){return 0;}", "-static")
	script := b.file("script", "#!/bin/sh\n", 0o755)
	if p := b.check("", script); !p.Script {
		t.Errorf("%+v", p)
	}
	if p := b.check("", "env", "A=1", "B=/bin/sh", script, "-x"); p.Target != script || !p.Script || filepath.Base(p.Path) != "env" {
		t.Errorf("%+v", p)
	}
	b.check("statically", "env", "A=1", "nice", "-n", "5", "static")
	b.check("statically", "timeout", "-k", "1", "5", static)
	b.check("", "env")
	for _, words := range []string{"-i", "- A=1", "-i A=1 nice", "-u LD_PRELOAD", "--unset=LD_PRELOAD", "A=1 LD_PRELOAD=/x.so"} {
		argv := append(append([]string{"env"}, strings.Fields(words)...), script)
		b.check("it removes the agent from the environment", argv...)
	}
	b.check("", "env", "-u", "OTHER", script)
	b.check("", "env", "A=1", script, "-i")
	b.file("mpirun", "#!/bin/sh\n", 0o755)
	b.file("mpiexec.hydra", "#!/bin/sh\n", 0o755)
	b.check("this is a launcher", "mpirun", "-n", "4", script)
	b.check("this is a launcher", "env", "A=1", "mpiexec.hydra", script)
	b.check("", script, "mpirun")
}

func TestContainers(t *testing.T) {
	b := newBench(t)
	b.env.Environ = append(b.env.Environ, "PWD=/scratch/u")
	for _, name := range []string{"apptainer", "docker", "ch-run"} {
		b.file(name, "#!/bin/sh\n", 0o755)
	}
	bound := func(want, agent string, argv ...string) {
		t.Helper()
		p := b.check("", argv...)
		if p.Container == nil {
			t.Fatalf("%q: no container", argv)
		}
		err := p.Container.Bound(b.env, agent, "/scratch/u")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v: want %q", argv, err, want)
		}
	}
	bound("--bind /opt/mpitx/bin;", "/opt/mpitx/bin", "apptainer", "exec", "/images/a.sif", "./app")
	bound("", "/opt/mpitx/bin", "apptainer", "exec", "--bind", "/opt/mpitx,/data:/mnt", "/images/a.sif", "./app")
	bound("", "/opt/mpitx/bin", "apptainer", "exec", "--bind=/opt/mpitx/bin:/opt/mpitx/bin:ro", "/images/a.sif", "./app")
	bound("", "/home/u/mpitx/bin", "apptainer", "exec", "/images/a.sif", "./app")
	bound("-v /opt/mpitx/bin:/opt/mpitx/bin -v /scratch/u:/scratch/u --ipc=host -e LD_PRELOAD", "/opt/mpitx/bin", "env", "A=1", "docker", "run", "image", "./app")
	bound("--bind=/opt/mpitx/bin:/opt/mpitx/bin", "/opt/mpitx/bin", "ch-run", "--bind=/scratch", "/images/a", "--", "./app")
	if p := b.check("", "apptainer", "--version"); p.Container != nil {
		t.Errorf("%+v", p)
	}
}

// smallProgram is the smallest executable that is linked to an MPI: what the loader reads, and a symbol.
func smallProgram() []byte {
	le := binary.LittleEndian
	const strings = "\x00libmpi.so.40\x00$ORIGIN/../lib\x00PMPI_Init\x00"
	body := []byte("/lib64/ld-linux-x86-64.so.2\x00\x00\x00\x00\x00")
	parts := [][2]int{{64 + 3*56, len(body)}} // offset and size of interpreter, strings, dynamic section, symbols
	add := func(b []byte) {
		parts = append(parts, [2]int{64 + 3*56 + len(body), len(b)})
		body = append(body, b...)
	}
	add([]byte(strings))
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	var dynamic []byte
	for _, v := range []elf.DynTag{elf.DT_NEEDED, 1, elf.DT_RUNPATH, 14, elf.DT_STRTAB, elf.DynTag(parts[1][0]), elf.DT_STRSZ, elf.DynTag(parts[1][1]), elf.DT_NULL, 0} {
		dynamic = le.AppendUint64(dynamic, uint64(v))
	}
	add(dynamic)
	symbol := make([]byte, 48) // the first one is none
	le.PutUint32(symbol[24:], 29)
	symbol[28] = elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)
	add(symbol)
	names := []byte("\x00.shstrtab\x00")
	add(names)

	h := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	h = le.AppendUint16(le.AppendUint16(h, uint16(elf.ET_DYN)), uint16(elf.EM_X86_64))
	h = le.AppendUint32(h, 1)
	for _, v := range []int{0, 64, 64 + 3*56 + len(body)} {
		h = le.AppendUint64(h, uint64(v))
	}
	h = le.AppendUint32(h, 0)
	for _, v := range []uint16{64, 56, 3, 64, 5, 4} {
		h = le.AppendUint16(h, v)
	}
	for _, s := range []struct {
		kind elf.ProgType
		part [2]int
	}{{elf.PT_INTERP, parts[0]}, {elf.PT_LOAD, [2]int{0, 64 + 3*56 + len(body)}}, {elf.PT_DYNAMIC, parts[2]}} {
		h = le.AppendUint32(le.AppendUint32(h, uint32(s.kind)), uint32(elf.PF_R))
		for _, v := range []int{s.part[0], s.part[0], s.part[0], s.part[1], s.part[1], 8} {
			h = le.AppendUint64(h, uint64(v))
		}
	}
	h = append(h, body...)
	for _, s := range []struct {
		kind        elf.SectionType
		part        [2]int
		link, entry int
	}{{}, {elf.SHT_STRTAB, parts[1], 0, 0}, {elf.SHT_DYNAMIC, parts[2], 1, 16}, {elf.SHT_DYNSYM, parts[3], 1, 24}, {elf.SHT_STRTAB, parts[4], 0, 0}} {
		h = le.AppendUint32(le.AppendUint32(h, 0), uint32(s.kind))
		for _, v := range []int{0, s.part[0], s.part[0], s.part[1]} {
			h = le.AppendUint64(h, uint64(v))
		}
		h = le.AppendUint32(le.AppendUint32(h, uint32(s.link)), 0)
		h = le.AppendUint64(le.AppendUint64(h, 1), uint64(s.entry))
	}
	return h
}

// An input is a file, or nothing for our small program, and edits of it. Files that its paths name are not read, since only the file's
// own bytes are under test.
func FuzzELF(f *testing.F) {
	env := &machine.Env{Root: f.TempDir(), Arch: runtime.GOARCH, UID: 1000}
	small := smallProgram()
	seed, err := elf.NewFile(bytes.NewReader(small))
	if err != nil {
		f.Fatal(err)
	}
	if needed, err := seed.ImportedLibraries(); err != nil || len(needed) != 1 || needed[0] != "libmpi.so.40" {
		f.Fatalf("the seed needs %q: %v", needed, err)
	}
	if symbols, err := seed.DynamicSymbols(); err != nil || len(symbols) != 1 || symbols[0].Name != "PMPI_Init" {
		f.Fatalf("the seed has the symbols %v: %v", symbols, err)
	}
	f.Add([]byte{}, []byte{})
	f.Add([]byte{}, []byte("\x04\x20\x00\x05\x00"))
	f.Add([]byte{}, []byte("\x07\x80\x00\x00\x00"))
	f.Add([]byte("\x7fELF\x02\x01\x01"), []byte{})
	f.Fuzz(func(t *testing.T, data, script []byte) {
		if len(data) == 0 {
			data = small
		}
		file, err := elf.NewFile(bytes.NewReader(mutate.Bytes(data, script)))
		if err != nil {
			return
		}
		p := &Program{Path: "/program", Target: "/program"}
		p.elf(env, file)
	})
}

// An input is edits of a small program. Hiding its MPI functions in a copy changes only values of symbols, or nothing.
func FuzzHide(f *testing.F) {
	small := smallProgram()
	file, err := elf.NewFile(bytes.NewReader(small))
	if err != nil {
		f.Fatal(err)
	}
	symbol := small[file.SectionByType(elf.SHT_DYNSYM).Offset+24:]
	symbol[6], symbol[9] = 1, 0x10 // it is defined here
	if copied := slices.Clone(small); hide(copied, isMPI) != nil || bytes.Equal(copied, small) {
		f.Fatal("the seed's function is not hidden")
	}
	f.Add([]byte{})
	f.Add([]byte("\x02\x20\x00\x05\x00"))
	f.Add([]byte("\x04\x28\x02\x0b\x00"))
	f.Add([]byte("\x07\x80\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		image := mutate.Bytes(small, script)
		symbols, count := map[string]bool{}, 0
		if file, err := elf.NewFile(bytes.NewReader(image)); err == nil {
			addMPI(symbols, file)
			all, _ := file.DynamicSymbols()
			count = len(all)
		}
		hidden := slices.Clone(image)
		if err := hide(hidden, isMPI); err != nil {
			if !bytes.Equal(hidden, image) {
				t.Errorf("changed, and then %v", err)
			}
			return
		}
		changed := 0
		for i := range image {
			if hidden[i] != image[i] {
				changed++
			}
		}
		if len(hidden) != len(image) || changed > 8*count {
			t.Errorf("%d bytes changed for %d of %d symbols", changed, len(symbols), count)
		}
	})
}

// A compressed symbol table has no values in the file that could be changed.
func TestHideCompressed(t *testing.T) {
	image := smallProgram()
	le := binary.LittleEndian
	table := make([]byte, 24*100)
	for at := 24; at < len(table); at += 24 {
		le.PutUint32(table[at:], 29)
		table[at+6] = 1
	}
	var packed bytes.Buffer
	for _, v := range []uint64{uint64(elf.COMPRESS_ZLIB), uint64(len(table)), 8} {
		binary.Write(&packed, le, v)
	}
	z := zlib.NewWriter(&packed)
	z.Write(table)
	z.Close()
	header := image[int(le.Uint64(image[40:]))+3*64:]
	le.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED))
	le.PutUint64(header[24:], uint64(len(image)))
	le.PutUint64(header[32:], uint64(packed.Len()))
	image = append(image, packed.Bytes()...)
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	if all, err := file.DynamicSymbols(); err != nil || len(all) != 99 || all[98].Name != "PMPI_Init" {
		t.Fatalf("%d symbols, %v", len(all), err)
	}
	before := slices.Clone(image)
	if err := hide(image, isMPI); err == nil || !bytes.Equal(image, before) {
		t.Errorf("hidden: %v", err)
	}
}
