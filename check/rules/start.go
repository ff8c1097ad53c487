package rules

import "time"

// Start is how the processes of a library are started.
type Start struct {
	Exe       string // this binary
	Demo      bool
	Shim, Lib string
	Environ   []string
	// Launch is the command that starts n processes, and its environment; nil if there is no launcher.
	Launch func(n int, program []string) (argv, environ []string, err error)
	Limit  time.Duration                // without progress
	Temp   string                       // where processes have their directories; "": /tmp
	Keep   func(rule, item string) bool // whose violations are kept with their calls; nil: the first
}
