package sites

import (
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/trigger"
	"mpitx/symbols"
)

// Triggers reads the triggers of a run, with the sources of call sites.
func Triggers(run *recording.Run) []*trigger.Trigger {
	all := trigger.Read(run)
	if len(all) == 0 {
		return nil
	}
	s := symbols.New(symbols.Options{Recorded: run.Start})
	defer s.Close()
	trigger.Resolve(all, func(m *recording.Module, address uint64) (frames []profile.Frame) {
		if m == nil {
			return []profile.Frame{{Address: profile.Address{Offset: address}}}
		}
		module := symbols.Module(*m)
		for _, f := range s.Resolve(&module, address) {
			frames = append(frames, profile.Frame{Function: f.Function, File: f.File, Line: f.Line, Inlined: f.Inlined,
				Address: profile.Address{Path: m.Path, BuildID: m.BuildID, Offset: address - m.Bias}})
		}
		return frames
	})
	return all
}
