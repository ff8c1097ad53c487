package selftest

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tool is the configuration for a tool of a library.
func tool(library, name string) []string { return []string{"tool=" + library, "tool_name=" + name} }

func (f *family) lifeTool(t *testing.T) string {
	return f.compile(t, "mpicc", "life_tool.c", "-shared", "-fPIC", "-lpthread")
}

// has checks that the agent has noted something.
func (r result) has(t *testing.T, note string) {
	t.Helper()
	if !strings.Contains(r.notes, note) {
		t.Errorf("no note %q in\n%s", note, r.notes)
	}
}

// Tools see calls before MPI_Init, in it and after MPI_Finalize, and functions that return no error code; not their own calls, and none
// of a forked child.
func TestToolsFromStartToEnd(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		program, library := f.compile(t, "mpicc", "life.c", "-ldl", "-lpthread"), f.lifeTool(t)
		seen := []string{"Initialized", "T_init_thread", "Init", "Wtime", "Wtick", "Wtime"}
		if f.name == "mpich" {
			seen = append(seen, "Aint_add") // a macro in Open MPI, which has no such function
		}
		seen = append(seen, "File_c2f")
		want := "1 life\n2 life\n"
		for _, name := range seen {
			want += "1 " + name + "\n2 " + name + "\n"
		}
		want += "1 Send\n2 Comm_rank\n2 Send\n1 Comm_rank\n2 Comm_rank\n1 Finalize\n2 Finalize\n1 Finalized\n2 Finalized\nsymbols 1\n"
		r := f.run(t, job{config: append(append(tool(library, "life"), tool(library, "life")...), "null=count")}, program)
		if r.code != 0 || r.stdout != want {
			t.Errorf("exit code %d, %s\n%s\nwant\n%s", r.code, r.stderr, r.stdout, want)
		}
		counts := map[string]string{"MPI_Init": "1", "MPI_Irecv": "1", "MPI_Send": "1", "MPI_Wait": "1", "MPI_Comm_rank": "1", "MPI_Finalize": "1"}
		r.only(t, counts)
		r.has(t, "null: 6 calls entered, 6 left")
		f.run(t, job{config: append(tool(library, "life"), "variable=mpitx:calls")}, program).want(t, map[string]string{"mpitx:calls": "6"})
		// Without tools the program finds none of their symbols, and counts are the same.
		r = f.run(t, job{}, program)
		if r.code != 0 || r.stdout != "symbols 0\n" {
			t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
		}
		r.only(t, counts)
	})
}

// Init callbacks run once, before the first call of any thread.
func TestFirstCallsOfThreads(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		r := f.run(t, job{config: tool(f.lifeTool(t), "life"), env: []string{"SLOW=1"}}, f.compile(t, "mpicc", "life.c", "-ldl", "-lpthread"), "threads")
		if want := "1 life\n" + strings.Repeat("1 Initialized\n", 8); r.code != 0 || r.stdout != want {
			t.Errorf("exit code %d, %s%s, want\n%s", r.code, r.stdout, r.stderr, want)
		}
	})
}

// The Fortran interface's conversions are not the program's, nor are they those of a tool.
func TestToolsAndFortran(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		r := f.run(t, job{ranks: 1, config: tool(f.lifeTool(t), "life")}, f.compile(t, "mpif90", "f90.f90"))
		lines := slices.DeleteFunc(strings.Split(r.stdout, "\n"), func(line string) bool { return !strings.HasPrefix(line, "1 ") })
		if want := "1 life 1 Init" + strings.Repeat(" 1 Comm_rank", 5) + " 1 Finalize"; strings.Join(lines, " ") != want {
			t.Errorf("exit code %d, %s%s, want %s", r.code, r.stdout, r.stderr, want)
		}
	})
}

// A program that loads MPI later has its tools from its first call on.
func TestToolsLoadedLater(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		plugin, loader := f.compile(t, "mpicc", "plain.c", "-shared", "-fPIC", "-DPLUGIN"), filepath.Join(work, f.name+"-loader")
		cc(t, loader, "testdata/loader.c", "-ldl")
		want := "1 life\n1 Init\n" + strings.Repeat("1 Comm_rank\n", 10) + strings.Repeat("1 Send\n", 3) + "done\n1 Finalize\n"
		r := f.run(t, job{ranks: 1, config: tool(f.lifeTool(t), "")[:1], wrapper: []string{"/bin/sh", "-c", `"$@"`, "sh"}}, loader, plugin)
		r.has(t, "it registers 3 tools; choose one by its name")
		r = f.run(t, job{ranks: 1, config: tool(f.lifeTool(t), "life"), wrapper: []string{"/bin/sh", "-c", `"$@"`, "sh"}}, loader, plugin)
		if r.code != 0 || r.stdout != want {
			t.Errorf("exit code %d, %s%s, want\n%s", r.code, r.stdout, r.stderr, want)
		}
		r.want(t, map[string]string{"MPI_Send": "3"})
	})
}

