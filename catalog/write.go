package catalog

import (
	"cmp"
	"slices"
)

// WriteRequest asks for a value to be written into a control variable.
type WriteRequest struct {
	Name, Text string // the value as ParseValue reads it
	Ranks      []int  // nil: all
	Force      bool   // also a variable of scope all or all-eq on some ranks only
	DryRun     bool   `json:",omitempty"` // check, and write nothing
}

// Outcome is what came of a WriteRequest on one rank.
type Outcome struct {
	Name           string
	Rank           int
	Host           string
	Old, New, Back Value // before, asked for, read back; zero where not known
	Result         WriteResult
	Detail         string
}

// WriteResult is the honest outcome of a write.
type WriteResult string

// The results.
const (
	WriteOK        WriteResult = "ok"
	WriteUnchanged WriteResult = "ok but unchanged" // the library said yes, and the old value stands
	WriteNotNow    WriteResult = "not now"          // MPI_T_ERR_CVAR_SET_NOT_NOW
	WriteNever     WriteResult = "never"            // MPI_T_ERR_CVAR_SET_NEVER
	WriteFaulty    WriteResult = "faulty"           // the library crashes or hangs when it is written
	WriteInvalid   WriteResult = "invalid"          // not a value of this variable; nothing was written
	WriteRefused   WriteResult = "refused"          // by mpitx: the scope concerns other ranks too
	WriteDry       WriteResult = "would be written"
	WriteError     WriteResult = "error"
	WriteNoAnswer  WriteResult = "no answer" // in time: nothing is known
)

// Outcomes are what came of one or more writes on all ranks.
type Outcomes []Outcome

// SameOutcome is an Outcome with all ranks that have it; its own rank and host are not set.
type SameOutcome struct {
	Outcome
	Ranks []int
}

// Same puts equal outcomes together: by variable, and then by the first rank.
func (all Outcomes) Same() (same []SameOutcome) {
	at := map[Outcome]int{}
	for _, o := range slices.SortedStableFunc(slices.Values(all), func(a, b Outcome) int { return a.Rank - b.Rank }) {
		rank := o.Rank
		o.Rank, o.Host = 0, ""
		k, ok := at[o]
		if !ok {
			k = len(same)
			at[o] = k
			same = append(same, SameOutcome{Outcome: o})
		}
		same[k].Ranks = append(same[k].Ranks, rank)
	}
	slices.SortStableFunc(same, func(a, b SameOutcome) int { return cmp.Compare(a.Name, b.Name) })
	return same
}
