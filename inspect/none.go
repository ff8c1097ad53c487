//go:build !(cgo && linux)

package inspect

import (
	"fmt"
	"os"
)

// Backend does not exist here.
type Backend struct{}

// RunBackend is the hidden command that reads an MPI library; this binary cannot load one.
func RunBackend([]string, func(*Backend) int) int {
	fmt.Fprintln(os.Stderr, "mpitx: backend: this binary was built without cgo and cannot load an MPI library")
	return 2
}
