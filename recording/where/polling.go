package where

import (
	"strings"
	"time"
)

// What a rank waits for that polls is all that its loop has tested without success since its last progress. The loop may end otherwise: by time, or
// by what another thread does.

const (
	pollIdle = 500 * time.Millisecond // how long polling must have found nothing to count as waiting
	pollGap  = time.Second            // a thread that has been outside of MPI for longer computes, even if it tests something now and then
)

// Polls reports whether a thread polls and finds nothing.
func (t *Thread) Polls() bool {
	return t.Class == Poll && t.Idle > pollIdle && (t.Inside || t.Since < pollGap)
}

// probes reports whether a request stands for a probe that a loop repeats.
func (r *Request) probes() bool { return r.Call == "MPI_Iprobe" || r.Call == "MPI_Improbe" }

// tests names the functions with which a thread polls.
func (t *Thread) tests() string {
	if len(t.Tests) == 0 {
		return t.Call
	}
	return strings.Join(t.Tests, ", ")
}
