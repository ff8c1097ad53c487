//go:build !unix

package jobwide

import (
	"errors"
	"os"
)

const noFollow = 0

func lock(*os.File) error { return errors.ErrUnsupported }

func unlock(*os.File) {}
