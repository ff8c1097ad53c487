//go:build !linux

package preflight

import "mpitx/machine"

func elevated(*machine.Env, string) string { return "" }
