package catalog

import (
	"cmp"
	"math"
	"strconv"
	"time"
)

// Source is an event source (MPI-4.0, section 15.3.8): what raises events, and the clock of their timestamps.
type Source struct {
	Name           string      `json:"name"`
	Description    string      `json:"description,omitzero"`
	Order          SourceOrder `json:"order"`
	TicksPerSecond int64       `json:"ticks_per_second"`    // of its clock
	MaxTicks       int64       `json:"max_ticks"`           // the clock starts again from 0 after this one
	Readable       bool        `json:"readable,omitzero"`   // MPI_T_source_get_timestamp works; else only events have timestamps
	Hints          []Hint      `json:"hints,omitempty"`     // by key
	Status         Status      `json:"status,omitzero"`     // the result of reading its clock, in a process that is discarded
	Reason         string      `json:"reason,omitzero"`     // why the status is not StatusOK
	Before         bool        `json:"before,omitzero"`     // exists before MPI_Init
	After          bool        `json:"after,omitzero"`      // exists after MPI_Init
	Conflicts      []Conflict  `json:"conflicts,omitempty"` // properties that differ between processes; the standard allows it
}

// ID is the source's name.
func (s *Source) ID() string { return s.Name }

// Tick is the time between two ticks of the clock; 0 if it is unknown or less than 1 ns.
func (s *Source) Tick() time.Duration {
	if s.TicksPerSecond <= 0 {
		return 0
	}
	return time.Duration(int64(time.Second) / s.TicksPerSecond)
}

// Wraps is the time after which the clock starts again from 0; 0 if that is not known or takes more than 100 years.
func (s *Source) Wraps() time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if s.TicksPerSecond <= 0 || s.MaxTicks <= 0 || s.MaxTicks == math.MaxInt64 {
		return 0
	}
	seconds := (float64(s.MaxTicks) + 1) / float64(s.TicksPerSecond)
	if seconds > most.Seconds() {
		return 0
	}
	return time.Duration(seconds * float64(time.Second))
}

func (s *Source) conflicts() *[]Conflict { return &s.Conflicts }

func (s *Source) compare(o *Source) int { return cmp.Compare(s.Name, o.Name) }

func (s *Source) eachText(visit func(*string, textKind)) {
	visit(&s.Description, proseText)
	visit(&s.Reason, dataText)
	hintTexts(s.Hints, visit)
}

func (s *Source) code(c *coder) {
	c.string(&s.Name)
	c.string(&s.Description)
	code32(c, &s.Order)
	s.TicksPerSecond, s.MaxTicks = c.int64(s.TicksPerSecond), c.int64(s.MaxTicks)
	c.bool(&s.Readable)
	codeList(c, &s.Hints, 2, (*coder).hint)
	c.status(&s.Status)
	c.string(&s.Reason)
}

func (s *Source) merge(rank int, here *Source) {
	s.Conflicts = appendSourceConflicts(s.Conflicts, rank, here, s)
	worse(&s.Status, &s.Reason, rank, here.Status, here.Reason)
}

func (s *Source) join(b *Source) Source {
	out := *cmp.Or(s, b)
	if s != nil && b != nil {
		out.Conflicts = joinConflicts(s.Conflicts, b.Conflicts, appendSourceConflicts(nil, BeforeRank, b, s))
	}
	out.Before, out.After = b != nil, s != nil
	return out
}

func appendSourceConflicts(to []Conflict, rank int, here, root *Source) []Conflict {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	to = appendConflict(to, rank, "order", here.Order.String(), root.Order.String())
	to = appendConflict(to, rank, "ticks_per_second", number(here.TicksPerSecond), number(root.TicksPerSecond))
	to = appendConflict(to, rank, "max_ticks", number(here.MaxTicks), number(root.MaxTicks))
	to = appendConflict(to, rank, "readable", strconv.FormatBool(here.Readable), strconv.FormatBool(root.Readable))
	return appendConflict(to, rank, "description", here.Description, root.Description)
}
