package advice

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mpitx/machine"
	"mpitx/machine/layers"
	"mpitx/recording"
)

// Ask lets rules ask the UCX and the launcher of a library.
func (s *Subject) Ask(e *machine.Env, m machine.MPI) {
	answers := map[string]layers.Known{}
	s.Layers = func(given []string) layers.Known {
		key := strings.Join(given, "\x00")
		if _, asked := answers[key]; !asked {
			answers[key] = layers.Ask(e, m, given)
		}
		return answers[key]
	}
	s.PRRTE = sync.OnceValue(func() map[string]bool { return layers.PRRTE(e, m) })
	s.Options = machine.LaunchOptions(m)
}

// Locate lets rules know the machine that the ranks ran on, if it is this one.
func (s *Subject) Locate(e *machine.Env) {
	here, err := os.Hostname()
	if err == nil && !slices.ContainsFunc(s.Profile.Run.Ranks, func(r *recording.Rank) bool { return r.Host != here }) {
		nodes, _ := filepath.Glob(e.File("/sys/devices/system/node/node[0-9]*"))
		s.NUMANodes = len(nodes)
	}
}
