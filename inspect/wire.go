//go:build linux

package inspect

import (
	"time"

	"mpitx/catalog"
	"mpitx/machine"
)

// request is the task of a back end.
type request struct {
	Stage      Stage
	MPI        machine.MPI
	Shim       string // "" for the demo library
	Self       bool   // bind variables of communicators to MPI_COMM_SELF, not MPI_COMM_WORLD
	Alone      bool   // no launcher waits for this process
	Rank, Size int    // from the launcher's environment; -1 if unknown
	Before     bool   // a FrameBefore will follow
	Writes     []catalog.WriteRequest
	Exclude    []string      // IDs of variables not to read
	Patience   time.Duration // how long rank 0 waits for other ranks once it has finished itself
	Limit      time.Duration // after which a single call into the library counts as hanging
	Total      time.Duration // for trying all variables
}

// hello identifies a rank, as soon as it can send.
type hello struct {
	Rank, Size int
	Host       string
}

// result is the last frame of a back end.
type result struct {
	Outcomes catalog.Outcomes // of writes, of all ranks on rank 0
	Lost     map[int]string   // rank 0: ranks that did not answer, and how far they got
	Hosts    map[int]string   // rank 0: of the ranks that said hello
	Settings map[int][]string // rank 0: of the environment of ranks for which they differ from its own
	Bindings map[int]string   // rank 0: the processors of the ranks that may not use all of their node
}

// failure is an error sent to the front.
type failure struct {
	Text  string
	Whole bool // the whole job is wrong: every rank reports the same, and a partial answer would mislead
	Ended bool // a signal ended it; its sender reports why
}

// rootStages are the catalog.Roots that rank 0 sends for comparison.
type rootStages struct {
	After, Before []byte
	Settings      []string // of its environment (settings.Settings)
}

// report is what a rank sends to rank 0.
type report struct {
	Host     string
	After    []byte // catalog.Delta
	Before   []byte // catalog.Delta of a node's first rank; empty elsewhere
	Outcomes catalog.Outcomes
	Settings []string // of its environment, if Differs: they are not rank 0's
	Binding  string   // "CPU 3"; empty if it may use all processors of its node
	Differs  bool
	Failed   string // why the rest is empty
}
