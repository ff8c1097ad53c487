// Package agent embeds the sources of the agent, the C library that mpitx preloads into applications. docs/guide.md describes its
// folders.
package agent

import "embed"

// Sources are the files from which build.sh builds the agent, together with binding.Sources, where mpitx is installed.
//
//go:generate go run ./gen -table prototypes.txt -qmpi qmpi/qmpi.h.in -o include/qmpi.h -functions qmpi/functions.txt

//go:embed build.sh check.sh prototypes.txt base mpi chain include node qmpi run pvar tools life
var Sources embed.FS
