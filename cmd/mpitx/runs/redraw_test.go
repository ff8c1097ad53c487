package runs

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
)

// shownBy is what is on a terminal after an output that moves the cursor up and clears the lines below it.
func shownBy(output string) string {
	var lines []string
	up := regexp.MustCompile(`^\x1b\[(\d+)A\x1b\[J`)
	for line := range strings.Lines(output) {
		if m := up.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			lines, line = lines[:len(lines)-n], line[len(m[0]):]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "")
}

// On a terminal an answer replaces the one before, however long its lines are; an answer that is too high is whole at the end. In a pipe
// answers follow each other, and programs get them without a blank line.
func TestRedraw(t *testing.T) {
	for _, c := range []struct {
		terminal export.Terminal
		people   bool
		want     string
	}{
		{export.Terminal{Width: 12, Height: 6, IsTTY: true}, true, "look 3\na a a a a a\na a\n"},
		{export.Terminal{Width: 12, Height: 3, IsTTY: true}, true, "look 3\na a a a a a\na a\n"},
		{export.Terminal{}, true, "look 1\na a a a a a a a\n\nlook 2\na a a a a a a a\n\nlook 3\na a a a a a a a\n"},
		{export.Terminal{}, false, "look 1\na a a a a a a a\nlook 2\na a a a a a a a\nlook 3\na a a a a a a a\n"},
	} {
		var b strings.Builder
		a := &cli.App{Out: bufio.NewWriter(&b)}
		r := redrawn{a: a, looks: func() (export.Terminal, error) { return c.terminal, nil }, on: c.people}
		for k := 1; k <= 3; k++ {
			err := r.draw(k < 3, func(export.Terminal) error {
				_, err := io.WriteString(a.Out, fmt.Sprintf("look %d\na a a a a a a a\n", k))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			a.Out.Flush()
			if got := shownBy(b.String()); c.terminal.Height == 3 && k == 2 && got != "look 2\n.. and 2 more lines\n" {
				t.Errorf("too high: %q", got)
			}
		}
		if got := shownBy(b.String()); got != c.want {
			t.Errorf("%+v: %q, not %q", c, got, c.want)
		}
	}
}
