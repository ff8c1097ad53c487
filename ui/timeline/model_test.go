package timeline

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
	"mpitx/ui/screen"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

var update = flag.Bool("update", false, "update the golden files")

const (
	none     = -1000000
	ms       = 1_000_000 // ticks
	sent     = recordingtest.TraceSent
	received = recordingtest.TraceReceived
	posts    = recordingtest.TracePosts
)

// story is a run of four ranks: each step sends a message around the ring and reduces. Rank 2 has a second thread, rank 3 lost events in the
// middle and was killed before the end.
func story(t testing.TB) *recording.Run {
	t.Helper()
	const ranks, steps = 4, 12
	var chunks []byte
	for rank := range int32(ranks) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: ranks, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/home/user/app", Family: "openmpi"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		x := recordingtest.NewTrace(s)
		x.Objects(recordingtest.Object{ID: 1, Size: ranks, Name: "MPI_COMM_WORLD", Group: 1})
		x.Add(recordingtest.TraceEvent{Function: "MPI_Init", Begin: 1 * ms, End: 20 * ms, Site: 0x400100, Peer: none, Tag: none})
		x.Phase(21*ms, "solve")
		at := uint64(30 * ms)
		for step := range uint32(steps) {
			next, before := (rank+1)%ranks, (rank+ranks-1)%ranks
			bytes := uint64(1000 * (step + 1))
			x.Add(recordingtest.TraceEvent{Function: "MPI_Irecv", Begin: at, End: at + ms/2, Site: 0x400130, Object: 1, Peer: before, Tag: 5, Request: 2*step + 1, Flags: posts})
			x.Add(recordingtest.TraceEvent{Function: "MPI_Send", Begin: at + ms, End: at + 2*ms + uint64(rank)*ms/2, Site: 0x400120, Bytes: bytes, Object: 1, Peer: next, Tag: 5, Sequence: step + 1, Flags: sent})
			if rank == 3 && step == 6 {
				x.Lost(at+10*ms, 42)
			} else {
				x.Add(recordingtest.TraceEvent{Function: "MPI_Wait", Begin: at + 6*ms, End: at + 9*ms + uint64(rank)*ms, Site: 0x400140, Bytes: bytes, Object: 1, Peer: before, Tag: 5, Request: 2*step + 1, Sequence: step + 1, Flags: received})
				x.Add(recordingtest.TraceEvent{Function: "MPI_Allreduce", Begin: at + 14*ms, End: at + 20*ms, Site: 0x400160, Object: 1, Peer: none, Tag: none, Bytes: 8})
			}
			at += 25 * ms
			if rank == 3 && step == 9 {
				break
			}
			if step == steps/2 {
				x.Write(1, 100+uint64(rank))
			}
		}
		if rank != 3 {
			x.Phase(at, "")
			x.Add(recordingtest.TraceEvent{Function: "MPI_Finalize", Begin: at + ms, End: at + 5*ms, Site: 0x400170, Peer: none, Tag: none})
		}
		x.Write(1, 100+uint64(rank))
		if rank == 2 {
			for n := range uint64(30) {
				x.Add(recordingtest.TraceEvent{Function: "MPI_Iprobe", Begin: 40*ms + n*8*ms, End: 40*ms + n*8*ms + 3*ms, Site: 0x400180, Object: 1, Peer: -1, Tag: -1})
			}
			x.Write(2, 200)
		}
		s.Clock(at+6*ms, int64(at+6*ms), 1_700_000_000_000_000_000+int64(at+6*ms), 0)
		if rank != 3 {
			s.End(1)
		}
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	return saved(t, func(dir string) error { return recordingtest.Save(dir, "node1", chunks) })
}

func saved(t testing.TB, save func(dir string) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run1")
	if err := save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// user is somebody at a screen.
type user struct {
	t testing.TB
	m *Model
	f *Feed
}

func sit(t testing.TB, run *recording.Run, o Options, terminal term.Term, width, height int) *user {
	t.Helper()
	o.Places = func(*recording.Run) (func(*recording.Rank, uint64) string, func()) {
		return func(_ *recording.Rank, a uint64) string {
			return map[uint64]string{0x400120: "exchange app.c:30", 0x400140: "exchange app.c:33", 0x400170: "main"}[a]
		}, func() {}
	}
	if o.At == 0 {
		o.At = -1
	}
	f := Open(run, o)
	t.Cleanup(f.Close)
	f.All()
	u := &user{t, New(f, terminal), f}
	u.send(tea.WindowSizeMsg{Width: width, Height: height})
	u.send(tea.WindowSizeMsg{Width: width, Height: height}) // as if the first frame had been late
	return u
}

// do runs commands until there are none; those that wait are left out.
func (u *user) do(cmd tea.Cmd) {
	u.t.Helper()
	for range 1000 {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case frameMsg:
			msg.frame.Dir = "run1"
			_, cmd = u.m.Update(msg)
			if u.m.frame.Matching || u.m.frame.Live && !u.m.busy {
				return
			}
		case prompt.Saved:
			_, cmd = u.m.Update(msg)
		case screen.FoundMsg[*Feed]:
			if _, cmd = u.m.Update(msg); u.m.feed == nil {
				return
			}
		case tea.BatchMsg:
			for _, c := range msg {
				u.do(c)
			}
			return
		default:
			return
		}
	}
	u.t.Fatal("no end of commands")
}

