package symbols

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

// build compiles a source of testdata into an executable or a library; the words after the compiler are its options.
func build(t testing.TB, source, command string) string {
	t.Helper()
	words := strings.Fields(command)
	need.Commands(t, words[0])
	dir, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "calls")
	args := append(append([]string{"-Wl,--build-id"}, words[1:]...), "-o", target, filepath.Join(dir, source))
	if strings.HasSuffix(source, ".f90") {
		args = append(args, "-J", t.TempDir())
	}
	if out, err := exec.Command(words[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", words[0], args, err, out)
	}
	return target
}

// module is the module of a file that was loaded at an address.
func module(t testing.TB, path string, bias uint64) *Module {
	t.Helper()
	o, err := openObject(path)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	return &Module{Bias: bias, Path: path, BuildID: o.buildID}
}

// answer is a function and its place as addr2line prints them.
type answer struct{ function, file, line string }

// addr2line asks a program of that kind for the addresses of a file.
func addr2line(t testing.TB, program, path string, addresses []uint64) map[uint64][]answer {
	t.Helper()
	need.Commands(t, program)
	var in bytes.Buffer
	for _, a := range addresses {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd := exec.Command(program, "-a", "-f", "-i", "-e", path)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := map[uint64][]answer{}
	var at uint64
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "0x") {
			if at, err = strconv.ParseUint(s.Text(), 0, 64); err != nil {
				t.Fatal(err)
			}
			continue
		}
		a := answer{function: s.Text()}
		s.Scan()
		place, _, _ := strings.Cut(s.Text(), " (discriminator")
		i := strings.LastIndexByte(place, ':')
		a.file, a.line = place[:i], place[i+1:]
		answers[at] = append(answers[at], a)
	}
	return answers
}

// differences compares what Resolve says about the calls before the addresses with another program's answers.
func differences(t testing.TB, program, path string, addresses []uint64) (differ []string, named int) {
	t.Helper()
	const bias = 0x7f0000000000
	s := New(Options{})
	defer s.Close()
	m := module(t, path, bias)
	want := addr2line(t, program, path, addresses)
	for _, a := range addresses {
		frames := s.Resolve(m, bias+a+1)
		same := len(frames) == len(want[a])
		for i := 0; same && i < len(frames); i++ {
			same = frames[i].at(want[a][i]) && frames[i].is(want[a][i].function, frames[len(frames)-1].Symbol)
		}
		if !same {
			text := ""
			for _, f := range frames {
				text += fmt.Sprintf(" {%s %s %s:%d}", f.Function, f.Symbol, f.File, f.Line)
			}
			differ = append(differ, fmt.Sprintf("%#x:%s\n\t%s: %+v", a, text, program, want[a]))
		} else if frames[0].Line > 0 {
			named++
		}
	}
	return differ, named
}

func (f Frame) at(a answer) bool {
	if f.Line == 0 {
		return a.line == "?" || a.line == "0"
	}
	return strconv.Itoa(f.Line) == a.line && filepath.Clean(a.file) == filepath.Clean(f.File)
}

// is compares names. For inlined functions addr2line often prints the symbol that they are in.
func (f Frame) is(name, outermost string) bool {
	return name == f.Function || name == outermost || symbolName(name) == f.Function || strings.HasSuffix(f.Function, withoutTemplates(name))
}

// code lists the addresses that are in functions of .text.
func code(t testing.TB, path string) (addresses []uint64) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || f.Sections[s.Section].Name != ".text" {
			continue
		}
		for a := s.Value; a < s.Value+s.Size; a++ {
			if !seen[a] {
				seen[a] = true
				addresses = append(addresses, a)
			}
		}
	}
	return addresses
}

