package prompt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"mpitx/export"
	"mpitx/ui/term"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"a b c", "abc"},
		{"a b left left X", "Xab"},
		{"a b home delete", "b"},
		{"a b c left ctrl+k", "ab"},
		{"a b c left ctrl+u", "c"},
		{"a b backspace", "a"},
		{"backspace delete left", ""},
		{"ä 漢 left backspace", "漢"},
	} {
		l := New("")
		for _, k := range strings.Fields(c.keys) {
			text := k
			if len(k) > 3 { // a key's name
				text = ""
			}
			l.Key(k, text)
		}
		if l.String() != c.want {
			t.Errorf("%s: %q, not %q", c.keys, l.String(), c.want)
		}
	}
	l := New("export first second")
	l.Key("ctrl+w", "")
	l.Insert(strings.Repeat("x", maxInput)) // too long
	l.Insert("\xff")
	if l.String() != "export first " {
		t.Errorf("%q", l.String())
	}
	if l.Key("f5", "") {
		t.Error("F5 edits")
	}
}

// Whatever was pasted: the line fits, and no control sequence gets through.
func TestRender(t *testing.T) {
	for _, utf8 := range []bool{true, false} {
		for _, text := range []string{"", "plain", strings.Repeat("漢", 60), "\x1b[2J\u009b31m\u202eevil\r\n", strings.Repeat("a\u0301", 50)} {
			l := New(text)
			for range 3 {
				got := l.Render(term.Term{Terminal: export.Terminal{UTF8: utf8}}, 30)
				if ansi.StringWidth(got) > 30 || strings.ContainsAny(ansi.Strip(got), "\x1b\u009b\r\n\u202e") || strings.Contains(got, "[2J\x1b") {
					t.Errorf("%q is shown as %q", text, got)
				}
				l.Key("left", "")
			}
		}
	}
}

func TestFind(t *testing.T) {
	names := []string{"show", "sort", "sorted", "quit"}
	for name, want := range map[string]int{"show": 0, "sort": 1, "sorte": 2, "q": 3, "sh": 0} {
		if k, err := Find(names, name); err != nil || k != want {
			t.Errorf("%s: %d, %v", name, k, err)
		}
	}
	for name, want := range map[string]string{"so": `"so" may be sort or sorted`, "x": `no command "x": :help lists them`} {
		if _, err := Find(names, name); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	var c Commands
	for _, n := range append(names, "quit!") {
		c.AddWith(n, "", "", nil, false, func(string) []string { return []string{"demo_ab", "demo_c", "x="} })
	}
	c.Add("none", "", "", nil)
	for line, want := range map[string]string{"": "; show sort sorted quit none", "s": "s; show sort sorted", "so": "sort", "sort": "sort; sort sorted", "q": "quit ",
		"show de": "show demo_", "show y": "show y", "show demo_a": "show demo_ab ", "show x": "show x=", "show x=": "show x=; x=", "none d": "none d"} {
		got, offers := c.Complete(line, c.Names())
		if len(offers) > 0 {
			got += "; " + strings.Join(offers, " ")
		}
		if got != want {
			t.Errorf("%q is completed to %q", line, got)
		}
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.CSV")
	if f, err := Format(path); err != nil || f != export.FormatCSV {
		t.Errorf("%v %v", f, err)
	}
	for _, bad := range []string{"", "a", "a.table", "a.names", ".wide"} {
		if _, err := Format(bad); err == nil {
			t.Errorf("%q is a format", bad)
		}
	}
	if err := Save("export", path, "a list", []byte("1"))().(Saved).Err; err != nil {
		t.Fatal(err)
	}
	if err := Save("export", path, "a list", []byte("2"))().(Saved).Err; err == nil || err.Error() != "the file exists; :export! "+path+" replaces it" {
		t.Errorf("written over: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "1" {
		t.Errorf("%q", b)
	}
	if err := Save("export!", path, "a list", nil)().(Saved).Err; err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(path); len(b) > 0 {
		t.Errorf("not replaced: %q", b)
	}
	if err := Save("export", filepath.Join(path, "b"), "a list", nil)().(Saved).Err; err == nil {
		t.Error("a file in a file was written")
	}
}
