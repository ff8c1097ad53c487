package recording

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files of a run without chunks are damaged as its other files are: the first damaged place of each is named, and what is whole is read.
func TestSideFiles(t *testing.T) {
	claim := func(pid, left byte, name string) string {
		return string([]byte{pid, 0, 0, 0, left, 0, 0, 0}) + name + strings.Repeat("\x00", 24-len(name))
	}
	ends := `{"schema":"mpitx.ends","version":1,"host":"n","processes":[{"rank":0,"pid":7,"code":3,"signal":0}]}`
	for _, c := range []struct{ file, text, says string }{
		{"claims", "", ""},
		{"claims", claim(7, 0, "") + claim(0, 0, "") + claim(9, 2, "python3"), ""},
		{"claims", claim(7, 0, "") + claim(9, 2, "python3")[:20], "claims: damaged at byte 32: this is not the claim of a process"},
		{"claims", claim(0, 1, "x") + claim(9, 2, "python3"), "claims: damaged at byte 0: this is not the claim of a process"},
		{"claims", claim(1, 1, "") + strings.Repeat("\xff", 32) + "x", "claims: damaged at byte 32: this is not the claim of a process"},
		{"ends-n.json", ends, ""},
		{"ends-n.json", ends[:20], "ends-n.json: damaged at byte 20: unexpected end of JSON input"},
		{"ends-n.json", "", "ends-n.json: damaged at byte 0: unexpected end of JSON input"},
		{"ends-n.json", strings.Replace(ends, `7,`, `"7",`, 1), "ends-n.json: damaged at byte 78: processes.pid must not be a string"},
		{"ends-n.json", "{}", "ends-n.json: damaged at byte 0: this is not a document of mpitx.ends"},
		{"ends-n.json", strings.Replace(ends, `1,`, `2,`, 1), "ends-n.json: format version 2: this mpitx reads version 1; use the mpitx that recorded the run"},
		{"started-n", "0 7 100\n1 8 \n-1 9 101\nover\n2 9 102\n", ""},
		{"started-n", "0 7 100\n1 8", "started-n: damaged at byte 8: this is not a line of a rank that was started"},
		{"started-n", "0 7 100\n1 x 3\n1 8 9\n", "started-n: damaged at byte 8: "},
		{"started-n", "\x00\x00\x00\x00", "started-n: damaged at byte 0: "},
		{"started-n", "0 7 1o0\n", "started-n: damaged at byte 0: "},
		{"starte", "x", ""}, {"ends.json", "x", ""}, {"claims2", "x", ""},
	} {
		dir := save(t, counting(1, 0, 6, 3).Out).Dir
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		run := mustOpenAny(t, dir)
		run.LeftOut() // says no more than opening the run
		run.ReadExits()
		switch all := run.Damage(); {
		case c.says == "" && len(all) > 0, c.says != "" && (len(all) != 1 || !strings.HasPrefix(all[0].Error(), c.says)):
			t.Errorf("%s with %q: %v, want %q", c.file, c.text, all, c.says)
		}
		if all := run.LeftOut(); strings.Contains(c.text, claim(9, 2, "python3")) && len(all) != 1 {
			t.Errorf("%s with %q: left out: %v", c.file, c.text, all)
		}
	}
	dir := save(t, counting(1, 0, 6, 3).Out).Dir
	if err := os.Mkdir(filepath.Join(dir, "ends-n.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all := mustOpenAny(t, dir).Damage(); len(all) != 1 || !strings.Contains(all[0].Error(), "ends-n.json: not a regular file") {
		t.Error("a folder:", all)
	}
}

// The lines of ranks are read also if there are others between them.
func TestParseStarted(t *testing.T) {
	all, damaged := ParseStarted("0 7 100\nx\n1 8 \n2 9 102\nover\n3 10 103\n4 11 1")
	if want := (Started{2, 9, "102"}); len(all) != 3 || all[1] != want || damaged != 8 {
		t.Error(all, damaged)
	}
}
