//go:build !linux

package serve

import (
	"fmt"
	"io"
	"os"

	"mpitx/catalog"
	"mpitx/inspect"
)

// Serve fails on this system.
func Serve(inspect.Options, func(*catalog.Catalog), io.Reader, io.Writer) int {
	fmt.Fprintln(os.Stderr, "mpitx: serve: mpitx reads live MPI libraries on Linux only; read a snapshot with --from FILE")
	return 2
}
