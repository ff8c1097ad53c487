// Package agent carries the sources of the agent, the C that mpitx preloads into applications; docs/guide.md has a picture of its
// folders.
package agent

import "embed"

// Sources are what build.sh makes the agent of, together with binding.Sources, where mpitx is installed.
//
//go:embed build.sh check.sh prototypes.txt base mpi chain run pvar tools life
var Sources embed.FS
