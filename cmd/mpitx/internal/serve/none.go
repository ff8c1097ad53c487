//go:build !(cgo && linux)

package serve

import "mpitx/cmd/mpitx/internal/collect"

// Tasks runs a back end that serves; not available on this system.
func Tasks(*collect.Backend) int { return 2 }
