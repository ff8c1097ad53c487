package top

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/catalog"
	"mpitx/recording/recordingtest"
	"mpitx/ui/config"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// types types a line, character by character, and presses Enter.
func (u *user) types(line string) {
	u.t.Helper()
	u.press(":")
	for _, r := range line {
		u.press(string(r))
	}
	u.runs(u.send(tea.KeyPressMsg{Code: tea.KeyEnter}))
	u.check()
}

// runs a command that saves, and takes in what came of it.
func (u *user) runs(cmd tea.Cmd) {
	if cmd != nil && !u.m.busy {
		if msg, ok := cmd().(prompt.Saved); ok {
			u.m.Update(msg)
		}
	}
}

// A theme is kept for the next session, with what else is in the file.
func TestTheme(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("bookmarks = ['a']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u := sit(t, story(t), unicodeTerm, 120, 30)
	u.m.Config, _ = config.Load(path)
	choose := func(name string) {
		if keep := u.m.Theme(name); keep != nil {
			u.m.Update(keep())
		}
	}
	choose("light")
	u.sees("theme light")
	if got, err := config.Load(path); err != nil || got.Theme != "light" || len(got.Bookmarks) != 1 || u.m.Terminal.Theme != term.Light {
		t.Errorf("%+v, %v", got.Config, err)
	}
	choose("purple")
	u.sees(`no theme "purple": use one of auto, dark, light, high-contrast`)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	choose("dark")
	u.sees("theme dark, for this session only: ")
}

func TestCommands(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 120, 30)
	u.types("show queue")
	u.sees(">queue")
	u.types("show queu")
	u.sees(`no variable "queu" in this run; did you mean queue?`)
	u.types("sort -variable")
	if u.m.entries[0].cells[0].text != "sent" {
		t.Error("not sorted")
	}
	u.types("so colour")
	u.sees(`sort: no column "colour"`)
	u.types("sort")
	u.types("filter world")
	u.seesNot(" sent ")
	u.types("show sent")
	u.sees("the filter hides sent: F clears it")
	u.types("filter")
	u.types("values rate")
	u.sees(" rate ")
	u.types("values fast")
	u.sees(`values: "fast": must be class, raw, delta or rate`)
	u.types("values class")
	u.types("ranks sent")
	u.sees("RATE/s")
	u.types("chart")
	u.sees("   2 ")
	u.types("map")
	u.types("variables")
	u.sees("VARIABLE")
	u.types("frobnicate")
	u.sees(`no command "frobnicate": :help lists them`)
	u.types("p")
	u.sees("! paused")
	u.types("pause")
	u.types("help")
	u.sees("Keys in the table")
	u.press("esc")
	u.types("messages")
	u.sees("rank 3 died before the end of the recording")
	u.sees(`no command "frobnicate"`)
	u.press("q")
	u.sees("VARIABLE")
	u.press(":", "x", "esc")
	u.sees("q quit")
	u.press(":", "backspace")
	u.sees("q quit")
	u.press(":", "s", "h", "tab")
	u.send(tea.PasteMsg{Content: "que"})
	u.press("tab")
	u.sees(":show queue")
	u.press("esc")
	u.press("X")
	u.sees(":export")
	u.press("esc")
	u.types("restart")
	u.sees("VARIABLE")
	if cmd := u.send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}); cmd == nil {
		t.Error("^C does not quit")
	}
}

// Every key and every command is in the help, first the keys of the part of the screen that has the focus.
func TestHelpIsWhole(t *testing.T) {
	u := sit(t, story(t), unicodeTerm, 160, 140)
	u.press("?")
	text := u.screen()
	for _, section := range Keys() {
		for _, k := range section.Keys {
			if !strings.Contains(text, k.Help) || !strings.Contains(text, k.Text(true)) {
				t.Errorf("no %s: %q", k.Text(true), k.Help)
			}
		}
	}
	for i := range u.m.Commands {
		if !strings.Contains(text, ":"+u.m.Commands[i].Name) || !strings.Contains(text, u.m.Commands[i].Help) {
			t.Errorf("no :%s", u.m.Commands[i].Name)
		}
	}
	if !strings.Contains(text, "died\n "+u.m.tableKeys.Title) {
		t.Errorf("the help of the table:\n%s", text)
	}
	u.press("esc", "tab", "?")
	if text := u.screen(); !strings.Contains(text, "died\n "+u.m.paneKeys.Title) {
		t.Errorf("the help of the map:\n%s", text)
	}
}

