//go:build cgo && linux

package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/cmd/mpitx/cli"
	"mpitx/fixtures/need"
)

// step is what happens once a text is on the screen: input is typed, a function is called.
type step struct {
	sees, types string
	does        func()
}

// onTerminal runs a command on a terminal that answers no query, and returns the output.
func onTerminal(t *testing.T, environ []string, columns uint16, args ...string) (string, *process) {
	t.Helper()
	return typing(t, environ, columns, nil, args...)
}

// typing is onTerminal with input.
func typing(t *testing.T, environ []string, columns uint16, steps []step, args ...string) (string, *process) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		need.Missing(t, "pseudo-terminals are missing: %v", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})

	p := newProcess(environ, t.TempDir(), args...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = slave, slave, slave
	p.cmd.SysProcAttr.Setpgid, p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty = false, true, true
	read := make(chan string)
	go func() { // ends when the last process has closed the terminal
		var b bytes.Buffer
		part := make([]byte, 4096)
		for {
			n, err := master.Read(part)
			b.Write(part[:n])
			for len(steps) > 0 && strings.Contains(b.String(), steps[0].sees) {
				if steps[0].does != nil {
					steps[0].does()
				}
				master.WriteString(steps[0].types)
				steps = steps[1:]
			}
			if err != nil {
				break
			}
		}
		read <- b.String()
	}()
	p.run(hung)
	slave.Close()
	if p.failure != "" {
		t.Fatalf("%s\n%s", p.failure, p.output())
	}
	return strings.ReplaceAll(<-read, "\r\n", "\n"), p
}

func testEnvironment(t *testing.T) []string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(work, "home")
	if err != nil {
		t.Fatal(err)
	}
	return append(environment(home, home, bin), "MPITX_MPI=demo")
}

// Terminal libraries query the terminal and wait seconds for an answer. No command may do that.
func TestMuteTerminal(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if out, p := onTerminal(t, environ, 80, "mpitx", "snapshot", "--overwrite", "--out", work+"/mute.json"); p.code != 0 {
		t.Fatal(out)
	}
	for _, args := range [][]string{
		{"version"}, {"--version"}, {"--help"}, {"list", "--from", work + "/mute.json"}, {"show", "--from", work + "/mute.json", "demo_eager_limit"},
		{"list", "demo_e*"}, {"list", "-n", "2", "demo_e*"}, {"doctor", "--mpi", "demo"}, {"__complete", "show", "demo_"}, {"list", "--regex", "nothing_at_all"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			// The best of a few: the machine may be busy.
			best := time.Hour
			for range 5 {
				start := time.Now()
				out, p := onTerminal(t, environ, 80, append([]string{"mpitx"}, args...)...)
				best = min(best, time.Since(start))
				if p.code != 0 || out == "" {
					t.Fatalf("exit code %d: %q", p.code, out)
				}
				for k := range len(out) - 2 {
					// CSI with a final byte that asks: c (attributes), n (status), p (mode), t (window), u (keyboard); OSC, DCS, APC.
					if out[k] == 0x1b && strings.IndexByte("]P_Z", out[k+1]) >= 0 {
						t.Fatalf("a question to the terminal: %q", out[k:min(len(out), k+20)])
					}
				}
				for _, question := range []string{"\x1b[c", "\x1b[0c", "\x1b[>", "\x1b[?", "\x1b[6n", "\x1b[5n", "\x1b[18t", "\x1b[14t"} {
					if strings.Contains(out, question) {
						t.Fatalf("a question to the terminal: %q in %q", question, out)
					}
				}
				if args[0] == "version" || args[0] == "--version" {
					if strings.Contains(out, "\x1b") {
						t.Fatalf("an escape in %q", out)
					}
				}
				if best < time.Second {
					return
				}
			}
			t.Errorf("took %v", best)
		})
	}
}

// On a terminal lines are as long as it is wide; with TERM=dumb, NO_COLOR or --color never there is no escape.
func TestTerminal(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	list := []string{"mpitx", "list", "cvars", "demo_e*"}
	for _, columns := range []uint16{20, 80, 200} {
		out, p := onTerminal(t, append(environ, "NO_COLOR=1"), columns, list...)
		if p.code != 0 || !strings.Contains(out, "demo_e") {
			t.Fatalf("exit code %d: %s", p.code, out)
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("colours in spite of NO_COLOR: %q", out)
		}
		for line := range strings.Lines(out) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); columns >= 80 && n > int(columns) {
				t.Errorf("%d columns on a terminal of %d: %s", n, columns, line)
			}
		}
	}
	if out, _ := onTerminal(t, environ, 80, list...); !strings.Contains(out, "\x1b[") {
		t.Errorf("no colours on a terminal: %q", out)
	}
	if out, _ := onTerminal(t, environ, 80, append(list, "-n", "2")...); !strings.Contains(out, "\x1b[") {
		t.Errorf("no colours on a terminal behind -n: %q", out)
	}
	if out, _ := onTerminal(t, environ, 80, append(list, "--color", "never")...); strings.Contains(out, "\x1b") {
		t.Errorf("colours in spite of --color never: %q", out)
	}
	if out, _ := onTerminal(t, append(environ, "TERM=dumb"), 80, list...); strings.Contains(out, "\x1b") {
		t.Errorf("colours in spite of TERM=dumb: %q", out)
	}
	for _, args := range [][]string{{"mpitx", "tui", "--mpi", "demo"}, {"mpitx", "top"}, {"mpitx"}} {
		if out, p := onTerminal(t, append(environ, "TERM=dumb"), 80, args...); strings.Contains(out, "\x1b") || len(args) > 1 && p.code != cli.ExitUsage {
			t.Errorf("%s with TERM=dumb: code %d, %q", strings.Join(args, " "), p.code, out)
		}
	}
	// Text from the library is escaped, with and without colour.
	for _, args := range [][]string{{"list"}, {"list", "-o", "wide"}, {"list", "--tree"}, {"show", "demo_hostile_text"}, {"read", "demo_hostile_text"}} {
		out, _ := onTerminal(t, environ, 80, append([]string{"mpitx"}, args...)...)
		for _, evil := range []string{"\x1b[2J", "\x1b]0;", "\x07", "\u009b", "\u202e", "\r"} {
			if strings.Contains(out, evil) {
				t.Errorf("%s: %q reached the terminal", strings.Join(args, " "), evil)
			}
		}
	}
}

// Formats that a terminal cannot show are refused before anything is read or started: the runs do not exist.
func TestFormatOnTerminal(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	for _, line := range []string{"report nowhere -o html", "report nowhere -o pprof", "export nowhere -o parquet",
		"profile --mpi nowhere --workload idle -o html", "sample --mpi nowhere --pvar x --workload idle -o parquet"} {
		out, p := onTerminal(t, environ, 200, append([]string{"mpitx"}, strings.Fields(line)...)...)
		if p.code != cli.ExitUsage || !strings.Contains(out, "a terminal cannot show it; name a file with --out") {
			t.Errorf("mpitx %s: exit code %d: %s", line, p.code, out)
		}
	}
}
