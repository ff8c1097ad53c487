package machine

import (
	"errors"
	"io/fs"
	"os"
)

// Error is a message in three parts: what failed, why, and what to do.
type Error struct {
	What, Why, Do string
	Output        string // of a failed program: printed after the message
	Usage         bool   // the command line is wrong (exit code 2)
}

func (e *Error) Error() string {
	s := e.What
	if e.Why != "" {
		s += ": " + e.Why
	}
	if e.Do != "" {
		s += "; " + e.Do
	}
	return s
}

// Cause is an error without its path, which the message names already.
func Cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
