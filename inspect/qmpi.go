//go:build cgo && linux

package inspect

import (
	"fmt"
	"os"
	"strconv"

	"mpitx/binding"
)

// examineTools examines tools for the QMPI of a library itself (machine/qmpi). Its arguments are the file descriptor for the answer, the
// shim, the library, and the path and the name of each tool.
func examineTools(args []string) int {
	to, _ := strconv.Atoi(args[0])
	if err := binding.ExamineTools(to, args[1], args[2], args[3:]); err != nil {
		fmt.Fprintf(os.NewFile(uintptr(to), "answer"), "error\t%v\n", err)
	}
	return 0
}
