package cli

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mpitx/inspect"
	"mpitx/machine"
)

// The exit code is the worst one of a command. It is sent once, after all messages.
func TestEnd(t *testing.T) {
	var said strings.Builder
	var sent []int
	send := func(code int) int {
		sent = append(sent, code)
		said.WriteString("sent")
		return code
	}
	full := errors.New("disk full")
	for _, c := range []struct {
		err      error
		lost     error // of writing the answer
		launched bool
		code     int
		says     string
		last     func(int) int
		sends    []int
	}{
		{code: 0},
		{err: errors.New("x"), code: 1, says: "mpitx: x\n"},
		{err: Usagef("x"), code: 2, says: "mpitx: x\n"},
		{err: Usagef("x"), launched: true, code: 2, says: "mpitx: x\n"},
		{err: Failf("x"), launched: true, code: 1, says: "mpitx: x\n"},
		{err: &machine.Error{What: "x", Usage: true}, code: 2, says: "mpitx: x\n"},
		{err: &inspect.Error{Text: "x", Quiet: true}, code: 0},
		{err: syscall.EPIPE, code: 0},
		{err: Exit(ExitPartial), code: 3},
		{err: Exit(ExitPartial), lost: full, code: 3, says: "mpitx: disk full\n"},
		{err: full, lost: full, code: 1, says: "mpitx: disk full\n"},
		{last: send, code: 0, says: "sent", sends: []int{0}},
		{err: Ended(3, Failf("x")), last: send, code: 3, says: "mpitx: x\nsent", sends: []int{3}},
		{err: Ended(1, Usagef("x")), last: send, code: 2, says: "mpitx: x\nsent", sends: []int{2}},
		{err: Ended(3, syscall.EPIPE), last: send, code: 3, says: "sent", sends: []int{3}},
		{last: send, lost: full, code: 1, says: "mpitx: disk full\nsent", sends: []int{1}},
		{last: func(int) int { return 130 }, code: 130},
		{err: ErrFollower, launched: true, code: 0},
	} {
		said.Reset()
		sent = nil
		a := &App{Out: bufio.NewWriter(failing{c.lost}), Errs: &said, Std: &Standard{}, Env: &machine.Env{}, Last: c.last}
		io.WriteString(a.Out, "answer")
		if code := a.End(c.err, c.launched); code != c.code || said.String() != c.says || !slices.Equal(sent, c.sends) {
			t.Errorf("%v, %v, %v: code %d, sent %v, said %q", c.err, c.lost, c.launched, code, sent, said.String())
		}
	}
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return len(p), f.err }
