// Package recording reads run directories: what the agent wrote of an application's performance variables, of a job that
// runs, has ended, or died. It is pure Go, loads no MPI, and works on every system.
//
// [Open] finds out what a directory holds; [Run.Instants] gives all samples of all ranks in the order of one common clock,
// in bounded memory; [Run.Events] and [Run.Rows] give events and tables; [Run.Stats] sums up; [Run.Follow] goes on as a
// running job writes; [Recover] moves what a dead job left in memory files into the directory. docs/run-format.md has the
// bytes.
//
// What is damaged is left out and reported with file and offset ([Run.Damage]); everything else is read. Nothing in a run
// directory is trusted: every length is checked, and every chunk that was completed has a checksum.
//
// A Run and everything of it is for one goroutine at a time.
package recording