// What is exported is what is shown: the rows, their order, the view, with whole numbers and foreign text as it is.
func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	u := sit(t, story(t), unicodeTerm, 120, 30)
	read := func(path string) (rows [][]string) {
		t.Helper()
		f, err := os.Open(path)
		if err != nil {
			t.Fatalf("%v\n%s", err, u.screen())
		}
		defer f.Close()
		if rows, err = csv.NewReader(f).ReadAll(); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	u.types("sort -variable")
	u.types("filter s")
	u.types("export all.csv")
	u.sees("exported 3 variables to all.csv")
	got := read("all.csv")
	var names []string
	for _, row := range got[1:] {
		names = append(names, row[0])
	}
	if strings.Join(names, " ") != "sent queue phase" || got[0][0] != "variable" || got[0][9] != "max" {
		t.Errorf("%q", got)
	}
	if got[1][9] != "14161" || got[1][10] != "2" { // 119 * 119
		t.Errorf("%q", got[1])
	}
	u.types("export all.csv")
	u.sees("export all.csv: the file exists; :export! all.csv replaces it")
	u.types("export! all.csv")
	u.sees("exported 3 variables to all.csv")
	u.types("export all.txt")
	u.sees("must end in .csv, .json or .ndjson")
	u.types("filter")
	u.types("export all.json")
	var document struct {
		Schema string
		Rows   []map[string]any
	}
	text, _ := os.ReadFile("all.json")
	if err := json.Unmarshal(text, &document); err != nil || document.Schema != "mpitx.top" || len(document.Rows) != 4 || document.Rows[3]["variable"] != "evil\x1b[2J\u202ename" {
		t.Errorf("%v: %s", err, text)
	}
	u.types("ranks sent")
	u.types("filter ended")
	u.types("export ranks.csv")
	if got = read("ranks.csv"); len(got) != 4 || got[3][3] != "2" || got[3][6] != "14161" || got[3][5] != "ended" {
		t.Errorf("%q", got)
	}
	u.types("filter")
	u.types("values delta")
	u.press("m", "z")
	u.types("export history.csv")
	got = read("history.csv")
	last := map[string][]string{}
	for _, row := range got[1:] {
		last[row[4]] = row
	}
	if len(got) < 4*20 || len(last) != 4 || last["2"][7] != "14161" || last["0"][7] != "119" {
		t.Errorf("%d rows, the last are %q", len(got), last)
	}
	if at, err := strconv.ParseFloat(last["2"][6], 64); err != nil || math.Abs(at-11.9) > 0.2 {
		t.Errorf("the last bin ends at %s", last["2"][6])
	}
}

// A run that has ended is not read again, except with r.
func TestEndedRunRests(t *testing.T) {
	j := newJob(t, 1)
	j.sample(0, time.Second, 1, 1, 1, 1)
	j.flush()
	j.live(0, 0)
	f := j.open()
	f.All()
	u := sit(t, f, unicodeTerm, 80, 24)
	if u.m.wait() == nil {
		t.Fatal("a run that goes on is not looked at again")
	}
	j.sample(0, 2*time.Second, 7, 7, 7, 7)
	j.streams[0].End(1)
	j.flush()
	for _, name := range []string{"0.live", j.manifest(0)} {
		if err := os.Remove(filepath.Join(j.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	u.do(u.m.read(true))
	if !u.m.frame.Over || u.m.wait() != nil {
		t.Fatalf("a run that has ended is looked at again and again: %+v", u.m.frame.Ranks)
	}
	u.press("space", "space")
	if u.m.wait() != nil {
		t.Error("after a pause it is")
	}
	u.press("r")
	u.sees("ended")
}

// If something in a run is damaged or cut off, the rest is shown, and the place of the damage.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func([]byte, int) []byte{
		"overwritten": func(b []byte, at int) []byte { copy(b[at+8:], strings.Repeat("?", 64)); return b },
		"cut off":     func(b []byte, at int) []byte { return b[:at+40] },
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, 2)
			path := filepath.Join(j.dir, "node-n.mpxr")
			for i := range 50 {
				j.sample(0, time.Duration(i)*time.Second, uint64(i), 1, 1, 0)
			}
			j.flush()
			st, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			at := int(st.Size()) // where the next part begins
			for i := range 50 {
				j.sample(1, time.Duration(i)*time.Second, uint64(100*i), 1, 1, 0)
			}
			j.flush()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b, at), 0o600); err != nil {
				t.Fatal(err)
			}
			f := j.open()
			f.All()
			u := sit(t, f, unicodeTerm, 130, 24)
			if r := rowOf(t, u.m.frame, "sent"); r.Max != 49 {
				t.Errorf("what is whole reads %+v", r)
			}
			where := "node-n.mpxr: damaged at byte " + strconv.Itoa(at)
			u.sees(where)
			u.press("L")
			u.sees(where)
		})
	}
}

// Control characters in the names of variables, objects, hosts and enumerations do no harm.
func TestHostileNames(t *testing.T) {
	const evil = "\x1b]0;title\x07\x1b[2J\u009b31m\r\n\u202e"
	j := &job{t: t, dir: filepath.Join(t.TempDir(), "run1"), size: 1}
	column := recordingtest.Column{Variable: evil + "v", Class: int32(catalog.ClassState), Type: int32(catalog.TypeInt), Count: 1, Size: 4, Object: 1, ObjectName: evil + "o",
		EnumName: evil, Items: []recordingtest.Item{{Value: 0, Name: evil + "i"}}, Description: evil}
	s := recordingtest.NewStream(1, 0)
	s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: evil + "h", Program: evil, Interval: 1e7})
	s.Clock(0, 0, 1e18, 0)
	s.Column(0, column)
	s.Set(0, 8, 0)
	s.Sample(0, uint64(time.Second), make([]byte, 8), nil)
	j.streams = append(j.streams, s)
	j.flush()
	f := j.open()
	f.All()
	for _, terminal := range []term.Term{unicodeTerm, {Profile: colorprofile.TrueColor}, {}} {
		u := sit(t, f, terminal, 160, 30)
		for _, keys := range [][]string{{}, {"enter"}, {"m"}, {"z"}, {"L"}, {"esc"}, {":", "s", "h", "o", "w", "space", "tab"}, {"enter"}} {
			u.press(keys...)
			text := u.m.Render()
			for _, bad := range []string{"\x1b]", "\x1b[2J", "\u009b", "\r", "\u202e", "\x07"} {
				if strings.Contains(text, bad) {
					t.Errorf("%q after %q:\n%q", bad, keys, text)
				}
			}
		}
	}
}
