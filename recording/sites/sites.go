// Package sites finds the source of the call sites of a profile, and of triggers.
package sites

import (
	"slices"

	"mpitx/recording/profile"
	"mpitx/symbols"
)

// Resolve finds functions, files and lines, and returns the programs and libraries for which it does not find them. What was kept with
// the run comes first. The error is an [Unreadable] of that file.
func Resolve(p *profile.Profile) ([]symbols.Problem, error) {
	all := symbols.New(symbols.Options{Recorded: p.Run.Start})
	defer all.Close()
	before, err := kept(p.Run.Dir)
	p.Resolve(func(at profile.Address) []profile.Frame {
		if at.Path == "" {
			return nil
		}
		return frames(all, before, at)
	})
	return all.Problems(), err
}

// frames are those of a return address: what was kept with the run, else what the files say.
func frames(all *symbols.Symbols, before map[profile.Address][]profile.Frame, at profile.Address) (found []profile.Frame) {
	if known := before[at.Code()]; len(known) > 0 {
		return slices.Clone(known)
	}
	for _, f := range all.Resolve(&symbols.Module{Path: at.Path, BuildID: at.BuildID}, at.Offset) {
		found = append(found, profile.Frame{Function: f.Function, File: f.File, Line: f.Line, Inlined: f.Inlined})
	}
	return found
}
