//go:build cgo && linux

package inspect

import (
	"testing"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/fixtures/need"
)

// The whole answer of a singleton of the demo MPI.
func TestObserve(t *testing.T) {
	if !need.Process(t) {
		return
	}
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
	if len(before.Meta.Cvars) != 70 || len(before.Meta.Pvars) != 40 || len(before.Meta.Categories) != 14 || len(indices) != 70+40 {
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
}

// If the root's data cannot be read, a rank answers with everything.
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
