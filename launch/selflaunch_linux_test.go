package launch

import (
	"io"
	"os"
	"testing"
)

// A rank that is killed because rank 0 has failed does not change the exit code.
func TestSelfLaunchFails(t *testing.T) {
	argv := []string{"sh", "-c", "[ $FAKEMPI_RANK = 1 ] || exit 3; exec sleep 60"}
	if code, err := selfLaunch(2, argv, os.Environ(), io.Discard, io.Discard); code != 3 || err != nil {
		t.Errorf("exit code %d, %v, want 3", code, err)
	}
}
