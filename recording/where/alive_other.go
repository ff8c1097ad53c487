//go:build !linux

package where

import "mpitx/recording"

func stopped(int) bool { return false }

func alive(int, *recording.Node) bool { return false }

func kernelOf(pid, thread int) kernel { return kernel{} }
