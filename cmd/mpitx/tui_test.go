//go:build cgo && linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/fixtures/need"
	"mpitx/ui/explorer"
	"mpitx/ui/link"
)

func snapshotFile(t *testing.T) string {
	path, err := filepath.Abs("../../fixtures/snapshots/openmpi-4.1.4.json")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExplorerOffline(t *testing.T) {
	environ := testEnvironment(t)
	s := onScreen(t, environ, "mpitx tui --from "+snapshotFile(t))
	s.until("openmpi-4.1.4.json", "1282 cvars", "ompi_coll", "allocator")
	s.keys("/", "bcast alg", "Enter")
	s.until("search: bcast alg", "coll_tuned_bcast_algorithm", "1 of 14")
	s.keys("j", "y")
	s.until("copied coll_tuned_bcast_algorithm")
	for end := time.Now().Add(hung); ; time.Sleep(20 * time.Millisecond) {
		buffer, _ := exec.Command("tmux", "-S", s.socket, "show-buffer").CombinedOutput()
		if string(buffer) == "coll_tuned_bcast_algorithm" {
			break
		} else if time.Now().After(end) {
			t.Fatalf("copied: %q", buffer)
		}
	}
	s.keys("c")
	s.until("!search:", "coll_tuned")
	s.keys("[")
	s.until("search: bcast alg")
	s.tmux("resize-window", "-x", "80", "-y", "24")
	s.until("2 of 14", "────")
	s.tmux("resize-window", "-x", "20", "-y", "5")
	s.until("mpitx needs 40x10")
	s.tmux("resize-window", "-x", "120", "-y", "40")
	s.until("search: bcast alg")
	s.keys("C-z")
	s.until("cannot suspend: no job-control shell started mpitx")
	s.keys("?")
	s.until("search names, descriptions and purposes")
	s.keys("Escape")
	s.until("!search names, descriptions and purposes")
	s.keys("q")
	s.restored("0")
}

// The difference of two snapshots on a terminal; what cannot be read is said before a screen opens.
func TestExplorerDiff(t *testing.T) {
	environ := testEnvironment(t)
	a := snapshotFile(t)
	b := filepath.Join(filepath.Dir(a), "openmpi-6.0.0rc2.json")
	s := onScreen(t, environ, "mpitx tui --diff "+a+" "+b)
	s.until("openmpi-4.1.4.json", "openmpi-6.0.0rc2.json", "differences", "coll_han_priority")
	s.keys("/", "han_priority", "Enter")
	s.until("1 of 1", "the coll component with the highest priority", "35")
	s.keys("q")
	s.restored("0")
	s = onScreen(t, environ, "mpitx tui --diff mpi:demo "+a)
	s.until("mpi:demo", "differences", "vanished")
	s.keys("q")
	s.restored("0")
	if out, p := onTerminal(t, environ, 80, "mpitx", "tui", "--diff", a, "no-such.json"); p.code != cli.ExitFailed || !strings.Contains(out, "no-such.json: there is no such file") || strings.Contains(out, "\x1b") {
		t.Errorf("code %d, %q", p.code, out)
	}
}

func TestExplorerSignal(t *testing.T) {
	s := onScreen(t, testEnvironment(t), "mpitx tui --from "+snapshotFile(t))
	s.until("1282 cvars", "allocator")
	syscall.Kill(s.program(), syscall.SIGTERM)
	s.restored("1")
	if shown := s.until("ended"); !strings.Contains(shown, "ended by a signal") {
		t.Errorf("nothing is said of the signal:\n%s", shown)
	}
}

// The program of TestExplorerPanic.
func init() {
	o := explorer.Options{Source: "a test", Load: func() (*catalog.Catalog, error) {
		return &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "name"}}}}, nil
	}}
	switch os.Getenv("MPITX_TEST_PANIC") {
	case "":
		return
	case "drawing":
		o.HowToSet = func(*catalog.Catalog, []explorer.Setting) []string { panic("here it is") }
	case "command":
		o.Load = func() (*catalog.Catalog, error) { panic("here it is") }
	case "goroutine":
		o.Start = func(context.Context, []string, []string) (link.Backend, error) { return panicking{}, nil }
	}
	if err := explorer.Run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// panicking is a back end whose catalog, which is waited for in a goroutine, panics.
