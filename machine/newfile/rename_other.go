//go:build !linux

package newfile

// renameNew renames a file to a name that does not exist.
func renameNew(temp, name string) error { return reserve(temp, name) }
