package chart

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// Time says what a time axis shows.
type Time struct {
	Step  time.Duration // between two values; 0: the axis has no times
	Whole bool          // the values begin at 0 and fill the axis, however few or many they are
	End   string        // the newest value's time, safe to print: "now"
}

// axis is a line of exactly width cells that begins with the time of the oldest of n values, or how long it is before the end, and
// ends with that of the newest. middle is written between them, styled; where there is no room, the times are left out.
func (t Time) axis(n int, middle string, width int, on term.Term) string {
	line := "─"
	if !on.UTF8 {
		line = "-"
	}
	left, right := "-"+Duration(time.Duration(n)*t.Step), t.End
	if t.Whole {
		left = "0s"
	}
	if middle != "" {
		middle = " " + middle + " "
	}
	taken := ansi.StringWidth(middle)
	if t.Step <= 0 || ansi.StringWidth(left)+ansi.StringWidth(right)+taken+3 > width {
		left, right = "", ""
	}
	rest := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if taken > rest-2 { // the scale alone
		middle = ansi.Truncate(strings.TrimPrefix(middle, " "), width, "")
		return middle + strings.Repeat(" ", max(width-ansi.StringWidth(middle), 0))
	}
	half := (rest - taken) / 2
	return left + strings.Repeat(line, half) + middle + strings.Repeat(line, rest-taken-half) + right
}

// Duration is a time for people: 850ms, 12.5s, 2m5s.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 100*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	}
	return d.Round(time.Second).String()
}
