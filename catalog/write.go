package catalog

import (
	"cmp"
	"slices"
)

// WriteRequest is a request to write a value to a control variable, or to change a performance variable.
type WriteRequest struct {
	Name, Text string    // the value as ParseValue parses it; "": for a reset
	Kind       WriteKind `json:",omitempty"`
	Ranks      []int     // nil: all
	Force      bool      // write a variable of scope all or all-eq on some ranks only, and values that are not items of its enumeration
	DryRun     bool      `json:",omitempty"` // check, but write nothing
}

// WriteKind is what to do with a variable.
type WriteKind string

// The kinds. Reset and readreset are of performance variables (MPI-3.1, section 14.3.7).
const (
	WriteValue     WriteKind = ""
	WriteReset     WriteKind = "reset"
	WriteReadReset WriteKind = "readreset"
)

// NoChange is why a performance variable cannot be changed so; "": the library says that it can (MPI-3.1, section 14.3.7).
func (v *Variable) NoChange(c WriteKind) string {
	switch {
	case v.Kind != Pvars:
		return ""
	case v.Readonly:
		return "the library says that it is readonly (MPI_T_ERR_PVAR_NO_WRITE)"
	case c == WriteReadReset && !v.Atomic:
		return "the library says that it is not atomic (MPI_T_ERR_PVAR_NO_ATOMIC)"
	}
	return ""
}

// Outcome is the result of a WriteRequest on one rank.
type Outcome struct {
	Name           string
	Rank           int
	Host           string
	Old, New, Back Value // before, requested, read back; zero if unknown
	Result         WriteResult
	Detail         string
}

// WriteResult is the result of a write, verified by reading back.
type WriteResult string

// The results.
const (
	WriteOK        WriteResult = "ok"
	WriteUnchanged WriteResult = "ok but unchanged" // the library returned MPI_SUCCESS and kept the old value
	WriteNotNow    WriteResult = "not now"          // MPI_T_ERR_CVAR_SET_NOT_NOW
	WriteNever     WriteResult = "never"            // MPI_T_ERR_CVAR_SET_NEVER, MPI_T_ERR_PVAR_NO_WRITE or MPI_T_ERR_PVAR_NO_ATOMIC
	WriteFaulty    WriteResult = "faulty"           // the write crashes or hangs the library
	WriteInvalid   WriteResult = "invalid"          // not a value of this variable; nothing was written
	WriteRefused   WriteResult = "refused"          // by mpitx: the scope concerns other ranks too
	WriteDry       WriteResult = "would be written"
	WriteNext      WriteResult = "for the next run" // nothing was written: a file sets it
	WriteError     WriteResult = "error"
	WriteNoAnswer  WriteResult = "no answer" // before the timeout: the result is unknown
)

// Outcomes are the results of one or more writes on all ranks.
type Outcomes []Outcome

// SameOutcome is an Outcome with all ranks that have it. Its Rank and Host are not set.
type SameOutcome struct {
	Outcome
	Ranks []int
}

// Same groups equal outcomes by variable, and then by the first rank.
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
