package locate

// Error is a message in three parts: what failed, why, and what to do.
type Error struct {
	What, Why, Do string
	Output        string // of a program that failed: lines that follow the message
	Usage         bool   // the user asked for something that cannot be (exit code 2)
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
