// Package inspect collects a catalog from a live MPI library, in one process or over all ranks of a job.
//
// The process that the user or the launcher started (the front) never loads MPI: MPI libraries crash, abort and hang.
// It starts two others of the same binary: one reads the stage before MPI_Init and never calls it, the other calls
// MPI_Init, reads the stage after it, and merges the ranks over MPI.
package inspect

import (
	"time"

	"mpitx/catalog"
	"mpitx/machine"
)

// Stage is before or after MPI_Init.
type Stage string

// The stages.
const (
	Before Stage = "before"
	After  Stage = "after"
)

// Options says what to collect.
type Options struct {
	Creator    string   // "mpitx 0.1.0"
	Exe        string   // this binary
	Environ    []string // of the MPI processes; nil means this process's
	MPI        machine.MPI
	Shim       string
	Launch     machine.Launch
	Self       bool // bind variables of communicators to MPI_COMM_SELF
	Writes     []catalog.WriteRequest
	WriteStage Stage
	Exclude    []string // IDs of variables that are listed but not read
	Timeout    time.Duration
	Phase      func(text string) // called with what the back end after MPI_Init does; may be nil
	Listing    bool              // the command cannot fail after everything is read, so ranks may exit while rank 0 merges
	Serve      bool              // the ranks stay: rank 0 settles with an invitation
	Gone       <-chan struct{}   // closed when the answer is no longer wanted; may be nil
}

// Job is the collected catalog, on rank 0; other ranks have nothing to print.
type Job struct {
	Live
	Root       bool
	Rank       int
	Host       string
	Catalog    *catalog.Catalog
	Outcomes   catalog.Outcomes
	Lost       map[int]string // why ranks did not answer
	Invitation []byte         // other ranks: to serve; nil means exit

	f      *front
	agreed int
}

// Error is a failure of the whole collection.
type Error struct {
	Text  string
	Quiet bool // rank 0 prints it
}

func (e *Error) Error() string { return e.Text }
