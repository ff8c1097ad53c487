//go:build !unix

package campaign

import "os"

func held(*os.File) bool { return false }
