package profile

import (
	"fmt"
	"slices"

	"mpitx/text"

	"mpitx/recording"
)

// Outside stands for the time outside of all phases in a [Cut].
const Outside = "-"

// Cut restricts a profile to parts of the run. Empty lists are no restriction.
type Cut struct {
	Phases  []string `json:"phases,omitempty"`        // names, or Outside
	Ranks   []int    `json:"ranks,omitempty"`         // of MPI_COMM_WORLD
	Objects []string `json:"communicators,omitempty"` // texts of communicators, windows and files: see [Object.Text]

	Functions []string `json:"-"` // patterns of MPI functions: see [text.CompileGlob]

	NoArrivals bool `json:"-"` // leave them out, which saves most of the time of large runs
}

func (c *Cut) rank(r *recording.Rank) bool {
	return r.Rank >= 0 && (len(c.Ranks) == 0 || slices.Contains(c.Ranks, r.Rank))
}

func (c *Cut) phase(name string) bool {
	if name == "" {
		name = Outside
	}
	return len(c.Phases) == 0 || slices.Contains(c.Phases, name)
}

func (c *Cut) object(name string) bool {
	return len(c.Objects) == 0 || slices.Contains(c.Objects, name)
}

// Function reports whether a function is chosen. Patterns that cannot be compiled match nothing.
func (c *Cut) Function(name string) bool {
	return len(c.Functions) == 0 || slices.ContainsFunc(c.Functions, func(pattern string) bool {
		glob, err := text.CompileGlob(pattern)
		return err == nil && glob.Match(name)
	})
}

// someCalls reports whether the profile has only a part of the calls of each moment, so that the time outside of MPI is not known.
func (c *Cut) someCalls() bool { return len(c.Objects)+len(c.Functions) > 0 }

// UnknownError says that a run does not have something that a [Cut] names.
type UnknownError struct {
	What, Name string   // "phase", "solve"
	Known      []string // those that the run has
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s: the run has no such %s", e.Name, e.What)
}

// check returns an error if the run lacks something that the cut names.
func (c *Cut) check(phases, objects, functions map[string]bool, ranks map[int]bool) error {
	for _, r := range c.Ranks {
		if !ranks[r] {
			return &UnknownError{"rank", fmt.Sprint(r), nil}
		}
	}
	for _, name := range c.Phases {
		if name != Outside && !phases[name] {
			return &UnknownError{"phase", name, names(phases)}
		}
	}
	for _, name := range c.Objects {
		if !objects[name] {
			return &UnknownError{"communicator, window or file", name, names(objects)}
		}
	}
	for _, pattern := range c.Functions {
		one := Cut{Functions: []string{pattern}}
		if !slices.ContainsFunc(names(functions), one.Function) {
			return &UnknownError{"function", pattern, names(functions)}
		}
	}
	return nil
}

func names(set map[string]bool) (list []string) {
	for name := range set {
		if name != "" {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
