package launch

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"mpitx/machine"
	"mpitx/recording"
)

// endings learns how the ranks of this node end: with which code they exit, or which signal kills them. Their parent is the launcher, so
// mpitx cannot wait for them. Linux tells it through a descriptor of the process, since 6.15 also after the launcher has waited; before,
// only until then.
type endings struct {
	dir, host string
	over      chan struct{}
	done      sync.WaitGroup
	ranks     []*endingRank
}

type endingRank struct {
	recording.ExitStatus
	fd    int // -1: nothing more will be known
	known bool
}

const (
	endingsMost  = 512 // descriptors
	endingsPause = 100 * time.Millisecond
)

// followEndings begins to follow the ranks of a run.
func followEndings(dir string, size int) *endings {
	host, err := os.Hostname()
	if err != nil {
		return nil
	}
	e := &endings{dir: dir, host: host, over: make(chan struct{})}
	e.done.Go(func() {
		for !e.find(size) {
			if e.poll(endingsPause); e.isOver() {
				return
			}
		}
		for !e.isOver() {
			e.poll(2 * endingsPause)
		}
	})
	return e
}

func (e *endings) isOver() bool {
	select {
	case <-e.over:
		return true
	default:
		return false
	}
}

// find opens the processes of the run that run here, and reports whether all are known.
func (e *endings) find(size int) bool {
	run, err := recording.Open(e.dir)
	if err != nil {
		return false
	}
	defer run.Close()
	for _, r := range run.Ranks {
		if r.PID == 0 || r.Node == nil || !r.Node.Here() || r.State != recording.StateRunning || len(e.ranks) >= endingsMost ||
			slices.ContainsFunc(e.ranks, func(x *endingRank) bool { return x.PID == r.PID }) {
			continue
		}
		e.host = r.Host
		if fd, err := unix.PidfdOpen(r.PID, 0); err == nil {
			e.ranks = append(e.ranks, &endingRank{recording.ExitStatus{Rank: r.Rank, PID: r.PID}, fd, false})
		}
	}
	return len(run.Ranks) >= size
}

// poll waits for ends for a while, and looks at those that have come.
func (e *endings) poll(pause time.Duration) {
	var fds []unix.PollFd
	var of []*endingRank
	for _, r := range e.ranks {
		if r.fd >= 0 {
			fds, of = append(fds, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN}), append(of, r)
		}
	}
	if n, _ := unix.Poll(fds, int(pause.Milliseconds())); n <= 0 {
		return
	}
	for i, r := range of {
		if fds[i].Revents != 0 {
			r.look()
		}
	}
	select { // the launcher has not waited for some
	case <-e.over:
	case <-time.After(pause / 10):
	}
}

// look finds out how a process has ended.
func (r *endingRank) look() {
	status, known, gone := exitInfo(r.fd)
	if !known && !r.known {
		status, known = zombie(r.PID)
	}
	if known && !r.known {
		r.known, r.Code, r.Signal = true, 0, 0
		if r.Code = status.ExitStatus(); status.Signaled() {
			r.Code, r.Signal = 0, int(status.Signal())
		}
	}
	if r.known || gone {
		unix.Close(r.fd)
		r.fd = -1
	}
}

// exitInfo asks for a process that has ended: known is false while its parent has not waited for it. gone: this kernel will not tell.
func exitInfo(fd int) (status syscall.WaitStatus, known, gone bool) {
	const request, wantsExit = 0xC040FF0B, 1 << 3 // PIDFD_GET_INFO, PIDFD_INFO_EXIT
	info := struct {
		mask, cgroup uint64
		ids          [11]uint32
		status       int32
	}{mask: wantsExit}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&info)))
	runtime.KeepAlive(&info)
	if errno != 0 {
		return 0, false, errno == unix.ENOTTY || errno == unix.ESRCH || errno == unix.EINVAL
	}
	return syscall.WaitStatus(info.status), info.mask&wantsExit != 0, false
}

// zombie is the status of a process for which its parent has not waited.
func zombie(pid int) (syscall.WaitStatus, bool) {
	const state, status = 0, 49 // after the name
	fields := (&machine.Env{}).Stat(pid)
	if len(fields) <= status || fields[state] != "Z" {
		return 0, false
	}
	n, err := strconv.Atoi(fields[status])
	return syscall.WaitStatus(n), err == nil
}

// write ends the following, and writes what is known into the run directory. It reports whether there is a file.
func (e *endings) write() bool {
	if e == nil || e.isOver() {
		return false
	}
	close(e.over)
	e.done.Wait()
	var all []recording.ExitStatus
	for _, r := range e.ranks {
		if r.fd >= 0 {
			if r.look(); r.fd >= 0 {
				unix.Close(r.fd)
			}
		}
		if r.known {
			all = append(all, r.ExitStatus)
		}
	}
	return len(all) > 0 && recording.WriteExits(e.dir, e.host, all) == nil
}
