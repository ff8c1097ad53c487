package binding

import "embed"

// Sources are what the shim is made of (the folder shim), and what the agent shares with this package, for building them where mpitx
// is installed.
//
//go:embed shim probe.c probe.h clone.c clone.h procstat.c procstat.h
var Sources embed.FS
