package qmpi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/machine"
)

func TestParse(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"liba.so", "b:c.so", "plain"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for given, want := range map[string]string{
		"liba.so": at("liba.so") + "|", "./liba.so:one": at("liba.so") + "|one", "b:c.so": at("b:c.so") + "|", "b:c.so:d": at("b:c.so") + "|d",
		"./plain": at("plain") + "|", "plain": "|plain", "inside": "|inside",
		"./nosuch": "--tool ./nosuch: there is no such file; give the path of the tool's shared library",
		"libx.so":  "--tool libx.so: there is no such file; give the path of the tool's shared library",
		"no:such":  "--tool no:such: there is no such file; give the path of the tool's shared library",
		"liba.so:": "--tool liba.so:: the library or the name is missing; write it as LIB:NAME",
		":one":     "--tool :one: the library or the name is missing; write it as LIB:NAME",
		"":         "--tool: a name is empty; name shared libraries, as in --tool ./liba.so",
	} {
		tools, err := Parse(&machine.Env{}, "--tool", []string{given})
		have := fmt.Sprint(err)
		if err == nil {
			have = tools[0].Path + "|" + tools[0].Name
		}
		if have != want {
			t.Errorf("%q: %s, want %s", given, have, want)
		}
	}
	if TooMany(make([]Tool, Most)) != nil || TooMany(make([]Tool, Most+1)) == nil {
		t.Errorf("the limit is not %d", Most)
	}
}

// library compiles a shared library, as a tool's mpicc would, but without an MPI.
func library(t *testing.T, name, source string, flags ...string) Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"-x", "c", "-", "-fPIC", "-o", path}, flags...)
	cmd := exec.Command("cc", args...)
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return Tool{From: "--tool " + name, Path: path}
}

const mark = `__attribute__((used, section(".mpitx.qmpi"))) static const char %s[] = "qmpi %s";`

