package explorer

import (
	"errors"
	"flag"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/ui/term"
)

var update = flag.Bool("update", false, "rewrite the golden frames")

// explorer is a model that shows a catalog, without a terminal.
func explorer(t testing.TB, c *catalog.Catalog, o Options, width, height int) *Model {
	t.Helper()
	o.Source = "test.json"
	o.Load = func() (*catalog.Catalog, error) { return c, nil }
	m := New(o)
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	if o.Start != nil {
		return m
	}
	for cmd := m.load(); cmd != nil; { // as the program does it
		_, cmd = m.Update(cmd())
	}
	return m
}

func fixture(t testing.TB, name string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(filepath.Join("..", "..", "fixtures", "snapshots", name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// press types keys: names of keys, or text with "'" before it. What the commands answer goes back into the model.
func press(m *Model, keys ...string) {
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "'"); ok {
			for _, r := range text {
				m.key(string(r), string(r))
			}
			continue
		}
		text := k
		if len(k) > 1 {
			text = ""
		}
		if cmd := m.key(k, text); cmd != nil && k != "q" {
			if msg := cmd(); msg != nil {
				m.Update(msg)
			}
		}
	}
}

// screen is the frame without styles, checked for its size: whatever is shown, no line is longer than the terminal, and no
// foreign control character reaches it.
func onScreen(t testing.TB, m *Model) string {
	t.Helper()
	lines := m.frame()
	if m.Height >= minHeight && len(lines) != m.Height {
		t.Fatalf("%d lines on a screen of %d", len(lines), m.Height)
	}
	for i, l := range lines {
		lines[i] = ansi.Strip(l)
		if n := term.Width(lines[i]); n > m.Width {
			t.Fatalf("line %d has %d cells of %d: %q", i, n, m.Width, lines[i])
		}
		if strings.ContainsFunc(lines[i], func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e }) {
			t.Fatalf("control character in line %d: %q", i, lines[i])
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

func contains(t *testing.T, m *Model, parts ...string) {
	t.Helper()
	s := onScreen(t, m)
	for _, p := range parts {
		if !strings.Contains(s, p) {
			t.Fatalf("no %q in\n%s", p, s)
		}
	}
}

func TestGolden(t *testing.T) {
	sizes := [][2]int{{40, 10}, {80, 10}, {40, 24}, {60, 24}, {80, 24}, {100, 30}, {120, 40}, {160, 48}, {200, 60}}
	for name, keys := range map[string][]string{
		"start":  nil,
		"search": {"/", "'bcast alg", "enter"},
		"branch": {"tab", "tab", "j", "j", "l", "l"},
		"filter": {":", "'filter kind=pvar class=counter", "enter"},
		"help":   {"?"},
	} {
		for _, size := range sizes {
			o := Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}
			if name == "filter" {
				o.Term.UTF8 = false
			}
			m := explorer(t, fixture(t, "openmpi-4.1.4.json"), o, size[0], size[1])
			press(m, keys...)
			golden(t, fmt.Sprintf("%s-%dx%d.txt", name, size[0], size[1]), onScreen(t, m))
		}
	}
}

// The same screen as terminals of all kinds show it.
func TestGoldenColours(t *testing.T) {
	utf8 := export.Terminal{UTF8: true, Color: true}
	for name, tm := range map[string]term.Term{
		"dark":           {Terminal: utf8, Profile: colorprofile.TrueColor},
		"light":          {Terminal: utf8, Profile: colorprofile.TrueColor, Light: true},
		"256":            {Terminal: utf8, Profile: colorprofile.ANSI256},
		"16":             {Terminal: utf8, Profile: colorprofile.ANSI},
		"contrast":       {Terminal: utf8, Profile: colorprofile.TrueColor, Theme: term.HighContrast},
		"contrast-light": {Terminal: utf8, Profile: colorprofile.TrueColor, Theme: term.HighContrast, Light: true},
		"contrast-16":    {Terminal: utf8, Profile: colorprofile.ANSI, Theme: term.HighContrast},
		"none":           {Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.ASCII},
		"ascii":          {Profile: colorprofile.ASCII},
	} {
		m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Term: tm}, 100, 30)
		press(m, "/", "'tcp", "enter", "j", "j", "j", ":", "'filter writable=any verbosity=tuner-detail", "enter")
		golden(t, "colours-"+name+"-100x30.ansi", strings.Join(m.frame(), "\n")+"\n")
	}
}

