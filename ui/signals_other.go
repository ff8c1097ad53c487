//go:build !unix

package ui

import "os"

var endSignals = []os.Signal{os.Interrupt}
