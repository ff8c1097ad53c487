//go:build cgo && linux

package job

import (
	"errors"
	"testing"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

func TestPoll(t *testing.T) {
	n := 0
	if err := poll(time.Now().Add(time.Minute), func() (bool, error) { n++; return n == 50, nil }); err != nil || n != 50 {
		t.Errorf("%v after %d", err, n)
	}
	broken := errors.New("broken")
	if err := poll(time.Now().Add(time.Minute), func() (bool, error) { return false, broken }); err != broken {
		t.Errorf("%v", err)
	}
	if err := poll(time.Now(), func() (bool, error) { return false, nil }); err != errLate {
		t.Errorf("%v", err)
	}
}

var initialized bool // the library can be initialized once in a process

// In a singleton of the demo MPI, which talks to itself: mail, and everything that a process reveals.
func TestSingleton(t *testing.T) {
	if initialized {
		t.Skip("with -count only the first time")
	}
	initialized = true
	lib, err := binding.Demo()
	if err != nil {
		t.Fatal(err)
	}
	tool, _, err := lib.InitThread(catalog.ThreadMultiple)
	if err != nil {
		t.Fatal(err)
	}
	before, indices, err := observe(lib, tool, binding.ProbeOptions{Object: binding.CommWorld, TrialWrites: true, Limit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Meta.Cvars) != 70 || len(before.Meta.Pvars) != 31 || len(before.Meta.Categories) != 14 || len(indices) != 70+31 {
		t.Errorf("before MPI_Init: %d control variables (%d indices), %d performance variables, %d categories", len(before.Meta.Cvars), len(indices),
			len(before.Meta.Pvars), len(before.Meta.Categories))
	}
	if len(before.Readings) != len(before.Meta.Cvars)+len(before.Meta.Pvars) {
		t.Errorf("%d readings", len(before.Readings))
	}
	if _, err := lib.Init(catalog.ThreadSingle); err != nil {
		t.Fatal(err)
	}
	after, _, err := observe(lib, tool, binding.ProbeOptions{Object: binding.CommSelf, TrialWrites: true, Limit: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if after.Stage.DeadCvars != 2 || after.Stage.DeadPvars != 1 || len(after.Meta.Cvars) != 72 {
		t.Errorf("after MPI_Init: %+v, %d control variables", after.Stage, len(after.Meta.Cvars))
	}
	for k, v := range after.Meta.Cvars {
		if v.Name == "demo_comm_eager_limit" && after.Readings[k].Status != catalog.StatusOK {
			t.Errorf("%s: %+v", v.Name, after.Readings[k])
		}
	}

	m := &mail{lib: lib}
	for _, text := range []string{"", "first", "second"} {
		if err := m.send([]byte(text), 0, tagReport); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.send([]byte("other"), 0, tagVerdict); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	if got, err := m.wait(0, tagVerdict, deadline); err != nil || string(got) != "other" {
		t.Errorf("%q %v", got, err)
	}
	for _, want := range []string{"", "first", "second"} {
		if got, err := m.wait(binding.AnySource, tagReport, deadline); err != nil || string(got) != want {
			t.Errorf("%q %v, want %q", got, err, want)
		}
	}
	if _, err := m.wait(0, tagHello, time.Now()); err != errLate {
		t.Errorf("%v", err)
	}
	if err := m.flush(deadline); err != nil || len(m.pending) != 0 {
		t.Errorf("%v, %d pending", err, len(m.pending))
	}
}

// A root that cannot be read is answered with everything.
func TestDifference(t *testing.T) {
	p := &catalog.Process{Rank: 3, Host: "h", Meta: catalog.Meta{Lists: catalog.Lists{Cvars: []catalog.Variable{{Kind: catalog.Cvars, Name: "a"}}}}, Readings: []catalog.Reading{{Status: catalog.StatusOK}}}
	for _, root := range [][]byte{nil, {1, 2, 3}} {
		ds, err := catalog.DecodeDeltas(difference(root, p))
		if err != nil || len(ds) != 1 || ds[0].Rank != 3 || ds[0].Whole == nil {
			t.Errorf("%v %+v", err, ds)
		}
	}
	ds, err := catalog.DecodeDeltas(difference(p.Root().AppendBinary(nil), p))
	if err != nil || len(ds) != 1 || ds[0].Whole != nil {
		t.Errorf("%v %+v", err, ds)
	}
}