// golden compares text with a file, or rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: go test -update shows the difference:\n%s", path, got)
	}
}

func TestFlatCategories(t *testing.T) {
	m := explorer(t, fixture(t, "mpich-4.0.2.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 120, 40)
	onScreen(t, m)
	if len(m.x.root.kids) < 5 {
		t.Errorf("%d branches", len(m.x.root.kids))
	}
	c := fixture(t, "mpich-4.0.2.json")
	c.Categories = nil
	m = explorer(t, c, Options{}, 120, 40)
	total := len(m.x.root.own)
	for _, k := range m.x.root.kids {
		total += len(k.below(m.x))
	}
	if total != len(m.x.all) || len(m.x.root.kids) < 3 {
		t.Errorf("made-up branches: %d of %d variables in %d", total, len(m.x.all), len(m.x.root.kids))
	}
}

func TestBadInput(t *testing.T) {
	long := strings.Repeat("long_name", 1112)
	strange := &catalog.Catalog{Library: catalog.Library{Family: "demo\x1b[31m"}, Lists: catalog.Lists{Cvars: []catalog.Variable{
		{Kind: catalog.Cvars, Name: long, Description: strings.Repeat("word ", 2000), Type: catalog.TypeInt},
		{Kind: catalog.Cvars, Name: "日本語の変数名日本語の変数名", Description: "e\u0301e\u0301", Type: catalog.TypeInt},
		{Kind: catalog.Cvars, Name: "evil\x1b[2J\r\n\u202ename", Description: "a\x1b]0;title\x07b\x9bc", Type: catalog.TypeChar,
			After: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("\x1b[2Jvalue")}},
	}, Categories: []catalog.Category{{Name: "\x1b[1mcat\x07", Description: "x\x1b[2J", Cvars: []string{long}}}}}
	for _, utf8 := range []bool{false, true} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {41, 11}, {20, 5}, {1, 1}, {300, 12}} {
			m := explorer(t, strange, Options{Term: term.Term{Terminal: export.Terminal{UTF8: utf8}, Profile: colorprofile.TrueColor}}, size[0], size[1])
			for _, keys := range [][]string{nil, {"j"}, {"j"}, {"tab", "G"}, {"shift+tab", "shift+tab", "j"}, {"?"}, {"esc"}, {"/", "'evil"}, {"esc", "f", "l", "j"}, {"esc", "c"}} {
				press(m, keys...)
				onScreen(t, m)
			}
		}
	}
	m := explorer(t, strange, Options{}, 80, 24)
	press(m, "G")
	contains(t, m, `evil\x1b[2J\x0d\x0a\u{202e}name`)

	m = explorer(t, &catalog.Catalog{}, Options{}, 80, 24)
	contains(t, m, "this library has no variables")
	press(m, "j", "G", "tab", "j", "l", "h", "c", "y", "Y", "S", "[", "]", "/", "'x", "enter", "f", "j", "enter", "e")
	onScreen(t, m)

	m = New(Options{Source: "large.json", Size: 38 << 20, Load: func() (*catalog.Catalog, error) { return large(12_000), nil }})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	read := m.load()
	contains(t, m, "reading large.json (38 MB) ...")
	_, sort := m.Update(read())
	contains(t, m, "sorting 12000 variables ...")
	m.Update(sort())
	contains(t, m, "1 of 12000")

	m = explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 20, 5)
	contains(t, m, "needs 40x10")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	contains(t, m, "1282 cvars")

	m = New(Options{Load: func() (*catalog.Catalog, error) { return nil, errors.New("not a\x1b[2J snapshot") }})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(m.load()())
	contains(t, m, `not a\x1b[2J snapshot`, "q quit")
}

