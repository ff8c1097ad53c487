package runs

import "regexp"

var exactSite = regexp.MustCompile(`:\d+$|\+0x[0-9a-f]+$`)

// NoLine reports whether a call site is only a function's name, as it is if the program has no debug information.
func NoLine(site string) bool { return site != "" && !exactSite.MatchString(site) }
