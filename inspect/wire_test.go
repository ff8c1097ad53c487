//go:build linux

package inspect

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
	"mpitx/inspect/transport"
	"mpitx/machine"
)

// All fields of messages between processes and ranks survive packing.
func TestPack(t *testing.T) {
	sent := request{Stage: After, MPI: machine.MPI{Family: "openmpi", Impl: "openmpi", Lib: "/lib/libmpi.so", Launcher: "/bin/mpirun"}, Shim: "/shim.so", Self: true,
		Rank: 3, Size: 4, Before: true, Patience: 5, Limit: 7,
		Writes: []catalog.WriteRequest{{Name: "a", Text: "1,2", Ranks: []int{0, 2}, Force: true, DryRun: true}}}
	var got request
	if err := transport.Unpack(transport.Pack(sent), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sent, got); d != "" {
		t.Error(d)
	}

	v := &catalog.Variable{Kind: catalog.Cvars, Name: "a", Type: catalog.TypeInt}
	value, err := catalog.ParseValue(v, nil, 2, "5,-6")
	if err != nil {
		t.Fatal(err)
	}
	answer := report{Host: "h", After: []byte{1}, Before: []byte{2}, Failed: "why", Settings: []string{"OMPI_MCA_a=1"}, Differs: true,
		Outcomes: catalog.Outcomes{{Name: "a", Rank: 2, Host: "h", Old: value, New: value, Back: value, Result: catalog.WriteOK, Detail: "d"}}}
	var back report
	if err := transport.Unpack(transport.Pack(answer), &back); err != nil {
		t.Fatal(err)
	}
	if back.Outcomes[0].Old.String() != "5,-6" || back.Outcomes[0].Result != catalog.WriteOK || back.Failed != "why" || !back.Differs || back.Settings[0] != "OMPI_MCA_a=1" || !bytes.Equal(back.Before, []byte{2}) {
		t.Errorf("%+v", back)
	}
}