func TestFind(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}, Profile: colorprofile.TrueColor}}, 120, 40)
	all := len(m.shown)
	press(m, "/", "'btl_tcp_eager")
	if n := len(m.shown); n == 0 || n == all || !strings.Contains(m.current().low, "btl_tcp") {
		t.Fatalf("%d found", n)
	}
	if row := strings.Join(m.frame(), "\n"); !strings.Contains(row, "\x1b[1;4;7;38;2;230;150;200mbtl_tcp_eager") {
		t.Error("the match under the cursor is not highlighted")
	}
	found := m.current().v.Name
	press(m, "enter", "c")
	if m.query != "" || m.branch.category == nil || m.current().v.Name != found {
		t.Errorf("not in the category of %s", found)
	}
	press(m, "[")
	if m.query != "btl_tcp_eager" || m.current().v.Name != found {
		t.Errorf("back: %q", m.query)
	}
	press(m, "]", "[", "esc")
	if len(m.shown) != m.branch.count {
		t.Errorf("%d shown in a branch of %d", len(m.shown), m.branch.count)
	}
	// Every letter narrows; a backspace widens to what was there before.
	press(m, ":", "'list", "enter", "/", "'e")
	one := len(m.shown)
	press(m, "'ager")
	many := len(m.shown)
	press(m, "backspace", "backspace", "backspace", "backspace")
	if many >= one || len(m.shown) != one {
		t.Errorf("%d, %d, %d", one, many, len(m.shown))
	}
	press(m, "enter", "esc", ":", "'filter kind=pvar writable=no", "enter")
	for _, k := range m.shown {
		if m.x.entries[k].v.Kind != catalog.Pvars {
			t.Fatal("the filter lets a control variable through")
		}
	}
	if len(m.shown) != 33 {
		t.Errorf("%d performance variables", len(m.shown))
	}
	press(m, ":", "'filter kind=nonsense", "enter")
	contains(t, m, "use one of any, cvar, pvar")
	press(m, "F", ":", "'show btl_tcp_eager_limi", "enter")
	contains(t, m, "did you mean btl_tcp_eager_limit")
	press(m, ":", "'show btl_tcp_eager_limit", "enter")
	if m.current().v.Name != "btl_tcp_eager_limit" {
		t.Error("show")
	}
	press(m, "e")
	contains(t, m, "needs a live MPI")
}

func TestFuzzyOrder(t *testing.T) {
	c := &catalog.Catalog{}
	for _, n := range []string{"xx_far_o_o", "abc_foo", "foo_abc", "zfoo", "none"} {
		c.Cvars = append(c.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: n})
	}
	c.Cvars[4].Description = "about Foo"
	m := explorer(t, c, Options{}, 80, 24)
	press(m, "/", "'foo")
	var got []string
	for _, k := range m.shown {
		got = append(got, m.x.entries[k].name)
	}
	if s := strings.Join(got, " "); s != "foo_abc abc_foo zfoo none" { // letters far apart only count where nothing else is found
		t.Error(s)
	}
}

func TestSave(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	path := filepath.Join(t.TempDir(), "copy.json")
	press(m, ":", "'snapshot "+path, "enter")
	if c, err := catalog.Load(path); err != nil || len(c.Cvars) != 1282 {
		t.Fatalf("saved: %v", err)
	}
	press(m, ":", "'snapshot "+path, "enter")
	contains(t, m, "the file exists; :snapshot! "+path[:20])
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	press(m, ":", "'snapshot! "+path, "enter")
	if c, err := catalog.Load(path); err != nil || len(c.Cvars) != 1282 {
		t.Fatalf("not replaced: %v", err)
	}
	table := filepath.Join(filepath.Dir(path), "list.csv")
	press(m, ":", "'filter kind=pvar", "enter", ":", "'export "+table, "enter")
	data, err := os.ReadFile(table)
	if err != nil || strings.Count(string(data), "\n") != 34 {
		t.Fatalf("%v\n%s", err, data)
	}
	press(m, ":", "'export list.txt", "enter")
	contains(t, m, "must end in .csv")
}

func TestZoom(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}}, 104, 24)
	press(m, "G", "z")
	contains(t, m, "SCOPE/CLASS", "TYPE", "1315 of 1315")
	press(m, "tab")
	contains(t, m, "performance variable, class ")
	if s := onScreen(t, m); strings.Contains(s, "SCOPE") || strings.Contains(s, "▸") {
		t.Errorf("not only the details:\n%s", s)
	}
	press(m, "tab")
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 70, Y: 2 + 3})
	if m.branch != m.rows[3] {
		t.Errorf("clicked on %s", m.branch.name)
	}
	press(m, "z")
	contains(t, m, "│     NAME")
}

