package link

import (
	"cmp"
	"encoding/json"

	"mpitx/catalog"
)

// Version is the version of the protocol. A back end of another version is refused.
const Version = 1

// The requests of the screen.
const (
	DoHello    = "hello"    // first: Version
	DoRead     = "read"     // Variables, Millis: answered by IsSample
	DoWrite    = "write"    // Write, Millis: answered by IsOutcomes
	DoWorkload = "workload" // Name: answered by IsDone
	DoRefresh  = "refresh"  // Millis: answered by IsCatalog, all parts, and IsDone
	DoCancel   = "cancel"   // ID of the request to drop; no answer
	DoEnd      = "end"      // no answer but IsEnded
)

// Request is a message of the screen.
type Request struct {
	ID        uint64                `json:"id,omitempty"`
	Do        string                `json:"do"`
	Version   int                   `json:"version,omitempty"`
	Variables []int                 `json:"variables,omitempty"` // by Numbers
	Millis    int64                 `json:"ms,omitempty"`        // time limit of the ranks
	Write     *catalog.WriteRequest `json:"write,omitempty"`
	Name      string                `json:"name,omitempty"` // of a workload
}

// The answers and news of the back end.
const (
	IsHello    = "hello"    // first: Version, Text (who)
	IsPhase    = "phase"    // Text: what it is doing until the catalog is there
	IsCatalog  = "catalog"  // Part of Parts, Data: a piece of the catalog's document
	IsSample   = "sample"   // ID, Millis (UNIX time), Ranks, Silent
	IsOutcomes = "outcomes" // ID, Outcomes
	IsDone     = "done"     // ID
	IsError    = "error"    // ID, Text: this request failed
	IsSilent   = "silent"   // Rank, Variable
	IsAnswers  = "answers"  // Rank
	IsChanged  = "changed"  // Rank
	IsEnded    = "ended"    // last: Text, Rank, Variable
)

// Reply is a message of the back end.
type Reply struct {
	ID       uint64       `json:"id,omitempty"`
	Is       string       `json:"is"`
	Version  int          `json:"version,omitempty"`
	Text     string       `json:"text,omitempty"`
	Part     int          `json:"part,omitempty"`
	Parts    int          `json:"parts,omitempty"`
	Data     []byte       `json:"data,omitempty"`
	Millis   int64        `json:"ms,omitempty"`
	Ranks    []RankSample `json:"ranks,omitempty"`
	Silent   []int        `json:"silent,omitempty"`
	Outcomes wireOutcomes `json:"outcomes,omitempty"`
	Rank     int          `json:"rank"`
	Variable string       `json:"variable,omitempty"`
}

func valueBytes(v catalog.Value) []byte {
	if v.IsZero() {
		return nil
	}
	b, _ := v.MarshalBinary() // does not fail
	return b
}

func valueOf(b []byte) (v catalog.Value) {
	if len(b) > 0 && v.UnmarshalBinary(b) != nil {
		return catalog.Value{}
	}
	return v
}

// Readings are readings that messages carry with the types of their values.
type Readings []catalog.Reading

type wireReading struct {
	Status catalog.Status `json:"s,omitempty"` // empty: ok
	Reason string         `json:"r,omitempty"`
	Value  []byte         `json:"v,omitempty"` // catalog.Value.MarshalBinary
	Count  int            `json:"n,omitempty"`
}

// MarshalJSON writes the form of messages.
func (all Readings) MarshalJSON() ([]byte, error) {
	wire := make([]wireReading, len(all))
	for k, r := range all {
		wire[k] = wireReading{r.Status, r.Reason, valueBytes(r.Value), r.Count}
		if r.Status == catalog.StatusOK {
			wire[k].Status = ""
		}
	}
	return json.Marshal(wire)
}

// UnmarshalJSON reads the form of messages.
func (all *Readings) UnmarshalJSON(b []byte) error {
	var wire []wireReading
	err := json.Unmarshal(b, &wire)
	for _, w := range wire {
		r := catalog.Reading{Status: cmp.Or(w.Status, catalog.StatusOK), Reason: w.Reason, Value: valueOf(w.Value), Count: w.Count}
		*all = append(*all, r)
	}
	return err
}

// wireOutcomes is the form of outcomes in messages, with values as in Readings.
type wireOutcomes []catalog.Outcome

type wireOutcome struct {
	Rank   int                 `json:"rank"`
	Host   string              `json:"host,omitempty"`
	Old    []byte              `json:"old,omitempty"`
	New    []byte              `json:"new,omitempty"`
	Back   []byte              `json:"back,omitempty"`
	Result catalog.WriteResult `json:"result"`
	Detail string              `json:"detail,omitempty"`
}

func (all wireOutcomes) MarshalJSON() ([]byte, error) {
	wire := make([]wireOutcome, len(all))
	for k, o := range all {
		wire[k] = wireOutcome{o.Rank, o.Host, valueBytes(o.Old), valueBytes(o.New), valueBytes(o.Back), o.Result, o.Detail}
	}
	return json.Marshal(wire)
}

func (all *wireOutcomes) UnmarshalJSON(b []byte) error {
	var wire []wireOutcome
	err := json.Unmarshal(b, &wire)
	for _, w := range wire {
		*all = append(*all, catalog.Outcome{Rank: w.Rank, Host: w.Host, Old: valueOf(w.Old), New: valueOf(w.New), Back: valueOf(w.Back), Result: w.Result, Detail: w.Detail})
	}
	return err
}
