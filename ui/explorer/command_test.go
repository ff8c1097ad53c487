package explorer

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/link"
)

// The command line starts empty in every view, remembers what was typed, and completes commands and their arguments.
func TestCommandLine(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	line := func(want string, keys ...string) {
		t.Helper()
		press(m, keys...)
		if got := m.Line.String(); got != want {
			t.Errorf("after %q the line is %q, want %q", keys, got, want)
		}
	}
	line("", ":")
	press(m, "'show limit", "enter", ":", "'read limit", "enter")
	line("", ":")
	line("read limit", "up")
	line("show limit", "up", "up")
	line("read limit", "down")
	line("wr", "down", "'wr", "up", "down")
	line("write ", "tab")
	line("write l", "'l")
	line("write limit=", "tab")
	line("write algorithm=", "ctrl+u", "'write al", "tab")
	line("write algorithm=", "tab")
	contains(t, m, "algorithm=linear  algorithm=binomial")
	line("write algorithm=binomial ", "'b", "tab")
	lacks(t, m, "algorithm=linear ")
	line("filter kind=pvar ", "ctrl+u", "'fil", "tab", "'ki", "tab", "'p", "tab")
	line("workload halo ", "ctrl+u", "'wo", "tab", "'h", "tab")
	line("watch messages:counter ", "ctrl+u", "'wa", "tab", "'me", "tab")
	line("re", "ctrl+u", "'re", "tab")
	contains(t, m, "read  reset  readreset  restart")
	press(m, "'a")
	lacks(t, m, "read  reset  readreset  restart")
	press(m, "esc", "h", "l")
	m.key("p", "p")
	m.key("w", "w")
	line("", ":")
	press(m, "esc", "esc")

	// A snapshot is not offered what needs an MPI.
	m = explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 80, 24)
	press(m, ":", "tab")
	lacks(t, m, "workload", "restart")
	contains(t, m, "snapshot")
	chosen := m.current().name
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 40, Y: 6})
	m.Update(tea.MouseWheelMsg{X: 40, Y: 6, Button: tea.MouseWheelDown})
	contains(t, m, "\n:") // the mouse has no effect
	at(t, m, chosen, "while a command is typed")
	press(m, "'watch x", "enter")
	contains(t, m, "watch: needs a live MPI, and this is")
	press(m, ":")
	line("show btl_tcp_", "'show btl_tc", "tab")
	press(m, "tab")
	contains(t, m, "btl_tcp_eager_limit")
	_ = backends
}

// The menu of workloads explains each of them, and marks the one that runs.
func TestWorkloadMenu(t *testing.T) {
	m, backends := fakeSession(t, Options{})
	for _, w := range link.Workloads {
		if workloadHelp[w] == "" {
			t.Errorf("%s is not explained", w)
		}
	}
	press(m, "W")
	contains(t, m, "pingpong", "back and forth", "halo", "four neighbours", "none")
	press(m, "j", "j", "enter")
	if w := (*backends)[0].work; w != "alltoall" || m.mode != modeNormal {
		t.Errorf("runs %q", w)
	}
	press(m, "W")
	contains(t, m, ">* 2  alltoall")
	press(m, "0")
	if w := (*backends)[0].work; w != "" {
		t.Errorf("runs %q", w)
	}
	for _, size := range [][2]int{{minWidth, minHeight}, {60, 14}, {80, 24}} {
		resize(m, size[0], size[1])
		press(m, "W")
		for i, w := range workloads {
			first, _, _ := strings.Cut(workloadHelp[w], " ")
			contains(t, m, map[bool]string{true: "none", false: w}[w == ""], first)
			if s := onScreen(t, m); !strings.Contains(s, ">") {
				t.Errorf("item %d is not seen:\n%s", i, s)
			}
			press(m, "j")
		}
		press(m, "esc")
	}
	event(m, (*backends)[0], link.Event{Kind: link.EventEnded, Rank: 1, Text: "killed"})
	press(m, "W")
	contains(t, m, "back end lost")
}
