// Package profile reads the profile of a run: what its ranks did in MPI, as counted by the agent in tables of the run. The job may
// be running, have ended, or have died.
//
// [Read] merges the tables of all threads and ranks into a [Profile]. Its numbers do not depend on how the work was spread over
// threads. [Cut] restricts it to phases, ranks or communicators. [Profile.Findings] says what stands out. The package prints nothing.
package profile