// Tools that are built for something else are refused by their files.
func TestCheckFile(t *testing.T) {
	need.Commands(t, "cc")
	like := library(t, "like.so", "int x;", "-shared").Path
	calls := func(name string) string {
		return "int " + name + "(const char *, void *); __attribute__((constructor)) static void start(void) { " + name + `("a", 0); }`
	}
	ours := fmt.Sprintf(mark, "a", "1 openmpi") + calls("MPI_Register_tool_name")
	for _, c := range []struct {
		name, source string
		flags        string
		native       bool
		want         string
	}{
		{"good", ours, "-shared", false, ""},
		{"plain", calls("MPI_Register_tool_name"), "-shared", false, ""},
		{"other", fmt.Sprintf(mark, "a", "1 mpich"), "-shared", false, "it is compiled for MPICH, and app uses Open MPI; compile it with the mpicc of Open MPI"},
		{"mixed", fmt.Sprintf(mark, "a", "1 openmpi") + fmt.Sprintf(mark, "b", "1 abi"), "-shared", false, "it is compiled for an MPI with the standard ABI, and"},
		{"newer", fmt.Sprintf(mark, "a", "2 openmpi"), "-shared", false, "it is compiled with the qmpi.h of a newer mpitx (version 2 of the interface)"},
		{"native", calls("QMPI_Register_tool_name"), "-shared", false, "it is built for the QMPI of an MPI library (it calls QMPI_Register_tool_name); compile it with mpitx's qmpi.h"},
		{"native", calls("QMPI_Register_tool_name"), "-shared", true, ""},
		{"chain", ours, "-shared", true, "it is built for mpitx's chain of tools, not for the QMPI of the MPI library; leave --via out"},
		{"program", "int main(void) { return 0; }", "-pie", false, "this is not a shared library, but a program or an object file"},
		{"fixed", "int main(void) { return 0; }", "-no-pie", false, "this is not a shared library, but a program or an object file"},
		{"object", "int x;", "-c", false, "this is not a shared library, but a program or an object file"},
	} {
		tool := library(t, c.name, c.source, c.flags)
		if c.flags != "-shared" {
			tool.Path = filepath.Clean(tool.Path)
		}
		err := CheckFile(&machine.Env{}, tool, machine.OpenMPI, "app uses Open MPI", like, c.native)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "--tool "+c.name+": "+c.want)) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.so")
	good, _ := os.ReadFile(like)
	for what, data := range map[string][]byte{"": nil, "int x;": []byte("int x;"), "damaged": good[:40]} {
		if err := os.WriteFile(bad, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckFile(&machine.Env{}, Tool{From: "--tool bad", Path: bad}, "", "", like, false); err == nil {
			t.Errorf("a file with %q is accepted", what)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe.so")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "this is not a regular file", "/dev/null": "this is not a regular file", t.TempDir(): "this is a directory"} {
		if err := CheckFile(&machine.Env{}, Tool{From: "--tool bad", Path: path}, "", "", like, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	other := append([]byte{}, good...)
	other[18], other[19] = 183, 0 // e_machine: EM_AARCH64
	os.WriteFile(bad, other, 0o600)
	if err := CheckFile(&machine.Env{}, Tool{From: "--tool bad", Path: bad}, "", "", like, false); err == nil || !strings.Contains(err.Error(), "it is built for another processor (AARCH64)") {
		t.Errorf("another processor: %v", err)
	}
}

// What the child wrote decides, in the order of its steps.
func TestJudge(t *testing.T) {
	two := []Tool{{From: "--tool a", Path: "/a"}, {From: "--tool b:y", Path: "/b", Name: "y"}}
	for text, want := range map[string]string{
		"loading\t/a\nregistered\t/a\tx\nloading\t/b\nregistered\t/b\tx\nregistered\t/b\ty\ntool\t1\tx\t/a\nfunction\t1\tMPI_Send\ntool\t2\ty\t/b\ndone\n": "",
		"":                                      "load the tools: mpitx does not answer",
		"error\tlibmpi.so: cannot open\ndone\n": "load the tools: libmpi.so: cannot open",
		"loading\t/a\n":                         "--tool a: it crashes (SIGSEGV) while it is loaded; debug it with",
		"loading\t/a\nmpi\tMPI_Comm_rank\n":     "--tool a: it crashes (SIGSEGV) while it is loaded, in MPI_Comm_rank; MPI is not initialized",
		"loading\t/a\nmpi\tMPI_Comm_rank\nloading\t/b\n":                                   "--tool b:y: it crashes (SIGSEGV) while it is loaded; debug",
		"loading\t/a\nregistered\t/a\tx\nloading\t/b\nregistered\t/b\ty\ntool\t1\tx\t/a\n": "--tool a: it crashes (SIGSEGV) in the initialization of x; debug",
		"loading\t/a\nerror\t/a: undefined symbol: f\ndone\n":                              "--tool a: it cannot be loaded: undefined symbol: f; compile it again",
		"loading\t/a\nloading\t/b\nregistered\t/b\ty\ndone\n":                              "--tool a: it does not register a tool; call MPI_Register_tool_name",
		"loading\t/a\nregistered\t/a\tx\nregistered\t/a\tz\nloading\t/b\ndone\n":           "--tool a: it registers several tools: x, z; choose one, as in --tool a:x",
		"loading\t/a\nregistered\t/a\tx\nloading\t/b\nregistered\t/b\tx\ndone\n":           "--tool b:y: it does not register the tool y; it registers x",
		"loading\t/a\nregistered\t/a\tx\nloading\t/b\ndo":                                  "--tool b:y: it crashes (SIGSEGV) while it is loaded",
	} {
		a := parse(text)
		a.died = "it crashes (SIGSEGV)"
		tools := append([]Tool{}, two...)
		err := a.judge(tools)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
		if want == "" && (tools[0].Name != "x" || len(a.instances) != 2 || a.instances[0].Functions[0] != "MPI_Send") {
			t.Errorf("%+v %+v", tools, a)
		}
	}
}

// MPICH knows tools by their names alone.
func TestJudgeNames(t *testing.T) {
	a := parse("loading\t/a\nregistered\t/a\tx\nregistered\t/a\tp:q\nloading\t/b\nregistered\t/b\tx\nregistered\t/b\ty\ndone\n")
	for name, want := range map[string]string{
		"y":   "",
		"x":   "--tool l: /b registers the tool x, too, and MPICH does not distinguish them",
		"p:q": "--tool l: its name, p:q, contains a colon",
	} {
		path := "/a"
		if name == "y" {
			path = "/b"
		}
		err := a.judgeNames([]Tool{{From: "--tool l", Path: path, Name: name}, {From: "--tool inside", Name: "inside"}})
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