type panicking struct{ link.Backend }

func (panicking) Events() <-chan link.Event { return nil }
func (panicking) Close() error              { return nil }
func (panicking) Catalog(context.Context, func(string)) (*catalog.Catalog, error) {
	panic("here it is")
}

// After a panic in any goroutine the terminal is restored, and the user gets a message.
func TestExplorerPanic(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"drawing", "command", "goroutine"} {
		t.Run(where, func(t *testing.T) {
			s := onScreen(t, append(os.Environ(), "MPITX_TEST_PANIC="+where), exe)
			s.until("ended 1", "a defect in mpitx ended it")
			s.restored("1")
		})
	}
}

// explorerInShell is the explorer on its fourth variable, in a job-control shell. wrapper is the shell's command, with %s for the
// explorer's command.
func explorerInShell(t *testing.T, wrapper string) *screen {
	t.Helper()
	s := onScreen(t, append(testEnvironment(t), "PS1=shell: "), "sh -i")
	s.until("shell:")
	s.keys(fmt.Sprintf(wrapper, "mpitx tui --from "+snapshotFile(t)), "Enter")
	s.until("1282 cvars", "allocator")
	s.keys("j", "j", "j")
	s.until("4 of 1377")
	return s
}

// ctrl+z and SIGTSTP stop the explorer as they stop other programs: the shell gets the terminal, and fg restores the screen.
func TestExplorerStop(t *testing.T) {
	s := explorerInShell(t, "%s")
	for _, stop := range []func(){
		func() { s.keys("C-z") },
		func() { syscall.Kill(s.child(s.program()), syscall.SIGTSTP) },
	} {
		stopped(s, stop)
	}
	s.keys("q")
	s.until("shell:", "!allocator")
	s.keys("echo it ended $?", "Enter")
	s.until("it ended 0")
	s.plain()
}

// stopped stops the explorer. The shell has the terminal until fg brings the explorer back.
func stopped(s *screen, stop func()) {
	stop()
	s.until("shell:", "!allocator")
	s.plain()
	s.keys("echo it is $((6*7))", "Enter")
	s.until("it is 42")
	s.keys("clear; fg", "Enter")
	s.until("4 of 1377", "allocator", "!42")
}

// ctrl+z also stops the wrappers that started the explorer, since the shell waits for them.
func TestExplorerStopsWrappers(t *testing.T) {
	for _, wrapper := range []string{"timeout --foreground 300 %s", "sh -c '%s; true'", "sh -c 'timeout --foreground 300 %s; true'"} {
		s := explorerInShell(t, wrapper)
		for range 2 {
			stopped(s, func() { s.keys("C-z") })
		}
		s.keys("q")
		s.until("shell:", "!allocator")
		s.plain()
	}
}

// SIGSTOP leaves no time to restore the terminal. After SIGCONT the explorer draws everything again.
func TestExplorerStoppedFromOutside(t *testing.T) {
	s := explorerInShell(t, "%s")
	syscall.Kill(s.child(s.program()), syscall.SIGSTOP)
	s.until("shell:")
	s.tmux("send-keys", "-R") // what was on the terminal is gone, and its modes
	s.until("!allocator")
	s.keys("fg", "C-j")
	s.until("4 of 1377", "allocator")
	s.keys("j")
	s.until("5 of 1377")
	s.keys("q")
	s.until("!allocator")
	s.plain()
}

