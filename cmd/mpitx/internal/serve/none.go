//go:build !(cgo && linux)

package serve

import "mpitx/cmd/mpitx/internal/collect"

// Tasks is what a back end does that serves; there is none here.
func Tasks(*collect.Backend) int { return 2 }
