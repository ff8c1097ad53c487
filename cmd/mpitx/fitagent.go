package main

import (
	"os"
	"path/filepath"
	"strings"

	"mpitx/cmd/mpitx/internal/preflight"
)

// fitAgent replaces the agent by its copy for the program's library, in a folder where copies can be. What a container has inside is
// not known: there the agent shows all its functions.
func (o *sampleOptions) fitAgent(dir string) {
	if o.settings.library != "" || dir == "" || !filepath.IsAbs(dir) {
		return
	}
	if o.program.Container != nil {
		o.settings.unfit = "the library inside the container is not known before the start"
		return
	}
	path, err := preflight.FitAgent(o.a.env, o.agent, o.chosen.Lib, dir)
	if err != nil {
		o.settings.unfit = "cannot write a copy of the agent: " + err.Error() + "; set XDG_CACHE_HOME to a directory that can be written"
		return
	}
	o.agent, o.settings.library, o.settings.unfit = path, o.chosen.Lib, ""
}

// dropCopy removes the agent's copy from the run directory.
func (o *sampleOptions) dropCopy() {
	entries, _ := os.ReadDir(o.job.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "mpitx-agent-") {
			os.Remove(filepath.Join(o.job.dir, e.Name()))
		}
	}
}
