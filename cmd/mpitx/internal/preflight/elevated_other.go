//go:build !linux

package preflight

import "mpitx/cmd/mpitx/internal/locate"

func elevated(*locate.Env, string) string { return "" }
