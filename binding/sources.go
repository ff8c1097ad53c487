package binding

import "embed"

// Sources are the sources of the shim (in the folder shim) and of the parts shared with the agent, to build them where mpitx is
// installed.
//
//go:embed shim probe.c probe.h clone.c clone.h procstat.c procstat.h
var Sources embed.FS
