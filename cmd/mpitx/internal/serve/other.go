//go:build !linux

package serve

import (
	"fmt"
	"io"
	"os"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/collect"
)

// Serve fails on this system.
func Serve(collect.Options, func(*catalog.Catalog), io.Reader, io.Writer) int {
	fmt.Fprintln(os.Stderr, "mpitx: serve: mpitx reads live MPI libraries on Linux only; read a snapshot with --from FILE")
	return 2
}
