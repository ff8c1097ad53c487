package binding

import "embed"

// ShimSources are the sources of the shim, for building one where mpitx is installed: shim/shim.c and shim/mpitx.h.
//
//go:embed shim/shim.c shim/mpitx.h
var ShimSources embed.FS