// If the terminal closes, the explorer and its back ends exit.
func TestExplorerHangup(t *testing.T) {
	s := onScreen(t, testEnvironment(t), "mpitx tui -n 2 --mpi demo")
	s.until("all variables", "2 ranks")
	pids := []int{s.program()}
	for i := 0; i < len(pids); i++ {
		children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pids[i])) // each thread has its own
		for _, file := range children {
			text, _ := os.ReadFile(file)
			for _, word := range strings.Fields(string(text)) {
				pid, _ := strconv.Atoi(word)
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) < 3 {
		t.Fatalf("processes %v", pids)
	}
	s.tmux("kill-server")
	for _, pid := range pids {
		for end := time.Now().Add(40 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || strings.Contains(string(stat), ") Z ") {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("still there: %s", stat)
			}
		}
	}
}

func TestExplorerRefusals(t *testing.T) {
	environ := testEnvironment(t)
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"tui", "--from", snapshotFile(t)}, cli.ExitUsage, "is not a terminal; mpitx list prints the same"},
		{[]string{"tui", "--diff", "a.json", "b.json"}, cli.ExitUsage, "is not a terminal; mpitx diff prints the same"},
		{[]string{"tui", "--diff", "a.json"}, cli.ExitUsage, "tui --diff: name two sides, such as"},
		{[]string{"tui", "--diff", "a.json", "b.json", "c"}, cli.ExitUsage, `name two sides only, and leave "c" out`},
		{[]string{"tui", "--diff", "a.json", "-"}, cli.ExitUsage, "the explorer reads its keys from standard input"},
		{[]string{"tui", "a.json", "b.json"}, cli.ExitUsage, "takes no arguments"},
		{[]string{"tui", "-n", "0"}, cli.ExitUsage, "at least 1"},
		{[]string{"tui", "--from", "x", "-n", "2"}, cli.ExitUsage, "--from reads a file"},
		{[]string{}, cli.ExitDone, "Usage:"},
	} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx"}, c.args...)...)
		p.run(30 * time.Second)
		if p.code != c.code || !strings.Contains(p.output(), c.want) {
			t.Errorf("mpitx %v: code %d\n%s", c.args, p.code, p.output())
		}
	}
	for command, want := range map[string]string{
		"TERM=dumb mpitx tui --mpi demo":          "mpitx: tui: TERM is dumb: nothing can be drawn on this terminal; mpitx list prints the same",
		"mpitx tui --mpi demo < /dev/null":        "mpitx: tui: standard input is not a terminal; mpitx list prints the same",
		"mpitx top . 2>&1 | cat; test $? = 0; :":  "mpitx: top: standard output is not a terminal; mpitx report RUN prints tables",
		"TERM=dumb mpitx top .; test $? = 2 && :": "mpitx: top: TERM is dumb: nothing can be drawn on this terminal; mpitx report RUN prints tables",
	} {
		onScreen(t, environ, command).until(want, "ended")
	}
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.json")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for file, why := range map[string]string{"no-such-file.json": "no such file; mpitx snapshot -o FILE writes one", dir: "it is a directory, not a snapshot",
		empty: "the file is empty, not a snapshot"} {
		if out, p := onTerminal(t, environ, 80, "mpitx", "tui", "--from", file); p.code != 1 || !strings.Contains(strings.Join(strings.Fields(out), " "), "--from "+file+": "+why) || strings.Contains(out, "\x1b") {
			t.Errorf("--from %s: code %d, %q, want %q and no screen", file, p.code, out, why)
		}
	}
}

// backends are the descendants of a process that have loaded MPI.
func backends(pid string) (found []int) {
	tasks, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, path := range tasks {
		children, _ := os.ReadFile(path)
		for _, child := range strings.Fields(string(children)) {
			if args, _ := os.ReadFile("/proc/" + child + "/cmdline"); strings.Contains(string(args), "\x00backend\x00after") {
				n, _ := strconv.Atoi(child)
				found = append(found, n)
			}
			found = append(found, backends(child)...)
		}
	}
	return found
}

