//go:build !unix

package program

import "os"

var endSignals = []os.Signal{os.Interrupt}

func notifyStop(chan<- os.Signal) {}
func jobControl() bool            { return false }
func stop(<-chan struct{})        {}

func notifyGoOn(chan<- os.Signal) {}
