package job

import (
	"time"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// Options says what to collect.
type Options struct {
	Creator    string   // "mpitx 0.1.0"
	Exe        string   // this binary
	Environ    []string // of the MPI processes; nil: this process's
	MPI        locate.MPI
	Shim       string
	Launch     locate.Launch
	Self       bool // bind variables of communicators to MPI_COMM_SELF
	Writes     []catalog.WriteRequest
	WriteStage Stage
	Exclude    []string // IDs of variables that are listed, and otherwise left alone
	Timeout    time.Duration
	Phase      func(text string)      // told what the back end after MPI_Init does; may be nil
	Prepare    func(*catalog.Catalog) // Serve: completes the catalog; may be nil
	Listing    bool                   // the command cannot fail once everything is read: ranks may end while rank 0 still merges
}

// Job is what was collected, on rank 0; on other ranks there is nothing to print.
type Job struct {
	Root     bool
	Catalog  *catalog.Catalog
	Outcomes catalog.Outcomes
	Lost     []string // ranks that did not answer, with host and reason

	f      *front
	agreed int
}

// Error is a failure of collecting as a whole.
type Error struct {
	Text  string
	Quiet bool // rank 0 says it
}

func (e *Error) Error() string { return e.Text }
