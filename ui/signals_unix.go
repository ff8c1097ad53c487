//go:build unix

package ui

import (
	"os"
	"syscall"
)

var endSignals = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
