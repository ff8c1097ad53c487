package recording

import (
	"time"

	"mpitx/recording/store"
)

// EventChain is the events of one thread, in blocks. A thread may continue the chain of one that has ended.
type EventChain struct {
	Rank *Rank
	ID   ChainID

	chain store.Chain
	main  bool // the first one of its rank
}

// ChainID identifies a chain of events in its run.
type ChainID struct {
	Stream uint64
	Number uint16
}

// EventBlock is a part of a chain: some hundred to some thousand events.
type EventBlock struct {
	Sequence uint64        // identifies it among the blocks of its rank; later ones have greater numbers
	First    time.Duration // not later than its first event, since the job's start
}

// EventChains are the chains of all ranks, in the order of [Event.Chain].
func (run *Run) EventChains() (all []*EventChain) {
	for _, r := range run.Ranks {
		all = append(all, r.eventChains()...)
	}
	return all
}

func (r *Rank) eventChains() (all []*EventChain) {
	for i, chain := range r.process.Chains(store.KindEvents) {
		all = append(all, &EventChain{r, ChainID{r.process.Stream, chain.Number}, chain, i == 0})
	}
	return all
}

// EventBlocks are the blocks of a chain.
func (run *Run) EventBlocks(c *EventChain) (all []EventBlock) {
	c.Rank.process.Blocks(c.chain, func(sequence, first uint64) {
		all = append(all, EventBlock{sequence, run.time(c.Rank, first)})
	})
	return all
}

// EventReader reads chains of events from any block on. Its events have a Body, and no Values.
type EventReader struct{ eventCursor }

// EventReader returns a reader, which must not be used together with another one of the same run.
func (run *Run) EventReader() *EventReader {
	return &EventReader{eventCursor{run: run, bodies: true}}
}

// Seek moves to the first event of a block.
func (r *EventReader) Seek(c *EventChain, sequence uint64) {
	if r.chunks == nil {
		r.chunks = r.run.store.Cursor(c.Rank.process, c.chain)
	}
	r.chunks.Seek(c.Rank.process, c.chain, sequence)
	r.records = records{chunks: r.chunks}
	r.begin(c, c.Rank.process.Begins(c.chain, sequence))
}

// Next returns the next event of the chain, valid until the next call; nil if there is none so far.
func (r *EventReader) Next() *Event {
	if !r.next() {
		return nil
	}
	r.event.Block, _ = r.chunks.Chunk()
	return &r.event
}
