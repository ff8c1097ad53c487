//go:build cgo && linux

package transport

import (
	"errors"
	"testing"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/fixtures/need"
)

func TestPoll(t *testing.T) {
	n := 0
	if err := Poll(time.Now().Add(time.Minute), func() (bool, error) { n++; return n == 50, nil }); err != nil || n != 50 {
		t.Errorf("%v after %d", err, n)
	}
	broken := errors.New("broken")
	if err := Poll(time.Now().Add(time.Minute), func() (bool, error) { return false, broken }); err != broken {
		t.Errorf("%v", err)
	}
	if err := Poll(time.Now(), func() (bool, error) { return false, nil }); err != ErrLate {
		t.Errorf("%v", err)
	}
}

// In a singleton of the demo MPI, which sends messages to itself.
func TestMail(t *testing.T) {
	if !need.Process(t) {
		return
	}
	lib, err := binding.Demo()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lib.Init(catalog.ThreadSingle); err != nil {
		t.Fatal(err)
	}
	m := &Mail{Lib: lib}
	for _, text := range []string{"", "first", "second"} {
		if err := m.Send([]byte(text), 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Send([]byte("other"), 0, 2); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	if got, err := m.Wait(0, 2, deadline); err != nil || string(got) != "other" {
		t.Errorf("%q %v", got, err)
	}
	for _, want := range []string{"", "first", "second"} {
		if got, err := m.Wait(binding.AnySource, 1, deadline); err != nil || string(got) != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if _, err := m.Wait(0, 3, time.Now()); err != ErrLate {
		t.Errorf("%v", err)
	}
	if err := m.Flush(deadline); err != nil || len(m.pending) != 0 {
		t.Errorf("%v, %d pending", err, len(m.pending))
	}
}
