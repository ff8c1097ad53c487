//go:build !linux

package preflight

import (
	"errors"

	"mpitx/machine"
)

func elevated(*machine.Env, string) string { return "" }

func loadable(string, int64) error { return errors.ErrUnsupported }
