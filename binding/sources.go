package binding

import "embed"

// Sources are the sources of the shim (shim/shim.c and shim/mpitx.h) and of the agent (agent/build.sh makes it), for building
// them where mpitx is installed.
//
//go:embed shim/shim.c shim/mpitx.h probe.c probe.h clone.c clone.h agent/*.c agent/*.h agent/build.sh agent/prototypes.txt
var Sources embed.FS
