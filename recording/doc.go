// Package recording reads run directories: the agent's record of an application's performance variables. The job may be
// running, have ended, or have died. The package is pure Go, loads no MPI, and works on every system.
//
// [Open] reads what a directory holds. [Run.Instants] yields the samples of all ranks in time order, in bounded memory.
// [Run.Events] and [Run.Rows] yield events and table rows, [Run.Stats] computes statistics, and [Run.Follow] follows a
// running job. [Recover] moves the memory files of a dead job into the directory. docs/run-format.md describes the bytes.
//
// Damaged parts are skipped and reported with file and offset ([Run.Damage]). Nothing in a run directory is trusted: every
// length is checked, and every completed chunk has a checksum.
//
// A Run and everything reached through it may be used by one goroutine at a time.
package recording
