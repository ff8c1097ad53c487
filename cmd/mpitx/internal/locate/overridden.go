package locate

import (
	"path/filepath"
	"strings"
)

// Overridden is the library that LD_LIBRARY_PATH gives to programs in place of m: another one under the name by which they know m.
// "" where they get m itself, or where want (the value of --mpi) or $MPITX_MPI names m by its place.
func (e *Env) Overridden(m MPI, want string) string {
	for _, named := range []string{want, e.Getenv("MPITX_MPI")} { // the latter in what mpitx -n starts
		if _, family := aliases[strings.ToLower(named)]; named != "" && !family {
			return ""
		}
	}
	if m.SONAME == "" {
		return ""
	}
	for _, dir := range strings.FieldsFunc(e.Getenv("LD_LIBRARY_PATH"), func(r rune) bool { return r == ':' || r == ';' }) {
		if other, ok := e.inspect(filepath.Join(dir, m.SONAME)); ok {
			if SameLibrary(m, other) {
				return ""
			}
			return other.Lib
		}
	}
	return ""
}

// SameLibrary tells whether two are one library, or copies of one.
func SameLibrary(a, b MPI) bool {
	return a.Lib == b.Lib || a.BuildID != "" && a.BuildID == b.BuildID
}
