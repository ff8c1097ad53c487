//go:build !linux

package preflight

import "errors"

func loadable(string, int64) error { return errors.ErrUnsupported }