func (u *user) send(msg tea.Msg) {
	u.t.Helper()
	_, cmd := u.m.Update(msg)
	u.do(cmd)
	u.check()
}

var named = map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "down": tea.KeyDown, "up": tea.KeyUp, "end": tea.KeyEnd,
	"home": tea.KeyHome, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "backspace": tea.KeyBackspace, "space": tea.KeySpace, "left": tea.KeyLeft, "right": tea.KeyRight}

func (u *user) press(keys ...string) {
	u.t.Helper()
	for _, k := range keys {
		msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
		if code, ok := named[k]; ok {
			msg = tea.KeyPressMsg{Code: code}
		}
		u.send(msg)
	}
}

// clickOn is a click on a column of the first row.
func (u *user) clickOn(column int) tea.Msg {
	return tea.MouseClickMsg{Button: tea.MouseLeft, X: u.m.margin() + column, Y: headerLines}
}

func (u *user) types(line string) {
	u.t.Helper()
	for _, r := range line {
		u.press(string(r))
	}
	u.press("enter")
}

// check holds on every screen.
func (u *user) check() {
	u.t.Helper()
	lines := strings.Split(u.m.Render(), "\n")
	if len(lines) > u.m.Height {
		u.t.Errorf("%d lines on a screen of %d", len(lines), u.m.Height)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > u.m.Width {
			u.t.Errorf("%d cells on a screen of %d: %q", ansi.StringWidth(l), u.m.Width, l)
		}
		for _, r := range l {
			if !u.m.Terminal.UTF8 && r > 126 {
				u.t.Errorf("%q in %q", r, l)
			}
		}
	}
}

func (u *user) screen() string {
	lines := strings.Split(ansi.Strip(u.m.Render()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func (u *user) golden(name string) { u.t.Helper(); u.same(name+".golden", u.screen()) }

func (u *user) same(name, got string) {
	u.t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			u.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		u.t.Fatal(err)
	}
	if got != string(want) {
		u.t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

func (u *user) sees(parts ...string) {
	u.t.Helper()
	for _, text := range parts {
		if s := u.screen(); !strings.Contains(s, text) {
			u.t.Errorf("no %q on\n%s", text, s)
		}
	}
}

var (
	utf8  = term.Term{Terminal: export.Terminal{UTF8: true}}
	ascii = term.Term{}
)

func TestGolden(t *testing.T) {
	for _, size := range []struct {
		name          string
		width, height int
	}{{"60x24", 60, 24}, {"80x24", 80, 24}, {"100x30", 100, 30}, {"120x40", 120, 40}, {"160x48", 160, 48}} {
		u := sit(t, story(t), Options{}, utf8, size.width, size.height)
		u.golden("whole-" + size.name)
		u.types(":at 87ms") // a wait of rank 0
		u.press("+", "+", "+")
		u.golden("zoomed-" + size.name)
		u.press("v")
		u.golden("functions-" + size.name)
		a := sit(t, story(t), Options{}, ascii, size.width, size.height)
		a.types(":at 87ms")
		a.golden("ascii-" + size.name)
	}
	u := sit(t, story(t), Options{}, utf8, 100, 30)
	u.press("?")
	u.golden("help-100x30")
}

// Colours are those of the theme, and end with each line.
func TestColours(t *testing.T) {
	for name, p := range map[string]colorprofile.Profile{"16": colorprofile.ANSI, "true": colorprofile.TrueColor} {
		u := sit(t, story(t), Options{}, term.Term{Terminal: export.Terminal{UTF8: true, Color: true}, Profile: p}, 100, 30)
		u.same("colours-"+name+".ansi", u.m.Render()+"\n")
	}
}

// A part of the run, by rank and time.
func TestPart(t *testing.T) {
	u := sit(t, story(t), Options{From: 50 * time.Millisecond, To: 100 * time.Millisecond, Rank: func(r *recording.Rank) bool { return r.Rank >= 2 }}, utf8, 80, 24)
	u.golden("part-80x24")
	u.press("-", "-", "[", "]")
	if w := u.m.frame.Window; w.From != 50*time.Millisecond || w.To != 100*time.Millisecond {
		t.Errorf("shows %v to %v", w.From, w.To)
	}
	if len(u.m.frame.Rows) != 3 {
		t.Errorf("%d rows", len(u.m.frame.Rows))
	}
}

func TestEmpty(t *testing.T) {
	run := saved(t, func(dir string) error {
		s := recordingtest.NewStream(1, 0)
		s.Header(recordingtest.Header{Rank: 0, Size: 1, Clock: 1, NsPerTick: 1, Host: "node1"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		recordingtest.NewTrace(s)
		s.End(1)
		s.Seal()
		return recordingtest.Save(dir, "node1", s.Out)
	})
	u := sit(t, run, Options{}, utf8, 80, 24)
	u.sees("No MPI call was recorded in this run", "1 rank\n")
	u.press("+", "-", "[", "]", "n", "N", "enter", "tab", "left", "right", "down", "f", "w", "c", "C", "backspace", "X", "esc", "v", ">", "0", "z")
	u.press("L")
	u.sees("Messages")
}
