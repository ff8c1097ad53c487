package machine

import (
	"path/filepath"
	"strings"
)

// Overridden is the library that LD_LIBRARY_PATH makes programs load instead of m, because it has the same name. It is
// "" if programs load m, or if want (the value of --mpi) or $MPITX_MPI names m by its path.
func (e *Env) Overridden(m MPI, want string) string {
	for _, named := range []string{want, e.Getenv("MPITX_MPI")} { // the latter in processes of mpitx -n
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
