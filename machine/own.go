package machine

import (
	"os"
	"path/filepath"
	"strings"
)

// ShimName is the file name of a family's shim.
func ShimName(family string) string { return "mpitx-shim-" + family + ".so" }

// AgentName is the file name of a family's agent.
func AgentName(family string) string { return "mpitx-agent-" + family + ".so" }

// WorkloadName is the file name of a family's program behind --workload.
func WorkloadName(family string) string { return "mpitx-workload-" + family }

// QMPILibrary is the library with the symbols of the QMPI draft, for tools of any family.
const QMPILibrary = "libmpitx-qmpi.so"

// DataDir is the directory for the results of mpitx setup: $XDG_DATA_HOME/mpitx/<arch>; "" without a home directory.
func (e *Env) DataDir() string {
	base := e.Getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(base) {
		home := e.Getenv("HOME")
		if home == "" {
			home, _ = os.UserHomeDir()
		}
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "share")
	}
	return filepath.Join(base, "mpitx", e.Arch)
}

// CacheDir is mpitx's directory in the user's cache; "" if there is none.
func (e *Env) CacheDir() string {
	base := e.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home := e.Getenv("HOME")
		if st, err := os.Stat(home); err != nil || !st.IsDir() { // root must not create a home
			return ""
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "mpitx")
}

// Shim is the path of the shim for m's family: next to the binary, in ../lib/mpitx, or in the directory of mpitx setup.
// The demo MPI needs none (""). An error is an *Error.
func (e *Env) Shim(m MPI, exeDir string) (string, error) {
	if m.Family == Demo {
		return "", nil
	}
	name := ShimName(m.Family)
	path, looked := e.Beside(exeDir, name)
	if path != "" {
		return path, nil
	}
	return "", &Error{
		What: "no shim for " + FamilyName(m.Family),
		Why:  name + " is not in " + strings.Join(looked, ", "),
		Do:   "build it with `" + e.SetupCommand(m) + "`",
	}
}

// Beside finds a file that belongs to mpitx: next to the binary, in its lib/mpitx, or in the user's directory. If there
// is none, path is empty, and looked lists the directories searched.
func (e *Env) Beside(exeDir, name string) (path string, looked []string) {
	for _, dir := range []string{exeDir, filepath.Join(exeDir, "..", "lib", "mpitx"), e.DataDir()} {
		if dir == "" {
			continue
		}
		if p := filepath.Join(dir, name); e.isFile(p) {
			return p, nil
		}
		looked = append(looked, filepath.Clean(dir))
	}
	return "", looked
}
