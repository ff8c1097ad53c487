//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// screen is a program in a real terminal, tmux.
type screen struct {
	t      *testing.T
	socket string
}

// onScreen starts a shell command in a terminal of 120 columns and 40 lines; the terminal says "ended N" with its exit code.
func onScreen(t *testing.T, environ []string, command string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is not installed: make test installs it")
	}
	s := &screen{t, filepath.Join(t.TempDir(), "tmux")}
	c := exec.Command("tmux", "-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", command+"; echo ended $?; cat")
	c.Env = append(environ, "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh", "COLUMNS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	t.Cleanup(func() { exec.Command("tmux", "-S", s.socket, "kill-server").Run() })
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys types keys by tmux's names, and other words as they are.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys"}, keys...)...)
}

// until waits until the screen shows all parts, except those that begin with "!", which it must not show.
func (s *screen) until(parts ...string) string {
	s.t.Helper()
	return s.wait(func(shown string) string {
		for _, p := range parts {
			if text, not := strings.CutPrefix(p, "!"); strings.Contains(shown, text) == not {
				return p
			}
		}
		return ""
	})
}

// wait waits until nothing is missing on the screen.
func (s *screen) wait(missing func(shown string) string) string {
	s.t.Helper()
	for end := time.Now().Add(hung); ; time.Sleep(20 * time.Millisecond) {
		shown := untab(s.tmux("capture-pane", "-p"))
		what := missing(shown)
		if what == "" {
			return shown
		}
		if time.Now().After(end) {
			s.t.Fatalf("no %q on the screen:\n%s", what, shown)
		}
	}
}

// untab replaces tabs, which later releases of tmux keep, by spaces up to the next of the terminal's tab stops.
func untab(screen string) string {
	lines := strings.Split(screen, "\n")
	for n, line := range lines {
		for {
			before, after, found := strings.Cut(line, "\t")
			if !found {
				break
			}
			line = before + strings.Repeat(" ", 8-ansi.StringWidth(before)%8) + after
		}
		lines[n] = line
	}
	return strings.Join(lines, "\n")
}

// program is the process of the explorer.
func (s *screen) program() int {
	s.t.Helper()
	shell, err := strconv.Atoi(strings.TrimSpace(s.tmux("list-panes", "-F", "#{pane_pid}")))
	if err != nil {
		s.t.Fatal(err)
	}
	return s.child(shell)
}

func (s *screen) child(parent int) int {
	s.t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", parent, parent))
	if err != nil {
		s.t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(string(children), &pid); err != nil {
		s.t.Fatalf("process %d has no child: %v", parent, err)
	}
	return pid
}

// restored checks that the terminal is restored.
func (s *screen) restored(code string) {
	s.t.Helper()
	s.until("ended "+code, "!all variables")
	s.plain()
	s.keys("lines are edited", "C-u", "and echoed", "Enter") // to cat
	s.until("and echoed\nand echoed")
}

// plain checks that the terminal has its modes back.
func (s *screen) plain() {
	s.t.Helper()
	if flags := s.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag} #{keypad_flag}"); flags != "0 0 1 0\n" {
		s.t.Errorf("the terminal was left with alternate screen, mouse, cursor, keypad: %s", flags)
	}
}
