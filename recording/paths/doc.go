// Package paths says over which transports the ranks of a run reached each other, from what the agent saw: the tables of the MPI library, the
// endpoints of UCX, copies from process to process, TCP connections, shared memory. What is not seen is unknown.
package paths
