package sites

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/where"
	"mpitx/symbols"
)

// Callers resolves return addresses to functions, files and lines, until it is closed.
type Callers struct {
	all   *symbols.Symbols
	known map[string][]caller
}

// caller is a frame for people.
type caller struct {
	text   string
	main   bool // where the program begins
	system bool // in the C library
}

// NewCallers is for a run that started at a time: symbols of newer files do not count.
func NewCallers(start time.Time) *Callers {
	return &Callers{symbols.New(symbols.Options{Recorded: start}), map[string][]caller{}}
}

// Close releases the symbols.
func (s *Callers) Close() { s.all.Close() }

// Site is the place of a call.
func (s *Callers) Site(r *recording.Rank, address uint64) string {
	m := r.Module(address)
	if m == nil || strings.HasPrefix(filepath.Base(m.Path), "libmpi") { // the library's Fortran interface, not the program
		return ""
	}
	return s.frames(m, address)[0].text
}

// Stacks returns what resolves stacks to at most so many frames, up to main.
func (s *Callers) Stacks(most int) where.Stacks {
	return func(r *recording.Rank, addresses []uint64, whole bool) []string {
		var frames []caller
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

func stackLines(frames []caller, most int, whole bool) (lines []string) {
	for _, f := range frames[:min(most, len(frames))] {
		lines = append(lines, f.text)
	}
	if len(frames) < most && !whole {
		lines = append(lines, where.UnknownFrames)
	}
	return lines
}

// frames are the functions at an address, the innermost first: several if calls were inlined.
func (s *Callers) frames(m *recording.Module, address uint64) []caller {
	key := fmt.Sprint(m.Path, m.BuildID, address-m.Bias)
	if frames, ok := s.known[key]; ok {
		return frames
	}
	base := filepath.Base(m.Path)
	system := strings.HasPrefix(base, "libc.") || strings.HasPrefix(base, "libpthread")
	var frames []caller
	for _, f := range s.all.Resolve(&symbols.Module{Start: m.Start, End: m.End, Bias: m.Bias, Path: m.Path, BuildID: m.BuildID}, address) {
		frame := caller{system: system, main: f.Function == "main" || f.Function == "MAIN__"}
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
		frames = []caller{{text: fmt.Sprintf("%s+%#x", base, address-m.Bias), system: system}}
	}
	s.known[key] = frames
	return frames
}
