package settings

import (
	"fmt"
	"strings"
	"testing"

	"mpitx/fixtures/mutate"
	"pgregory.net/rapid"
)

// What Open MPI 4.1.4 makes of each line (measured: mpirun … mpitx read).
func TestKeyval(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"links = 3\n", "1 links=3"},
		{"  links\t=\t3   \n", "1 links=3"},
		{"if_include eth0\n", "1 dropped"},
		{"if_include: eth0\n", "1 dropped"},
		{"links\n= 3\n", "1 dropped, 2 dropped"},
		{"a b links = 3\n", "1 links=3"},
		{"export links=3\n", "1 dropped"},
		{"btl:links = 3\n", "1 links=3"},
		{"; links = 3\n", "1 links=3"},
		{"# links = 3\n", ""},
		{"# links = 3", "1 links=3"}, // the end of the file
		{"// links = 3\nx = 1", "2 x=1"},
		{"/* links = 3\nx = 4 */ y = 5\n", "2 y=5"},
		{"/* never ends\nx = 1\n", ""},
		{"if_include =\n", "1 if_include="},
		{"if_include =", "1 if_include="},
		{"x = \"a b\" # c\r\n\r\n", "1 x=\"a b\" # c\r, 2 dropped"},
		{"= 3\n", "1 dropped"},
		{"-mca x 1 --mca y \"a b\" -x A=2 -x B\nz=3\n", "1 x=1, 1 y=a b, 2 z=3"},
		{"-mca x\ny = 2\n", "1 dropped, 2 y=2"},
		{"\n\n \t\nx=1=2\n", "4 x=1=2"},
	} {
		var got []string
		for _, l := range parseKeyval(c.text) {
			for _, s := range l.settings {
				got = append(got, fmt.Sprintf("%d %s=%s", l.number, s.Name, s.Value))
			}
			if l.nothing && len(l.settings) == 0 {
				got = append(got, fmt.Sprintf("%d dropped", l.number))
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%q: %s, want %s", c.text, strings.Join(got, ", "), c.want)
		}
	}
}

// Any text ends, and no line is counted that the text does not have.
func TestKeyvalOfAnything(t *testing.T) {
	seed := []byte("a = 1\n/* x */ -mca b \"2\" -x C=3\n# d\n'e' f = 4\n")
	rapid.Check(t, func(t *rapid.T) {
		text := string(mutate.Bytes(seed, rapid.SliceOf(rapid.Byte()).Draw(t, "script")))
		if n := len(parseKeyval(text)); n > strings.Count(text, "\n")+2 {
			t.Errorf("%q: %d lines", text, n)
		}
	})
}