// TestExplorerLive edits, watches, loses its back end and quits, with four ranks of each real library.
func TestExplorerLive(t *testing.T) {
	for family, c := range map[string]struct{ first, edit, old, keys, value, watch, workload string }{
		"openmpi": {" ompi  ", "coll_tuned_bcast_algorithm", "ignore", "Down", "basic_linear", "pml_ob1_unexpected_msgq_length:size", "unexpected"},
		"mpich":   {" CH3  ", "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE", "2048", "C-u 4096", "4096", "MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE", "pingpong"},
	} {
		t.Run(family, func(t *testing.T) {
			if ok, err := have(family); err != nil {
				t.Fatal(err)
			} else if !ok {
				need.Missing(t, "%s is not installed", family)
			}
			s := onScreen(t, testEnvironment(t), "mpitx tui -n 4 --mpi "+family)
			s.until("4 ranks", "all variables")
			s.keys("h", "j", "l") // browse
			for end := time.Now().Add(40 * time.Second); !strings.HasPrefix(strings.Split(s.until("all variables"), "\n")[1], c.first); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("not in the first branch:\n%s", s.until(""))
				}
			}
			s.keys("/", c.edit, "Enter")
			s.until("search: "+c.edit, "1 of ", c.old)
			s.keys("c") // its category
			s.until("!search:", c.edit, c.old)
			s.keys("e")
			s.until("Esc cancels")
			s.keys(strings.Fields(c.keys)...)
			s.keys("Enter")
			s.until("Write this on all 4 ranks?")
			s.keys("y")
			s.until("ranks 0-3: ok: was " + c.old + ", reads back " + c.value)
			s.keys("Escape")
			s.until("!reads back")
			s.keys(":workload "+c.workload, "Enter")
			s.until("workload " + c.workload)
			s.keys(":watch "+c.watch, "Enter")
			s.until(c.watch, "sum of 4 ranks")
			if family == "mpich" {
				s.until("16.4k")
			} else {
				first := s.until("0│")
				for end := time.Now().Add(hung); curve(first) == curve(s.until("0│")); time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("nothing moves")
					}
				}
			}
			s.keys("Escape")
			s.until("!sum of 4 ranks")
			s.keys("u")
			s.until("ranks 0-3: ok: was " + c.value + ", reads back " + c.old)
			s.keys("Escape")
			if family == "mpich" { // which has no performance variables: what was undone is seen to move
				s.until("!reads back")
				s.keys("w")
				s.until("sum of 4 ranks", "8.19k")
				s.keys("q")
				s.until("!sum of 4 ranks")
			}
			all := backends(strconv.Itoa(s.program()))
			if len(all) != 4 {
				t.Fatalf("%d back ends for four ranks", len(all))
			}
			syscall.Kill(all[2], syscall.SIGKILL)
			s.until("BACK END LOST", "R restart")
			s.keys("R")
			s.until("!BACK END LOST", "all variables")
			s.keys("q")
			s.restored("0")
		})
	}
}

