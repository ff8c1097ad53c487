//go:build cgo && linux

package inspect

import (
	"fmt"
	"os"

	"mpitx/binding"
)

// askLayers asks the UCX and libfabric of a library for their settings (machine/layers).
func askLayers(library string, components []string) int {
	if err := binding.AskLayers(library, components); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