// Wrong registrations are errors for the tool and notes of the run.
func TestWrongRegistrations(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library, program := f.lifeTool(t), f.compile(t, "mpicc", "plain.c")
		r := f.run(t, job{ranks: 1, config: tool(library, "wrong")}, program)
		if !strings.HasPrefix(r.stdout, "wrong: 1 1 1 1, right: 1 1\nlate: 1 1\n") || r.code != 0 {
			t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
		}
		r.has(t, "tool wrong: it registered function number 745, which does not exist")
		r.has(t, "tool wrong: it registered MPI_Comm_rank more than once")
		r = f.run(t, job{ranks: 1, config: append(tool(library, "nobody"), tool("/nowhere.so", "")...)}, program)
		r.has(t, "tool nobody: skipped: "+library+" registers no tool of this name")
		r.has(t, "tool /nowhere.so: skipped: cannot open shared object file")
		r.want(t, map[string]string{"MPI_Send": "3"})
		var seventeen []string
		for range 17 {
			seventeen = append(seventeen, tool(library, "none")...)
		}
		f.run(t, job{ranks: 1, config: seventeen}, f.compile(t, "mpicc", "life_only.c")).has(t, "there are more than 16")
	})
}

// If a tool keeps MPI_Init from the library, the agent starts nothing. The result is the tool's.
func TestToolWithoutNext(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		if f.name == "mpich" { // Open MPI 4 has no sessions
			r := f.run(t, job{config: append(tool(f.lifeTool(t), "none"), "null=count")}, f.compile(t, "mpicc", "life_only.c", "-DSESSION"))
			if r.code != 0 || r.stdout != "1 MPI_Session_init without the library\n" {
				t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
			}
			r.has(t, "nothing is recorded: a tool returned from MPI_Session_init without calling the next function")
		}
		r := f.run(t, job{config: append(tool(f.lifeTool(t), "none"), "null=count")}, f.compile(t, "mpicc", "life_only.c"))
		if r.code != 0 || r.stdout != "1 MPI_Init without the library\n" {
			t.Errorf("exit code %d, %s%s", r.code, r.stdout, r.stderr)
		}
		r.has(t, "nothing is recorded: a tool returned from MPI_Init without calling the next function")
	})
}

// A call that a tool does not pass on does not reach the library. The application gets the tool's answer, and the call counts.
func TestToolThatAnswers(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library := f.compile(t, "mpicc", "swallow.c", "-DTOOL", "-shared", "-fPIC")
		r := f.run(t, job{ranks: 1, config: tool(library, "")}, f.compile(t, "mpicc", "swallow.c"))
		if r.code != 0 || r.stdout != "77\n" {
			t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		r.want(t, map[string]string{"MPI_Send": "1", "MPI_Finalize": "1"})
	})
}

// A call that a tool leaves by an exception is abandoned.
func TestThrowingTool(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library := f.compile(t, "mpicxx", "throwing_tool.cc", "-shared", "-fPIC")
		r := f.run(t, job{ranks: 1, config: tool(library, "")}, f.compile(t, "mpicxx", "exception.cc"))
		if r.code != 0 || r.stdout != "left\nleft\n" {
			t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
		r.want(t, map[string]string{"MPI_Send": "2 nested 0 abandoned 2", "MPI_Comm_rank": "2", "MPI_Finalize": "1"})
	})
}

// Tools that the application links are chosen by their names.
func TestLinkedTools(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library := qmpi(t)
		program := f.compile(t, "mpicc", "linked_tool.c", library, "-Wl,-rpath,"+filepath.Dir(library))
		for want, names := range map[string][]string{"1 two\n2 one\n": {"two", "one"}, "1 one\n2 one\n": {"one", "one"}, "": nil} {
			var config []string
			for _, name := range names {
				config = append(config, tool("", name)...)
			}
			if r := f.run(t, job{ranks: 1, config: config}, program); r.code != 0 || r.stdout != want {
				t.Errorf("%v: exit code %d: %q %s", names, r.code, r.stdout, r.stderr)
			}
		}
	})
}

// The check of tools writes what they register and do, and runs nothing else.
func TestCheckTools(t *testing.T) {
	onEach(t, func(t *testing.T, f *family) {
		library := f.lifeTool(t)
		config := append(append([]string{"check_tools=1", "library=" + f.path(t), "qmpi=" + qmpi(t)}, tool(library, "life")...), tool(library, "wrong")...)
		command := exec.Command("/bin/echo", "main")
		command.Env = []string{"LD_PRELOAD=" + f.agent, "MPITX_AGENT=" + strings.Join(append(config, tool("/nowhere.so", "")...), "\n")}
		output, err := command.Output()
		if err != nil {
			t.Fatal(err)
		}
		text := string(output)
		head := "loading\t" + library + "\nregistered\t" + library + "\tlife\nregistered\t" + library + "\tnone\nregistered\t" + library + "\twrong\n" +
			"loading\t" + library + "\nloading\t/nowhere.so\nerror\tcannot open shared object file: No such file or directory\n" +
			"tool\t1\tlife\t" + library + "\n1 life\nmpi\tMPI_Initialized\nfunction\t1\tMPI_Init\n"
		tail := "tool\t2\twrong\t" + library + "\nunknown\t2\t745\nfunction\t2\tMPI_Comm_rank\ntwice\t2\tMPI_Comm_rank\nwrong: 1 1 1 1, right: 1 1\ndone\n"
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("%s\nwant\n%s…\n%s", text, head, tail)
		}
	})
}
