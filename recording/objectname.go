package recording

// ObjectName is the name of a communicator, a window or a file; if it has none, how it was made: "MPI_Comm_dup of MPI_COMM_WORLD". "" if both are
// unknown. parent is the name of the communicator that it was made from; "" if it has none.
func ObjectName(name, madeBy, parent string) string {
	switch {
	case name != "" || madeBy == "":
		return name
	case parent != "":
		return madeBy + " of " + parent
	}
	return madeBy
}
