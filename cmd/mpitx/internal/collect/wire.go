//go:build linux

package collect

import (
	"time"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// request is what a back end is to do.
type request struct {
	Stage      Stage
	MPI        locate.MPI
	Shim       string // "" for the demo library
	Self       bool   // bind variables of communicators to MPI_COMM_SELF, not MPI_COMM_WORLD
	Alone      bool   // no launcher waits for this process
	Rank, Size int    // as the launcher's environment says; -1 where unknown
	Before     bool   // a FrameBefore will follow
	Writes     []catalog.WriteRequest
	Exclude    []string      // IDs of variables to leave alone
	Patience   time.Duration // how long rank 0 waits for other ranks once it has finished itself
	Limit      time.Duration // after which a single call into the library counts as hanging
	Total      time.Duration // for trying all variables
}

// hello is what a rank says of itself as soon as it can.
type hello struct {
	Rank, Size int
	Host       string
}

// result ends what a back end has to say.
type result struct {
	Outcomes catalog.Outcomes // of writes, of all ranks on rank 0
	Lost     map[int]string   // rank 0: ranks that did not answer, and how far they came
	Hosts    map[int]string   // rank 0: of the ranks it heard of
}

// failure is an error that crosses to the front.
type failure struct {
	Text  string
	Whole bool // the job is not what it should be: every rank says the same, and half an answer would mislead
	Ended bool // a signal ended it: whoever sent that says why
}

// rootStages are what rank 0 sends for comparison: a catalog.Root each.
type rootStages struct{ After, Before []byte }

// report is what a rank sends to rank 0.
type report struct {
	Host     string
	After    []byte // catalog.Delta
	Before   []byte // catalog.Delta of a node's first rank; empty elsewhere
	Outcomes catalog.Outcomes
	Failed   string // why there is nothing else
}
