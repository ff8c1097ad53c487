//go:build !(cgo && linux)

package job

import (
	"fmt"
	"os"
)

// Backend is the hidden command that reads an MPI library; this binary cannot load one.
func Backend() int {
	fmt.Fprintln(os.Stderr, "mpitx: backend: this binary was built without cgo and cannot load an MPI library")
	return 2
}
