// Package finding has the form of what stands out in a run: a sentence for people, and what it is made from for programs.
package finding

import (
	"encoding/json"
	"strings"
)

// Finding is something that stands out.
type Finding struct {
	Kind      string    `json:"kind"`              // "waiting", "cycle", "load imbalance", …
	Subject   string    `json:"subject,omitempty"` // the function with its place, the phase, communicator or variable that it is about
	Ranks     []int     `json:"ranks,omitempty"`   // that it is about; none: all, or no single ones
	Certainty Certainty `json:"certainty"`
	Text      string    `json:"text"`           // a sentence with its figures
	Next      string    `json:"next,omitempty"` // what to look at, as the end of a sentence; RUN stands for the run
	Share     float64   `json:"share"`          // the part of the run time that it is about
	Figures   Figures   `json:"figures,omitempty"`
	Also      []Finding `json:"also,omitempty"` // what has the same cause
}

// Figures are numbers by name. Names end in their unit: _ns for nanoseconds, _bytes; the others are counts, numbers of ranks, or parts of 1.
type Figures map[string]float64

// MarshalJSON leaves out what JSON has no number for.
func (f Figures) MarshalJSON() ([]byte, error) {
	finite := map[string]float64{}
	for name, x := range f {
		if x-x == 0 {
			finite[name] = x
		}
	}
	return json.Marshal(finite)
}

// NextText says what to look at after a finding about a run; "" if nothing.
func (f *Finding) NextText(run string) string {
	if f.Next == "" {
		return ""
	}
	return strings.ReplaceAll("Look at "+f.Next+".", " RUN", " "+run)
}

// Certainty is how sure a conclusion is.
type Certainty uint8

// The certainties. Undecided is for what is described without a conclusion.
const (
	Certain Certainty = iota
	Possible
	Undecided
)

func (c Certainty) String() string { return [...]string{"certain", "possible", "unknown"}[c] }

// MarshalText implements encoding.TextMarshaler.
func (c Certainty) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
