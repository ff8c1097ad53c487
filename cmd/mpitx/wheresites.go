package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/where"
	"mpitx/symbols"
)

// unknownFrames stands for the outer frames of a stack that the agent could not follow.
const unknownFrames = "…"

// whereSites resolves return addresses to functions, files and lines, until it is closed.
type whereSites struct {
	all   *symbols.Symbols
	known map[string][]whereFrame
}

// whereFrame is a frame for people.
type whereFrame struct {
	text   string
	main   bool // where the program begins
	system bool // in the C library
}

func callSites(start time.Time) *whereSites {
	return &whereSites{symbols.New(symbols.Options{Recorded: start}), map[string][]whereFrame{}}
}

func (s *whereSites) close() { s.all.Close() }

// site is the place of a call.
func (s *whereSites) site(r *recording.Rank, address uint64) string {
	m := r.Module(address)
	if m == nil || strings.HasPrefix(filepath.Base(m.Path), "libmpi") { // the library's Fortran interface, not the program
		return ""
	}
	return s.frames(m, address)[0].text
}

// stacks returns what resolves stacks to at most so many frames, up to main.
func (s *whereSites) stacks(most int) where.Stacks {
	return func(r *recording.Rank, addresses []uint64, whole bool) []string {
		var frames []whereFrame
		for _, address := range addresses {
			m := r.Module(address)
			if m == nil {
				whole = false
				break
			}
			if strings.HasPrefix(filepath.Base(m.Path), "mpitx-agent-") { // it has passed on the call that the library calls back from
				continue
			}
			for _, f := range s.frames(m, address) {
				if frames = append(frames, f); f.main {
					return stackLines(frames, most, true)
				}
			}
		}
		for whole && len(frames) > 0 && frames[len(frames)-1].system { // it has started the thread
			frames = frames[:len(frames)-1]
		}
		return stackLines(frames, most, whole)
	}
}

func stackLines(frames []whereFrame, most int, whole bool) (lines []string) {
	for _, f := range frames[:min(most, len(frames))] {
		lines = append(lines, f.text)
	}
	if len(frames) < most && !whole {
		lines = append(lines, unknownFrames)
	}
	return lines
}

// frames are the functions at an address, the innermost first: several if calls were inlined.
func (s *whereSites) frames(m *recording.Module, address uint64) []whereFrame {
	key := fmt.Sprint(m.Path, m.BuildID, address-m.Bias)
	if frames, ok := s.known[key]; ok {
		return frames
	}
	base := filepath.Base(m.Path)
	system := strings.HasPrefix(base, "libc.") || strings.HasPrefix(base, "libpthread")
	var frames []whereFrame
	for _, f := range s.all.Resolve(&symbols.Module{Start: m.Start, End: m.End, Bias: m.Bias, Path: m.Path, BuildID: m.BuildID}, address) {
		frame := whereFrame{system: system, main: f.Function == "main" || f.Function == "MAIN__"}
		switch {
		case f.Line > 0:
			frame.text = fmt.Sprintf("%s %s:%d", f, filepath.Base(f.File), f.Line)
		case f.Function != "":
			frame.text = fmt.Sprintf("%s in %s", f, base)
		default:
			continue
		}
		frames = append(frames, frame)
	}
	if len(frames) == 0 {
		frames = []whereFrame{{text: fmt.Sprintf("%s+%#x", base, address-m.Bias), system: system}}
	}
	s.known[key] = frames
	return frames
}
