//go:build linux && !cgo

package job

func earlyChild() *child { return nil }
