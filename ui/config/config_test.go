package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// file is a configuration file with a text; "-": none.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpitx", "config.toml")
	if text == "-" {
		return path
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, path string) *File {
	t.Helper()
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPath(t *testing.T) {
	for _, c := range [][3]string{{"/etc/xdg", "/home/ada", "/etc/xdg/mpitx/config.toml"}, {"", "/home/ada", "/home/ada/.config/mpitx/config.toml"},
		{"relative", "/home/ada", "/home/ada/.config/mpitx/config.toml"}, {"", "", ""}} {
		got := Path(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": c[0], "HOME": c[1]}[name] })
		if got != filepath.FromSlash(c[2]) {
			t.Errorf("%q %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

func TestLoad(t *testing.T) {
	f := load(t, file(t, "theme = 'light' # by day\nbookmarks = [\"a\", 'b:counter']\nfilter = \"kind=pvar\"\ncommands = ['show a']\n"))
	want := Config{Theme: "light", Bookmarks: []string{"a", "b:counter"}, Filter: "kind=pvar", Commands: []string{"show a"}}
	if !same(f.Config, want) {
		t.Errorf("%+v", f.Config)
	}
	if f := load(t, file(t, "-")); !same(f.Config, Config{}) {
		t.Errorf("no file: %+v", f.Config)
	}
	if f := load(t, ""); f.Save(Config{Theme: "dark"}, 1) != nil {
		t.Error("no home is an error")
	}
}

// What is wrong is named with its line. A broken file says nothing and is never written; the rest of one with a bad setting counts.
func TestBroken(t *testing.T) {
	for text, want := range map[string]string{
		"theme = 'dark'\npins = [\n":                        ":2: ",
		"\n\ntheme: dark\n":                                 ":3: ",
		"theme = 'dark'\nbookmarks = 'a'\n":                 ":2: bookmarks is not a list of texts",
		"theme = 3\n":                                       ":1: theme is not a text in quotes",
		"theme = 'dark'\n\npins = ['a', 3]\n":               ":3: pins is not a list of texts",
		"theme = 'dark'\ntheme = 'light'\n":                 ":2: ",
		"pins = ['a\x00']\n":                                ":1: ",
		"filter = 'a'\n\nFilter = 'b'\n":                    ":3: filter is set twice",
		"theme = '" + strings.Repeat("x", 20) + "\nx = 1\n": ":1: ",
	} {
		path := file(t, text)
		f, err := Load(path)
		if err == nil || !strings.Contains(err.Error(), path+want) || !strings.Contains(err.Error(), "will not be changed") {
			t.Errorf("%q: %v, want %s", text, err, want)
			continue
		}
		if !same(f.Config, Config{}) {
			t.Errorf("%q: %+v", text, f.Config)
		}
		if err := f.Save(Config{Theme: "light", Pins: []string{"b"}}, 1); err != nil || read(t, path) != text {
			t.Errorf("%q: written (%v): %s", text, err, read(t, path))
		}
	}
	path := file(t, "pins = ['a']\ntheme = 'purple'\n")
	f, err := Load(path)
	if err == nil || !strings.Contains(err.Error(), `:2: no theme "purple"`) || !slices.Equal(f.Pins, []string{"a"}) {
		t.Errorf("%v, %+v", err, f.Config)
	}
	if err := f.Save(Config{Pins: []string{"a", "b"}}, 1); err != nil || !strings.HasSuffix(read(t, path), "]\ntheme = 'purple'\n") {
		t.Errorf("%v: %s", err, read(t, path))
	}
	path = file(t, "pins = ['a']\n[colors]\nred = 1\n")
	if f, err = Load(path); err == nil || !strings.Contains(err.Error(), `:2: no setting "colors"`) || !slices.Equal(f.Pins, []string{"a"}) {
		t.Errorf("%v, %+v", err, f.Config)
	}
}

// A new file is its owner's only; folders are made. Nothing is written if nothing changed.
func TestNewFile(t *testing.T) {
	path := file(t, "-")
	f := load(t, path)
	if err := f.Save(Config{}, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("a folder was made for nothing")
	}
	now := Config{Bookmarks: []string{"btl_tcp_eager_limit"}, Commands: []string{"show \"x\"", "list \x1b"}}
	if err := f.Save(now, 1); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	g := load(t, path)
	if !same(g.Config, now) || !strings.HasPrefix(read(t, path), head) {
		t.Errorf("%+v\n%s", g.Config, read(t, path))
	}
	now.Commands = append(now.Commands, "quit")
	if err := f.Save(now, 1); err != nil || len(load(t, path).Commands) != 3 {
		t.Errorf("saved again: %v, %q", err, load(t, path).Commands)
	}
	g = load(t, path)
	before, _ := os.Stat(path)
	if err := g.Save(g.Clone(), 1); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.Stat(path); !os.SameFile(before, after) {
		t.Error("written though nothing changed")
	}
}

// Comments, unknown keys, the order and the mode of a file stay; a link stays a link.
func TestEditKeeps(t *testing.T) {
	target := file(t, "# mine\npins = [ # to watch\n  'a',\n]\n\n# by day\ntheme = 'light' # or not\n\n[future]\npins = 3\n")
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	f, _ := Load(path)
	now := f.Clone()
	now.Theme, now.Bookmarks = "dark", []string{"b"}
	if err := f.Save(now, 1); err != nil {
		t.Fatal(err)
	}
	want := "# mine\npins = [ # to watch\n  'a',\n]\n\n# by day\ntheme = 'dark' # or not\nbookmarks = [\n  'b'\n]\n\n[future]\npins = 3\n"
	if got := read(t, path); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if st, err := os.Lstat(path); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone")
	}
	if st, _ := os.Stat(target); st.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", st.Mode())
	}
}

// A folder or file that cannot be written is an error of Save, and the file stays.
func TestUnwritable(t *testing.T) {
	path := file(t, "theme = 'dark'\n")
	f := load(t, path)
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(Config{Theme: "light"}, 1); err == nil || read(t, path) != "theme = 'dark'\n" {
		t.Errorf("a read-only file is changed: %v", err)
	}
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("the lock is left")
	}
	f = load(t, filepath.Join(path, "config.toml", "x"))
	if err := f.Save(Config{Theme: "light"}, 1); err == nil {
		t.Error("written into a file as a folder")
	}
}

// Programs that write at the same time lose nothing of each other.
func TestTogether(t *testing.T) {
	path := file(t, "bookmarks = ['old', 'gone']\ncommands = ['list']\n")
	const n = 12
	var all sync.WaitGroup
	for k := range n {
		f := load(t, path)
		all.Go(func() {
			now := f.Clone()
			name := strings.Repeat("x", k+1)
			now.Bookmarks = append(slices.DeleteFunc(now.Bookmarks, func(s string) bool { return s == "gone" }), name)
			now.Commands = append(now.Commands, "show "+name)
			if err := f.Save(now, 1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := load(t, path)
	if len(got.Bookmarks) != n+1 || len(got.Commands) != n+1 || slices.Contains(got.Bookmarks, "gone") || got.Commands[0] != "list" {
		t.Errorf("%+v", got.Config)
	}
}

// A lock that a crash has left is removed after a while.
func TestStaleLock(t *testing.T) {
	path := file(t, "theme = 'dark'\n")
	if err := os.WriteFile(path+".lock", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = 50 * time.Millisecond
	f := load(t, path)
	from := time.Now()
	if err := f.Save(Config{Theme: "light"}, 1); err != nil || time.Since(from) < lockWait {
		t.Errorf("%v after %s", err, time.Since(from))
	}
	if got := load(t, path); got.Theme != "light" {
		t.Errorf("%+v", got.Config)
	}
}

func TestHistory(t *testing.T) {
	for _, c := range [][3]string{{"a b c", "a b c", ""}, {"a b c", "a c b", "b"}, {"a b c", "c d a", "d a"}, {"", "a", "a"}, {"a b", "b", ""}} {
		if got := strings.Join(newer(strings.Fields(c[0]), strings.Fields(c[1])), " "); got != c[2] {
			t.Errorf("%s, then %s: %q is new, want %q", c[0], c[1], got, c[2])
		}
	}
	if got := strings.Join(history([]string{"a", "b", "c"}, []string{"a", "", "d", "a"}, 3), " "); got != "c d a" {
		t.Error(got)
	}
}

// Whatever is kept comes back.
func TestAnyText(t *testing.T) {
	list := rapid.SliceOf(rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		from := Config{Theme: "dark", Filter: rapid.String().Draw(t, "filter"), Pins: list.Draw(t, "pins")}
		to := Config{Theme: "light", Filter: rapid.String().Draw(t, "filter"), Pins: list.Draw(t, "pins"), Searches: list.Draw(t, "searches")}
		text, err := edit(nil, Config{}, from)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = edit(text, from, to); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"theme = 'dark'\npins = ['a']\n", "", "# only this", "pins = [ # x\n 'a', # y\n] # z", "\"pins\" = ['a']\r\nfilter = \"\"\"\na\n\"\"\"\r\n",
		"Pins = ['a']\nFILTER = 'b'\n", "pins = ['a']\nPins = ['b']\n", "x = 1\n\"PINS\" = ['b']\n[pins.t]", "[a]\npins = 1\n[[b]]\nfilter = 'c'", "a.b = 1\n[a.c]\n", "x = {pins = ['a'], y = [1, 2]}\n",
		"\xef\xbb\xbfpins = []\n", "theme = 'purple'\n[t]", "filter = 'a' # \u00e9\n'' = 1\n", "pins = ['''\n[x]\n''']\n \t[y]\n",
		"a = 1979-05-27T07:32:00Z\nb = [[1], [\"c\"]]\nc = +inf",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, problem, broken := parse(data)
		if broken && (problem == "" || !same(c, Config{})) {
			t.Errorf("%q, %+v", problem, c)
		}
		if !broken {
			to := c.Clone()
			to.Filter, to.Pins = "x", append(to.Pins, "y")
			if _, err := edit(data, c, to); err != nil {
				t.Error(err) // a file that can be read can be changed
			}
		}
	})
}