// Addresses of programs of several languages, compilers and kinds of debug information mean the same to addr2line.
func TestLikeAddr2line(t *testing.T) {
	for _, c := range []struct {
		source, command, program string
	}{
		{"calls.c", "gcc -g -O0", "addr2line"},
		{"calls.c", "gcc -g -O2", "addr2line"},
		{"calls.c", "gcc -gdwarf-4 -O2 -no-pie", "addr2line"},
		{"calls.c", "gcc -gdwarf-3 -O2 -ffunction-sections -Wl,--gc-sections", "addr2line"},
		{"calls.c", "gcc -gdwarf-2 -O1", "addr2line"},
		{"calls.c", "gcc -g -O3 -flto -shared -fPIC -DNO_MAIN", "llvm-addr2line"},
		{"calls.c", "gcc -g -gdwarf64 -O2", "llvm-addr2line"},
		{"calls.c", "gcc -g -O2 -gz", "addr2line"},
		{"calls.c", "gcc -g -O2 -gz=zlib-gnu", "llvm-addr2line"},
		{"calls.c", "clang -g -O0", "llvm-addr2line"},
		{"calls.c", "clang -g -O2", "llvm-addr2line"},
		{"calls.c", "clang -gdwarf-4 -O2", "addr2line"},
		{"calls.cc", "g++ -g -O0", "llvm-addr2line"},
		{"calls.cc", "g++ -g -O2", "addr2line"},
		{"calls.cc", "g++ -gdwarf-4 -O3 -fdebug-types-section -ffunction-sections", "addr2line"},
		{"calls.cc", "clang++ -g -O2", "llvm-addr2line"},
		{"calls.cc", "clang++ -gdwarf-4 -O1 -ffunction-sections", "addr2line"},
		{"calls.f90", "gfortran -g -O0", "addr2line"},
		{"calls.f90", "gfortran -g -O2", "addr2line"},
		{"calls.S", "gcc -g -shared", "addr2line"},
	} {
		t.Run(c.source+" "+c.command, func(t *testing.T) {
			t.Parallel()
			path := build(t, c.source, c.command)
			addresses := code(t, path)
			if n := len(addresses)/1000 + 1; n > 1 { // addr2line is slow
				addresses = slices.DeleteFunc(addresses, func(a uint64) bool { return a%uint64(n) != 0 })
			}
			differ, named := differences(t, c.program, path, addresses)
			for _, d := range differ[:min(len(differ), 10)] {
				t.Error(d)
			}
			if t.Failed() || named < 10 {
				t.Errorf("%d of %d addresses differ; %d have lines", len(differ), len(addresses), named)
			}
		})
	}
}

// Debug information that is compressed with zstd means the same as before.
func TestCompressedWithZstd(t *testing.T) {
	need.Commands(t, "objcopy")
	path := build(t, "calls.c", "gcc -g -O2")
	if out, err := exec.Command("objcopy", "--compress-debug-sections=zstd", path).CombinedOutput(); err != nil {
		need.Missing(t, "objcopy cannot compress with zstd: %s", out)
	}
	if differ, named := differences(t, "addr2line", path, code(t, path)); len(differ) > 0 || named < 10 {
		t.Errorf("%d differ, %d have lines: %v", len(differ), named, differ[:min(len(differ), 3)])
	}
}

// With split debug information, lines and functions are right, and a problem says that inlined functions are missing.
func TestSplitDebugInformation(t *testing.T) {
	for _, options := range []string{"-g -O2 -gsplit-dwarf", "-gdwarf-4 -O2 -gsplit-dwarf", "-g -O2"} {
		path := build(t, "calls.c", "gcc "+options)
		addresses := code(t, path)
		want, m, s := addr2line(t, "llvm-addr2line", path, addresses), module(t, path, 0), New(Options{})
		named, inlined := 0, 0
		for _, a := range addresses {
			frames, answers := s.Resolve(m, a+1), want[a]
			if first := frames[0]; !first.at(answers[0]) || frames[len(frames)-1].Symbol == "" {
				t.Errorf("%s: %#x: %+v, not %+v", options, a, frames, answers)
			} else if first.Line > 0 {
				named++
			}
			inlined += len(frames) - 1
		}
		split := strings.Contains(options, "split")
		problems := s.Problems()
		s.Close()
		if named < 10 || split != (inlined == 0) || split != slices.Contains(problems, Problem{path, splitProblem, false}) {
			t.Errorf("%s: %d addresses with lines, %d inlined frames, problems %v", options, named, inlined, problems)
		}
	}
}
