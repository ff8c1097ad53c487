package launch

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/recording"
)

// How a process has ended is known before its parent has waited for it, from /proc, and on newer kernels afterwards.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		script       string
		code, signal int
	}{{"exit 0", 0, 0}, {"exit 3", 3, 0}, {"exit 137", 137, 0}, {"kill -TERM $$", 0, 15}, {"kill -KILL $$", 0, 9}} {
		for _, reaped := range []bool{false, true} {
			cmd := exec.Command("/bin/sh", "-c", c.script)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			r := &endingRank{recording.ExitStatus{PID: cmd.Process.Pid}, fd, false}
			waitFor(fd, unix.POLLIN, time.Minute)
			if reaped {
				cmd.Wait()
			}
			r.look()
			if r.known && (r.Code != c.code || r.Signal != c.signal) || !r.known && !reaped {
				t.Errorf("%s, reaped: %v: %+v", c.script, reaped, r)
			}
			if r.fd >= 0 {
				unix.Close(r.fd)
			}
			if !reaped {
				cmd.Wait()
			}
		}
	}
}