// TestExplorerStages sets variables for the next run, restarts four ranks of each real library with them, and saves a script with which
// they arrive in a run of mpirun.
func TestExplorerStages(t *testing.T) {
	for family, c := range map[string]struct {
		first, why, value       string // read at the start
		second, needs, question string // its value is typed; what it needs
		launcher                []string
		arrives                 []string
	}{
		"openmpi": {"btl_vader_eager_limit", "it is read once, in MPI_Init", "8192",
			"coll_tuned_bcast_algorithm=binomial", "coll_tuned_use_dynamic_rules", "b sets both for the next run, also coll_tuned_use_dynamic_rules=true",
			[]string{"mpirun.openmpi", "--oversubscribe", "-n", "4"},
			[]string{"btl_vader_eager_limit,8192", "coll_tuned_bcast_algorithm,binomial", "coll_tuned_use_dynamic_rules,true"}},
		"mpich": {"MPIR_CVAR_DEFAULT_THREAD_LEVEL", "a write has no effect", "MPI_THREAD_MULTIPLE",
			"MPIR_CVAR_CHOP_ERROR_STACK=80", "MPIR_CVAR_PRINT_ERROR_STACK", "b writes both, also MPIR_CVAR_PRINT_ERROR_STACK=1",
			[]string{"mpirun.mpich", "-n", "4"},
			[]string{"MPIR_CVAR_CHOP_ERROR_STACK,80", "MPIR_CVAR_PRINT_ERROR_STACK,1"}},
	} {
		t.Run(family, func(t *testing.T) {
			if ok, err := have(family); err != nil {
				t.Fatal(err)
			} else if !ok {
				need.Missing(t, "%s is not installed", family)
			}
			environ := testEnvironment(t)
			s := onScreen(t, append(slices.Clone(environ), "MPIR_CVAR_PRINT_ERROR_STACK=0"), "mpitx tui -n 4 --mpi "+family)
			s.until("4 ranks", "all variables")
			s.keys(":show "+c.first, "Enter")
			s.until("SCOPE", c.first)
			s.keys("e")
			s.until(c.why, "next run", "Enter sets it for the next run")
			s.keys("C-u", c.value, "Enter")
			s.until("for the next run: "+c.first+"="+c.value, "NEXT RUN 1: R", "next run  "+c.value)
			s.keys(":write "+c.second, "Enter")
			s.until("Write this on all 4 ranks?", c.question)
			s.keys("Escape")
			s.until("!Write this")
			s.keys(":stage "+c.second, "Enter")
			s.until("for the next run: "+c.second, "which it needs, "+c.needs, "NEXT RUN 3: R")
			s.keys("R")
			s.until("4 ranks", "all variables", "!NEXT RUN")
			s.keys(":show "+c.needs, "Enter")
			s.until("R, in the environment: ")
			s.keys("C")
			s.until("my changes, for the next run", c.first, "next run, needed by ")
			file := filepath.Join(t.TempDir(), "next.sh")
			s.keys("X")
			s.until(":export")
			s.keys("C-u", "export "+file, "Enter")
			s.until("saved the environment script")
			s.keys("q")
			s.until("all variables")
			s.keys("q")
			s.restored("0")

			read := append(c.launcher, "mpitx", "read", "-o", "csv", "--fields", "name,value")
			for _, a := range c.arrives {
				name, _, _ := strings.Cut(a, ",")
				read = append(read, name)
			}
			p := newProcess(slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "MPITX_MPI=") }), t.TempDir(),
				"sh", "-c", ". "+file+"; exec "+strings.Join(read, " "))
			p.run(60 * time.Second)
			for _, a := range c.arrives {
				if !strings.Contains(p.output(), a+"\n") {
					t.Errorf("%s does not arrive: code %d\n%s", a, p.code, p.output())
				}
			}
		})
	}
}

// A failed MPI_Init is seen, with the reason, and nothing seems to be writable.
func TestExplorerFailedInit(t *testing.T) {
	// As the libraries print them. Open MPI loses its message if the daemon of a process without mpirun is slow: TestInitReason has it.
	reasons := map[string]string{"demo": "in: MPI_Init", "openmpi": "ONLY BEFORE MPI_Init", "mpich": "MPIDI_"}
	for family, failure := range map[string][]string{
		"demo":    {"FAKEMPI_FAULTS=abort-init"},
		"openmpi": {"OMPI_MCA_pml=nosuch"},
		"mpich":   {"UCX_TLS=nosuch", "FI_PROVIDER=nosuch"},
	} {
		t.Run(family, func(t *testing.T) {
			if ok, err := have(family); family != "demo" && err != nil {
				t.Fatal(err)
			} else if family != "demo" && !ok {
				need.Missing(t, "%s is not installed", family)
			}
			s := onScreen(t, append(testEnvironment(t), failure...), "mpitx tui --mpi "+family)
			s.until("MPI is not available, read-only (R restarts, L shows more): ", reasons[family], "no: MPI is not available", "!writable  yes")
			s.keys("e")
			s.until("MPI is not available: nothing can be read or written; R restarts the back end")
			s.keys("R")
			s.until("!nothing can be read or written", "MPI is not available, read-only")
			s.keys("q")
			s.restored("0")
		})
	}
}

