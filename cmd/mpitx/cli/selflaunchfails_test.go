//go:build cgo && linux

package cli

import (
	"os"
	"testing"
)

// A rank that is killed because rank 0 has failed does not change the exit code.
func TestSelfLaunchFails(t *testing.T) {
	argv := []string{"sh", "-c", "[ $FAKEMPI_RANK = 1 ] || exit 3; exec sleep 60"}
	if code := selfLaunch(2, argv, os.Environ(), &Standard{}); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}
