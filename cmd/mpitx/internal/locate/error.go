package locate

// Error is a message in three parts: what failed, why, and what to do.
type Error struct {
	What, Why, Do string
	Usage         bool // the user asked for something that cannot be (exit code 2)
}

func (e *Error) Error() string {
	s := e.What
	for _, part := range []string{e.Why, e.Do} {
		if part != "" {
			s += ": " + part
		}
	}
	return s
}
