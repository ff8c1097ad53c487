// Package agent embeds the sources of the agent, the C library that mpitx preloads into applications. docs/guide.md describes its
// folders.
package agent

import "embed"

// Sources are the files from which build.sh builds the agent, together with binding.Sources, where mpitx is installed.
//
//go:embed build.sh check.sh prototypes.txt base mpi chain include run pvar tools life
var Sources embed.FS
