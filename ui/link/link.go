// Package link connects a screen with the back end that uses MPI. The screen's process never loads MPI, so a library that crashes, hangs
// or prints does not affect the terminal. docs/guide.md describes the protocol.
package link

import (
	"context"
	"time"

	"mpitx/catalog"
)

// Backend is the source of an explorer's data. Its methods may be called concurrently. Each returns at the latest when its context ends:
// then the back end drops the request, unless it has begun. After the end of the back end, all methods return an error that wraps
// ErrEnded.
type Backend interface {
	// Catalog waits until the back end has read everything, both stages on all ranks. progress, unless it is nil, is
	// called with what the back end is doing, in words for people, before Catalog returns.
	Catalog(ctx context.Context, progress func(phase string)) (*catalog.Catalog, error)

	// Read reads variables after MPI_Init again, by their IDs (catalog.Variable.ID), on every rank. Ranks that do not answer in
	// time are Silent. A variable that does not exist after MPI_Init reads as catalog.StatusMissing. A faulty variable is not
	// read again, and keeps its reading.
	Read(ctx context.Context, ids []string) (*Sample, error)

	// Write writes a control variable and returns the outcome on each rank. A rank that does not answer in time has the result
	// catalog.WriteNoAnswer.
	Write(ctx context.Context, w catalog.WriteRequest) (catalog.Outcomes, error)

	// Workload starts a built-in workload on all ranks and stops the one that runs; "" only stops it.
	Workload(ctx context.Context, name string) error

	// Refresh collects all variables, categories and enumerations after MPI_Init again, and returns the new catalog. Ranks that do
	// not answer in time have no readings in it. Libraries add variables as they load components; EventChanged reports that. IDs
	// of the old catalog stay valid, and read as missing.
	Refresh(ctx context.Context) (*catalog.Catalog, error)

	// Events delivers unrequested news. The channel is closed after EventEnded. If nobody reads it, only the oldest log lines are
	// lost.
	Events() <-chan Event

	// Close ends the back end and waits for it, some seconds at most; then it kills the rest.
	Close() error
}

// Workloads are the names that Backend.Workload accepts.
var Workloads = []string{"pingpong", "alltoall", "unexpected", "halo", "idle"}

// Sample is the answer to one Read.
type Sample struct {
	Time   time.Time    // when the first rank answered, by the back end's clock
	Ranks  []RankSample // those that answered, in rank order
	Silent []int        // ranks that did not answer in time, in order
}

// RankSample is what one rank read.
type RankSample struct {
	Rank     int      `json:"rank"`
	Host     string   `json:"host,omitempty"`
	Readings Readings `json:"readings"` // one for each ID asked, in that order; Writable is not tried again and is empty
}

// EventKind says what happened.
type EventKind int

// The kinds of Event.
const (
	EventLog     EventKind = iota + 1 // Text was printed by the library or the launcher: one line, foreign and not safe for a terminal
	EventSilent                       // Rank did not answer in time; Variable is what it reads, if known; Text why it never will, if it will not
	EventAnswers                      // Rank answers again
	EventChanged                      // Rank's variables, categories or events differ from the catalog, as an answer has shown; reported once until Refresh
	EventEnded                        // the back end exited: Text says how; Rank died while it accessed Variable, if known
)

// Event is unrequested news.
type Event struct {
	Kind     EventKind
	Rank     int // -1: none
	Text     string
	Variable string // an ID
}

// Options says how a back end is started.
type Options struct {
	Command []string // the command, launcher included, that runs `mpitx backend serve` on each rank
	Env     []string // of the command; nil: this process's
	Exclude []string // IDs of variables to list and never access: each is added to Command as --exclude=ID
}

// Numbers identify variables in requests: the places in the first catalog, control variables first, from 0, followed by the variables
// that later catalogs add, in their order. Both sides count in the same way. The zero value is empty.
type Numbers struct {
	ids []string
	of  map[string]int
}

// Add numbers the variables of a catalog that have no number yet.
func (n *Numbers) Add(c *catalog.Catalog) {
	if n.of == nil {
		n.of = make(map[string]int, len(c.Cvars)+len(c.Pvars))
	}
	for _, v := range c.Entries(catalog.Cvars | catalog.Pvars) {
		id := v.ID()
		if _, ok := n.of[id]; !ok {
			n.of[id] = len(n.ids)
			n.ids = append(n.ids, id)
		}
	}
}

// Of is the number of a variable.
func (n *Numbers) Of(id string) (number int, ok bool) {
	number, ok = n.of[id]
	return number, ok
}

// ID is the variable of a number.
func (n *Numbers) ID(number int) (id string, ok bool) {
	if number < 0 || number >= len(n.ids) {
		return "", false
	}
	return n.ids[number], true
}
