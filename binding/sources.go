package binding

import "embed"

// Sources are the sources of the shim (shim/shim.c and shim/mpitx.h) and of the probe, which the agent has too, for building
// them where mpitx is installed.
//
//go:embed shim/shim.c shim/mpitx.h probe.c probe.h clone.c clone.h
var Sources embed.FS
