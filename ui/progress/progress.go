// Package progress shows the progress of long work.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

const (
	silence = time.Second            // shorter work shows nothing
	pause   = 100 * time.Millisecond // between two updates
	bar     = 30
	// shortest is the length below which a bar shows nothing that the percentage does not.
	shortest = 4
)

// Bar is a progress bar on a terminal, for use by one goroutine.
type Bar struct {
	w            io.Writer // nil shows nothing
	what         string
	now          func() time.Time
	start, shown time.Time
	width        int        // of the text on the terminal
	columns      func() int // of the terminal; 0 or nil: not known
}

// New makes a bar on standard error, or one that shows nothing if that is not a terminal. what is the activity:
// "exporting".
func New(what string) *Bar {
	b := &Bar{what: what, now: time.Now, start: time.Now()}
	if term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("TERM") != "dumb" {
		b.w = os.Stderr
		b.columns = func() int { // each time, as users resize terminals
			columns, _, _ := term.GetSize(int(os.Stderr.Fd()))
			return columns
		}
	}
	return b
}

// Update shows how much is done, from time to time. A total of 0 means unknown.
func (b *Bar) Update(done, total uint64) {
	if b.w == nil {
		return
	}
	now := b.now()
	if now.Sub(b.start) < silence || now.Sub(b.shown) < pause {
		return
	}
	b.shown = now
	room := b.room()
	text := fmt.Sprintf("mpitx: %s: %d samples", b.what, done)
	if total > 0 {
		done = min(done, total)
		part, length := float64(done)/float64(total), min(bar, room-len(b.what)-len("mpitx:  [] 100 %"))
		text = fmt.Sprintf("mpitx: %s %3.0f %%", b.what, 100*part)
		if length >= shortest {
			full := int(part * float64(length))
			text = fmt.Sprintf("mpitx: %s [%s%s] %3.0f %%", b.what, strings.Repeat("#", full), strings.Repeat("-", length-full), 100*part)
		}
	}
	text = text[:min(len(text), room)]
	fmt.Fprintf(b.w, "\r%-*s", min(b.width, room), text)
	b.width = max(b.width, len(text))
}

// room is the length of a line that the next one overwrites: a longer one would wrap.
func (b *Bar) room() int {
	if b.columns != nil {
		if columns := b.columns(); columns > 0 {
			return columns - 1
		}
	}
	return 1 << 10
}

// Clear removes the bar, so that other lines can follow.
func (b *Bar) Clear() {
	if b.width > 0 {
		fmt.Fprintf(b.w, "\r%*s\r", min(b.width, b.room()), "")
		b.width = 0
	}
}
