package runs

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"mpitx/cmd/mpitx/cli"
	"mpitx/export"
)

// redrawn is an answer for people that is printed again and again: on a terminal in place of the one before, elsewhere after it.
type redrawn struct {
	a     *cli.App
	looks func() (export.Terminal, error) // at the terminal: its size may change
	on    bool                            // it is for people; programs get one answer after the other
	round int
	lines int // of the terminal that the last answer takes
}

// draw prints an answer. While more follow, one that is higher than the terminal is cut: what has scrolled away cannot be replaced.
func (r *redrawn) draw(more bool, print func(export.Terminal) error) error {
	t, err := r.looks()
	if err != nil || !r.on {
		if err == nil {
			err = print(t)
		}
		return err
	}
	if t.Height == 0 {
		if r.round++; r.round > 1 {
			fmt.Fprintln(r.a.Out)
		}
		return print(t)
	}
	out := r.a.Out
	var b bytes.Buffer
	r.a.Out = bufio.NewWriter(&b)
	err = print(t)
	r.a.Out.Flush()
	r.a.Out = out
	if r.lines > 0 {
		fmt.Fprintf(out, "\x1b[%dA\x1b[J", r.lines)
	}
	text := wrapped(b.String(), t.Width)
	if left := len(text) - (t.Height - 2); more && left > 1 {
		text = append(text[:max(t.Height-2, 0)], fmt.Sprintf("%s and %d more lines", t.Ellipsis(), left))
	}
	r.lines = len(text)
	for _, line := range text {
		fmt.Fprintln(out, line)
	}
	return err
}

// wrapped is text as lines that fit the terminal.
func wrapped(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Split(export.Wrap(strings.TrimSuffix(line, "\n"), width), "\n")...)
	}
	return lines
}