// A terminal that says that its background is light gets the colours for that.
func TestLightBackground(t *testing.T) {
	m := New(Options{Term: term.Term{Profile: colorprofile.TrueColor}})
	if all, ok := m.Init()().(tea.BatchMsg); !ok || len(all) != 2 {
		t.Fatal("the terminal is not asked")
	}
	dark := m.Terminal.Paint(term.Style{Color: term.Accent}, "x")
	m.Update(tea.BackgroundColorMsg{Color: color.White})
	if m.Terminal.Paint(term.Style{Color: term.Accent}, "x") == dark {
		t.Error("the same colours on a light background")
	}
	if _, ask := New(Options{}).Update(tea.WindowSizeMsg{Width: 80, Height: 24}); ask != nil {
		t.Error("asked though no colours are shown")
	}
}

func TestMarkedDescription(t *testing.T) {
	m := explorer(t, fixture(t, "mpich-4.0.2.json"), Options{}, 120, 40)
	press(m, "/", "'leaked")
	if s := strings.Join(m.frame(), "\n"); !strings.Contains(s, "\x1b[1;4mleaked\x1b[m.  For example") {
		t.Errorf("the description's match is not marked:\n%s", s)
	}
}

// A command is shown as it has to be typed.
func TestHowToSet(t *testing.T) {
	how := func(*catalog.Catalog, []Setting) []string {
		return []string{`export X=$'a\x1b'`}
	}
	m := explorer(t, fixture(t, "mpich-4.0.2.json"), Options{Term: term.Term{Terminal: export.Terminal{UTF8: true}}, HowToSet: how}, 120, 40)
	press(m, "/", "'MPIR_CVAR_NETLOC_NODE_FILE")
	contains(t, m, ` export X=$'a\x1b'`)
}

// Long names keep their ends, which tell them apart, and matches in them stay marked.
func TestCutMiddle(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		want  string
	}{
		{"short", 10, "short"},
		{"coll_tuned_bcast_algorithm_chain_fanout", 20, "coll_tuned_b…_fanout"},
		{"coll_tuned_bcast_algorithm_chain_fanout", 6, "col…ut"},
		{"日本語の変数名日本語の変数名", 12, "日本語…変数名"[:9] + "…数名"},
		{strings.Repeat("x", 10_000) + "_end", 16, "xxxxxxxxx…xx_end"},
	} {
		head, tail := term.Term{Terminal: export.Terminal{UTF8: true}}.CutMiddle(c.name, c.width)
		got := c.name[:head]
		if tail < len(c.name) {
			got += "…" + c.name[tail:]
		}
		if got != c.want || term.Width(got) > c.width {
			t.Errorf("%.40s in %d: %q (%d cells)", c.name, c.width, got, term.Width(got))
		}
	}
	m := explorer(t, &catalog.Catalog{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "coll_tuned_reduce_scatter_block_algorithm_segmentsize"}}}}, Options{}, 80, 24)
	press(m, "/", "'segmentsize")
	if row := strings.Join(m.frame(), "\n"); !strings.Contains(row, "\x1b[1;4;7msegmentsize\x1b[m") {
		t.Errorf("the match behind the cut is not marked: %q", row)
	}
}

func TestMouse(t *testing.T) {
	m := explorer(t, fixture(t, "openmpi-4.1.4.json"), Options{}, 120, 40)
	l := m.layout()
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: l.listX + 8, Y: 2 + 5})
	if m.list.at != 4 || m.focus != paneList {
		t.Errorf("clicked row %d", m.list.at)
	}
	m.Update(tea.MouseWheelMsg{X: l.listX + 8, Y: 9, Button: tea.MouseWheelDown})
	if m.list.at != 7 {
		t.Errorf("turned to row %d", m.list.at)
	}
	m.Update(tea.MouseClickMsg{Button: tea.MouseLeft, X: 3, Y: 2 + 4})
	if m.branch != m.rows[4] || m.focus != paneTree {
		t.Error("clicked branch")
	}
}
