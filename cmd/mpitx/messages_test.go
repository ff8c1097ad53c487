package main

import (
	"bufio"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mpitx/export"
	"mpitx/inspect"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
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
		sends    []int
	}{
		{code: 0},
		{err: errors.New("x"), code: 1, says: "mpitx: x\n"},
		{err: usagef("x"), code: 2, says: "mpitx: x\n"},
		{err: usagef("x"), launched: true, code: 2, says: "mpitx: x\n"},
		{err: failf("x"), launched: true, code: 1, says: "mpitx: x\n"},
		{err: &machine.Error{What: "x", Usage: true}, code: 2, says: "mpitx: x\n"},
		{err: &inspect.Error{Text: "x", Quiet: true}, code: 0},
		{err: syscall.EPIPE, code: 0},
		{err: exit(exitPartial), code: 3},
		{err: exit(exitPartial), lost: full, code: 3, says: "mpitx: disk full\n"},
		{err: full, lost: full, code: 1, says: "mpitx: disk full\n"},
		{err: &exitError{send: send}, code: 0, says: "sent", sends: []int{0}},
		{err: &exitError{code: 3, err: failf("x"), send: send}, code: 3, says: "mpitx: x\nsent", sends: []int{3}},
		{err: &exitError{code: 1, err: usagef("x"), send: send}, code: 2, says: "mpitx: x\nsent", sends: []int{2}},
		{err: &exitError{code: 3, err: syscall.EPIPE, send: send}, code: 3, says: "sent", sends: []int{3}},
		{err: &exitError{send: send}, lost: full, code: 1, says: "mpitx: disk full\nsent", sends: []int{1}},
		{err: &exitError{send: func(int) int { return 130 }}, code: 130},
	} {
		said.Reset()
		sent = nil
		a := &app{out: bufio.NewWriter(failing{c.lost}), errs: &said, std: &standard{}, env: &machine.Env{}}
		io.WriteString(a.out, "answer")
		if code := a.end(c.err, c.launched); code != c.code || said.String() != c.says || !slices.Equal(sent, c.sends) {
			t.Errorf("%v, %v, %v: code %d, sent %v, said %q", c.err, c.lost, c.launched, code, sent, said.String())
		}
	}
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return len(p), f.err }

// Text on standard error is whole if it does not go to a terminal, whatever standard output is, and however long it is.
func TestWholeOnStandardError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run1")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var said strings.Builder
	a := &app{out: bufio.NewWriter(io.Discard), errs: &said, std: &standard{}, env: &machine.Env{Environ: []string{export.TermVariable + "=width=40,color=1,utf8=1,tty=1", "COLUMNS=40", widthVariable + "=0"}}}
	o := &profileOptions{}
	o.a = a
	o.Summarize(run)
	for _, part := range []string{"MPI_Wait: solver+0x1180", "RECEIVED", "P95", "MIN AT", "KIND"} {
		if !strings.Contains(said.String(), part) {
			t.Errorf("no %q in\n%s", part, said.String())
		}
	}
	if strings.ContainsAny(said.String(), "…\x1b") {
		t.Errorf("it is cut, or coloured:\n%s", said.String())
	}
	said.Reset()
	long := strings.Repeat("x", 9999)
	a.complain("%s", long)
	if said.String() != "mpitx: "+long+"\n" {
		t.Errorf("%d characters of %d", said.Len(), len(long))
	}
}
