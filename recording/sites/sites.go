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
	p.Resolve(func(at profile.Address) (frames []profile.Frame) {
		if at.Path == "" {
			return nil
		}
		if frames = before[at.Code()]; len(frames) > 0 {
			return slices.Clone(frames)
		}
		for _, f := range all.Resolve(&symbols.Module{Path: at.Path, BuildID: at.BuildID}, at.Offset) {
			frames = append(frames, profile.Frame{Function: f.Function, File: f.File, Line: f.Line, Inlined: f.Inlined})
		}
		return frames
	})
	return all.Problems(), err
}
