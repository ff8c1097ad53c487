package attach

import (
	"time"

	"golang.org/x/sys/unix"
)

// killTime is how long a rank may take to end after SIGTERM, as under Open MPI's launcher.
const killTime = time.Second

// endRanks ends the ranks on this host whose launcher has ended without them: it was killed, or gave up.
func (r *Result) endRanks() {
	path := startedPath(r.job.dir)
	addLine(path, overLine)
	var left []int
	for _, s := range startedRanks(path) {
		fd, err := unix.PidfdOpen(s.pid, 0)
		if err != nil {
			continue
		}
		defer unix.Close(fd)
		if ticks, _, ok := startTime(r.Env, s.pid); ok && ticks == s.ticks && !waitFor(fd, unix.POLLIN, 0) {
			left = append(left, fd)
		}
	}
	for _, s := range []unix.Signal{unix.SIGTERM, unix.SIGKILL} {
		for _, fd := range left {
			unix.PidfdSendSignal(fd, s, nil, 0)
			unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		}
		until := time.Now().Add(killTime)
		for _, fd := range left {
			waitFor(fd, unix.POLLIN, max(0, time.Until(until)))
		}
	}
}
