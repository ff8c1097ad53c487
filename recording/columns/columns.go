// Package columns names variables of a run, for commands that read some of them only.
package columns

import (
	"encoding/gob"
	"io"

	"mpitx/catalog"
	"mpitx/recording"
)

// Key is a variable of one object, on all ranks.
type Key struct {
	Variable, Object string
	Class            catalog.Class
}

// KeyOf is the key of a column.
func KeyOf(c *recording.Column) Key { return Key{c.Variable, c.ObjectName, c.Class} }

// Set is a selection of variables; nil means all.
type Set map[Key]bool

// Column is the selection as a function for [recording.Options].
func (s Set) Column() func(*recording.Column) bool {
	if s == nil {
		return nil
	}
	return func(c *recording.Column) bool { return s[KeyOf(c)] }
}

// Write writes a selection for another process that reads the same run.
func (s Set) Write(w io.Writer) error { return gob.NewEncoder(w).Encode(s) }

// Read reads the output of Write.
func Read(r io.Reader) (s Set, err error) {
	err = gob.NewDecoder(r).Decode(&s)
	return s, err
}
