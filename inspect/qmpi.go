//go:build cgo && linux

package inspect

import (
	"fmt"
	"os"
	"strings"

	"mpitx/binding"
)

// askQMPI asks a library for its own QMPI, and tries a tool with it. It writes a line for each step.
func askQMPI(library, tool string) int {
	binding.AskQMPI(library, tool, func(step, text string) {
		fmt.Fprintf(os.Stdout, "%s\t%s\n", step, strings.ReplaceAll(text, "\n", " "))
	})
	return 0
}
