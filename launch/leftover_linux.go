package launch

import (
	"time"

	"golang.org/x/sys/unix"

	"mpitx/recording"
)

// killTime is how long a rank may take to end after SIGTERM, as under Open MPI's launcher.
const killTime = time.Second

// running are descriptors of the processes that have not ended.
func (r *Job) running(ranks []recording.Started) (left []int) {
	for _, s := range ranks {
		fd, err := unix.PidfdOpen(s.PID, 0)
		if err != nil {
			continue
		}
		if ticks, _, ok := startTime(r.Env, s.PID); ok && ticks == s.Ticks && !waitFor(fd, unix.POLLIN, 0) {
			left = append(left, fd)
		} else {
			unix.Close(fd)
		}
	}
	return left
}

// ranksGone reports whether all ranks of the job were started on this host and have ended.
func (r *Job) ranksGone() bool {
	ranks := startedRanks(startedPath(r.job.dir))
	if len(ranks) < r.Ranks {
		return false
	}
	left := r.running(ranks)
	for _, fd := range left {
		unix.Close(fd)
	}
	return len(left) == 0
}

// endRanks ends the ranks on this host whose launcher has ended without them: it was killed, or gave up.
func (r *Job) endRanks() {
	path := startedPath(r.job.dir)
	addLine(path, recording.StartedOver)
	left := r.running(startedRanks(path))
	for _, fd := range left {
		defer unix.Close(fd)
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
