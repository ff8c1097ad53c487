// Package link connects a screen with the back end where MPI lives. The screen's process never loads MPI: a library that
// crashes, hangs or prints leaves the terminal whole. docs/protocol.md describes what is spoken.
package link

import (
	"context"
	"time"

	"mpitx/catalog"
)

// Backend is where an explorer's data come from. Its methods may be called concurrently. Each ends at the latest with its
// context: a request whose context ends is withdrawn from the back end too, where it has not begun. After the end of the
// back end all of them answer with an error that wraps ErrEnded.
type Backend interface {
	// Catalog waits until the back end has read everything, both stages on all ranks. progress, where it is not nil, is
	// called with what the back end is doing, in the words for people, before Catalog returns.
	Catalog(ctx context.Context, progress func(phase string)) (*catalog.Catalog, error)

	// Read reads variables of the stage after MPI_Init again, by their IDs (catalog.Variable.ID), on every rank that
	// answers in time; those that do not are Silent. A variable that does not exist after MPI_Init reads as
	// catalog.StatusMissing; one that was found faulty is not touched again, and reads as what was found.
	Read(ctx context.Context, ids []string) (*Sample, error)

	// Write writes one control variable and says what came of it on each rank. A rank that does not answer in time has
	// the result catalog.WriteNoAnswer.
	Write(ctx context.Context, w catalog.WriteRequest) (catalog.Outcomes, error)

	// Workload starts a built-in exerciser on all ranks, in the place of the one that runs; "" stops it.
	Workload(ctx context.Context, name string) error

	// Events delivers what nobody asked for. The channel is closed after EventEnded. Who does not read it loses the oldest
	// log lines, nothing else.
	Events() <-chan Event

	// Close ends the back end and waits for it, some seconds at most; what is left then is killed.
	Close() error
}

// Refresher is a Backend that can collect everything again.
type Refresher interface {
	// Refresh reads all variables, categories and enumerations of the stage after MPI_Init anew, on all ranks that answer in
	// time, and returns the new catalog; ranks that do not answer are without a reading there. Libraries add variables as
	// they load components: EventChanged tells of it. IDs that the old catalog alone had stay valid, and read as missing.
	Refresh(ctx context.Context) (*catalog.Catalog, error)
}

// Workloads are the names that Backend.Workload knows.
var Workloads = []string{"pingpong", "alltoall", "unexpected", "halo", "idle"}

// Sample is the answer to one Read.
type Sample struct {
	Time   time.Time    // when the first rank answered, by the back end's clock
	Ranks  []RankSample // those that answered, in rank order
	Silent []int        // those that did not answer in time, in order
}

// RankSample is what one rank read.
type RankSample struct {
	Rank     int
	Host     string
	Readings []catalog.Reading // one for each ID asked, in that order; Writable is not tried again and is empty
}

// EventKind tells what happened.
type EventKind int

// The kinds of Event.
const (
	EventLog     EventKind = iota + 1 // Text was printed by the library or the launcher: one line, foreign and not safe for a terminal
	EventSilent                       // Rank did not answer in time; Variable is what it reads, if known; Text why it never will, if that is so
	EventAnswers                      // Rank answers again
	EventChanged                      // Rank lists other variables or categories than the catalog does, as an answer has shown; told once until Refresh
	EventEnded                        // the back end is gone: Text says how; Rank died in the access to Variable, if known
)

// Event is something that nobody asked for.
type Event struct {
	Kind     EventKind
	Rank     int // -1 where it concerns none
	Text     string
	Variable string // an ID
}

// Options says how a back end is started.
type Options struct {
	Command []string // the command, launcher included, that runs `mpitx backend serve` on each rank
	Env     []string // of the command; nil: this process's
	Dir     string   // where it runs; "": here
	Exclude []string // IDs of variables to list and otherwise to leave alone: each is added to Command as --exclude=ID
}