// A rank that hangs in a read is shown as not answering; the others answer, and it all ends when the user wants it to.
func TestExplorerHang(t *testing.T) {
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=hang-read=demo_eager_limit@2/itself")
	s := onScreen(t, environ, "mpitx tui -n 4")
	s.until("4 ranks", "all variables")
	s.keys(":read demo_eager_limit", "Enter")
	s.until("SILENT: r2") // said by the reading, and by the rank: whichever comes last is at the foot
	s.keys(":show demo_rank", "Enter")
	s.until("r2        does not answer", "r3        3")
	s.keys("r")
	s.until("no answer from rank 2")
	s.keys(":write demo_eager_limit=5000", "Enter")
	s.until("Write this on all 4 ranks?")
	s.keys("y")
	s.until("ranks 0-1,3: ok: was", "reads back 5000", "rank 2: no answer", "may or may not")
	s.keys("Enter")
	s.until("!no answer:")
	if n := len(backends(strconv.Itoa(s.program()))); n != 4 {
		t.Errorf("%d back ends for four ranks", n)
	}
	program := strconv.Itoa(s.program())
	s.keys("q")
	s.restored("0")
	for end := time.Now().Add(hung); len(backends(program)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left behind: %v", backends(program))
		}
	}
}

// A library that crashes in an access names the variable; R starts it again without that, and what is pinned stays pinned.
func TestExplorerCrash(t *testing.T) {
	environ := append(testEnvironment(t), "FAKEMPI_FAULTS=crash-read=demo_eager_limit@2/itself")
	s := onScreen(t, environ, "mpitx tui -n 4")
	s.until("4 ranks", "all variables")
	s.keys(":watch demo_messages_sent:counter", "Enter")
	s.until("sum of 4 ranks")
	s.keys("q")
	s.until("!sum of 4 ranks", "NAME")
	s.keys(":read demo_eager_limit", "Enter")
	s.until("BACK END LOST", "back end lost in demo_eager_limit (R restarts it without that variable): rank 2 on")
	s.keys("j")
	s.until("2 of ")      // what was read can still be browsed
	s.keys("Escape", "R") // at once, as a terminal sends Alt+R
	s.until("!BACK END LOST", "all variables")
	s.keys(":show demo_eager_limit", "Enter")
	s.until("demo_eager_limit", "faulty")
	s.keys(":read demo_eager_limit", "Enter")
	s.until("read 1 variable on 4 ranks")
	s.keys("w")
	s.until("demo_messages_sent:counter", "sum of 4 ranks")
	s.keys("q")
	s.until("NAME")
	s.keys("q")
	s.restored("0")
}

// What a library prints into the protocol's stream, control characters and all, is in the log, and everything else goes on.
func TestExplorerNoise(t *testing.T) {
	s := onScreen(t, append(testEnvironment(t), "FAKEMPI_FAULTS=noise"), "mpitx tui -n 2 --read-only")
	s.until("2 ranks", "read-only", "1 of ")
	s.keys("L")
	s.until("demo library: a line on stdout from MPI_Init", "demo library: a line on stderr from MPI_Init")
	s.keys("q")
	s.until("NAME")
	s.keys(":write demo_eager_limit=1", "Enter")
	s.until("nothing is written: started with --read-only")
	s.keys("q")
	s.restored("0")
}

// curve is what a sparkline shows.
func curve(shown string) string {
	for _, l := range strings.Split(shown, "\n") {
		if strings.HasPrefix(l, "> ") {
			return l
		}
	}
	return ""
}
