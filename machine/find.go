package machine

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// moduleVars are the variables that environment modules, EasyBuild, Spack and vendors set to the prefix of an MPI.
var moduleVars = []string{
	"MPI_HOME", "MPI_ROOT", "EBROOTOPENMPI", "EBROOTMPICH", "EBROOTIMPI", "CRAY_MPICH_DIR", "MPICH_DIR", "I_MPI_ROOT",
	"HPCX_MPI_DIR", "MPI_DIR",
}

// launcherNames are the launchers to find in PATH; the first is the usual one.
var launcherNames = []string{
	"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "orterun", "prterun", "mpiexec.hydra", "mpirun.mpi_abi_mpich",
}

var triplets = map[string]string{
	"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "riscv64": "riscv64-linux-gnu", "ppc64le": "powerpc64le-linux-gnu",
	"loong64": "loongarch64-linux-gnu", "s390x": "s390x-linux-gnu", "386": "i386-linux-gnu",
}

func (e *Env) triplet() string {
	if t := triplets[e.Arch]; t != "" {
		return t
	}
	return e.Arch + "-linux-gnu"
}

// Find lists every MPI of the machine, those in PATH first. It checks a few hundred places and takes some milliseconds;
// Choose does not.
func (e *Env) Find() []MPI {
	var all []MPI
	for m := range e.candidates("") {
		i := slices.IndexFunc(all, func(o MPI) bool { return o.Lib == m.Lib })
		if i < 0 {
			all = append(all, m)
		} else if all[i].Launcher == "" {
			all[i].Launcher = m.Launcher
		}
	}
	for i := range all {
		all[i] = e.withLauncher(all[i])
		all[i].Version = e.Version(all[i])
	}
	return all
}

// candidates searches PATH, the variables of modules, and the directories, in this order; a library may be found more
// than once. If a family is wanted, launchers whose names belong to another family are skipped.
func (e *Env) candidates(family string) iter.Seq[MPI] {
	return func(yield func(MPI) bool) {
		seen := map[string]bool{}
		for _, dir := range e.path() {
			found := map[string]bool{} // several names of a launcher in one directory lead to the same library
			for _, name := range launcherNames {
				path := filepath.Join(dir, name)
				if !e.isExecutable(path) {
					continue
				}
				seen[path] = true
				real := e.resolve(path)
				if found[real] || e.isOthers(path, family) {
					continue
				}
				if m, ok := e.fromLauncher(path, ""); ok {
					found[real] = true
					m.Why = name + " in PATH (" + path + ")"
					if !yield(m) {
						return
					}
				}
			}
		}
		for m := range e.fromModules() {
			if !yield(m) {
				return
			}
		}
		for dir := range e.searchDirs() {
			for _, m := range e.libsIn(dir, "", seen) {
				m.Why = "found in " + dir
				if !yield(m) {
					return
				}
			}
		}
	}
}

// isOthers reports whether a launcher's name belongs to another family. The standard ABI may be anyone's.
func (e *Env) isOthers(path, family string) bool {
	if family != OpenMPI && family != MPICH {
		return false
	}
	impl := implByName(e.chain(path))
	return impl != "" && impl != family
}

func (e *Env) fromModules() iter.Seq[MPI] {
	return func(yield func(MPI) bool) {
		for _, name := range moduleVars {
			prefix := e.Getenv(name)
			if !filepath.IsAbs(prefix) {
				continue
			}
			for _, m := range e.libsUnder(prefix, "") {
				m.Why = "$" + name + "=" + prefix
				if !yield(m) {
					return
				}
			}
		}
	}
}

// searchDirs are the directories to search: in LD_LIBRARY_PATH, of the distribution, of packages and users, and in
// ld.so.conf.d.
func (e *Env) searchDirs() iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		each := func(dirs ...string) bool {
			for _, dir := range dirs {
				if filepath.IsAbs(dir) && !seen[dir] && e.isDir(dir) {
					seen[dir] = true
					if !yield(dir) {
						return false
					}
				}
			}
			return true
		}
		t := "/usr/lib/" + e.triplet()
		_ = each(filepath.SplitList(e.Getenv("LD_LIBRARY_PATH"))...) &&
			each(t, t+"/openmpi/lib", t+"/mpich/lib", "/usr/lib64/openmpi/lib", "/usr/lib64/mpich/lib", "/usr/lib64", "/usr/lib",
				"/usr/local/lib", "/usr/local/lib64", "/usr/local/lib/"+e.triplet()) &&
			each(e.glob("/usr/lib64/mpi/gcc/*/lib64", "/usr/lib64/mvapich*/lib", "/usr/local/*mpi*/lib", "/opt/*/lib", "/opt/*/lib64",
				"/opt/*/*/lib", "/opt/*/*/*/lib", "/opt/intel/oneapi/mpi/*/lib/release")...) &&
			each(e.loaderConf()...)
	}
}

func (e *Env) glob(patterns ...string) []string {
	var found []string
	for _, p := range patterns {
		paths, _ := filepath.Glob(e.File(p))
		for _, path := range paths {
			found = append(found, strings.TrimPrefix(path, strings.TrimSuffix(e.Root, "/")))
		}
	}
	return found
}

// loaderConf reads the directories in the loader's configuration.
func (e *Env) loaderConf() []string {
	var dirs []string
	for _, file := range append(e.glob("/etc/ld.so.conf.d/*.conf"), "/etc/ld.so.conf") {
		data, err := os.ReadFile(e.File(file))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
				dirs = append(dirs, line)
			}
		}
	}
	return dirs
}

// libsUnder are the MPI libraries below a prefix, of one implementation if impl is given.
func (e *Env) libsUnder(prefix, impl string) []MPI {
	var found []MPI
	seen := map[string]bool{}
	t := e.triplet()
	for _, sub := range []string{
		"lib64", "lib", "lib/" + t, "lib/" + t + "/openmpi/lib", "lib/" + t + "/mpich/lib", "lib64/openmpi/lib", "lib64/mpich/lib",
		"lib/release", "intel64/lib/release", "intel64/lib", "",
	} {
		dir := filepath.Join(prefix, sub)
		if !e.isDir(dir) {
			continue
		}
		found = append(found, e.libsIn(dir, impl, seen)...)
	}
	return found
}

// libsIn are the MPI libraries in one directory; seen are those inspected before.
func (e *Env) libsIn(dir, impl string, seen map[string]bool) []MPI {
	var found []MPI
	try := func(path string) {
		if !e.isFile(path) {
			return
		}
		real := e.resolve(path)
		if seen[real] {
			return
		}
		seen[real] = true
		if m, ok := e.inspect(real); ok && (impl == "" || m.Impl == impl) {
			found = append(found, m)
		}
	}
	for _, name := range sonames {
		if impl == MPICH && name == "libmpi.so.40" || impl == OpenMPI && name == "libmpich.so.12" {
			continue
		}
		try(filepath.Join(dir, name))
	}
	if !e.isSystemFolder(dir) {
		for _, pattern := range sonameGlobs {
			for _, path := range e.glob(filepath.Join(dir, pattern)) {
				try(path)
			}
		}
	}
	if len(found) == 0 {
		for _, name := range bareNames {
			try(filepath.Join(dir, name))
		}
	}
	return found
}

// isSystemFolder reports whether a directory is the distribution's library directory, which takes milliseconds to list.
func (e *Env) isSystemFolder(dir string) bool {
	switch strings.TrimPrefix(dir, "/usr") {
	case "/lib", "/lib64", "/lib/" + e.triplet():
		return true
	}
	return dir == "/usr" || dir == "/"
}

// fromLauncher is the MPI that a launcher belongs to: in the launcher's prefix, of the implementation that its name or
// contents show. impl overrides these.
func (e *Env) fromLauncher(path, impl string) (MPI, bool) {
	chain := e.chain(path)
	if impl == "" {
		impl = implByName(chain)
	}
	prefixes := map[string]bool{}
	for _, step := range slices.Backward(chain) {
		prefix := filepath.Dir(filepath.Dir(step))
		if prefixes[prefix] || filepath.Base(filepath.Dir(step)) == "alternatives" {
			continue
		}
		prefixes[prefix] = true
		libs := e.libsUnder(prefix, impl)
		if impl == "" && len(libs) > 1 && libs[0].Impl != libs[len(libs)-1].Impl {
			if impl = e.implByContents(chain[len(chain)-1]); impl == "" {
				return MPI{}, false
			}
			libs = e.libsUnder(prefix, impl)
		}
		if len(libs) > 0 {
			m := libs[0]
			m.Launcher = path
			return m, true
		}
	}
	return MPI{}, false
}

// implByName uses the names along the symbolic links of a launcher's path.
func implByName(chain []string) string {
	for _, step := range slices.Backward(chain) {
		base := filepath.Base(step)
		switch {
		case strings.Contains(base, "openmpi"), strings.HasPrefix(base, "orte"), strings.HasPrefix(base, "prte"):
			return OpenMPI
		case strings.Contains(base, "mpich"), strings.Contains(base, "hydra"), strings.Contains(base, "gforker"):
			return MPICH
		}
	}
	return ""
}

// implByContents searches a launcher, a program or a script, for typical words of an implementation.
func (e *Env) implByContents(path string) string {
	st, err := os.Stat(e.File(path))
	if err != nil || !st.Mode().IsRegular() || st.Size() > 4<<20 {
		return ""
	}
	data, err := os.ReadFile(e.File(path))
	if err != nil {
		return ""
	}
	text := string(data)
	for _, word := range []string{"hydra", "HYDU_", "I_MPI_"} {
		if strings.Contains(text, word) {
			return MPICH
		}
	}
	for _, word := range []string{"orte", "prte", "OMPI_"} {
		if strings.Contains(text, word) {
			return OpenMPI
		}
	}
	return ""
}

// withLauncher finds the launcher of a library that was not found through a launcher: in the library's prefix, else one
// of the same implementation in PATH.
func (e *Env) withLauncher(m MPI) MPI {
	if m.Launcher != "" || m.Family == Demo {
		return m
	}
	own := map[string][]string{
		OpenMPI: {"mpirun.openmpi", "orterun", "prterun", "mpirun", "mpiexec"},
		MPICH:   {"mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec"},
		"":      {"mpirun", "mpiexec"},
	}[m.Impl]
	if m.Family == ABI {
		own = append([]string{"mpirun.mpi_abi_" + m.Impl}, own...)
	}
	for _, name := range own {
		if p := filepath.Join(m.Prefix, "bin", name); e.isLauncherOf(p, m.Impl) {
			m.Launcher = p
			return m
		}
	}
	for _, name := range own {
		if p := e.inPath(name); p != "" && e.isLauncherOf(p, m.Impl) {
			m.Launcher = p
			return m
		}
	}
	return m
}

func (e *Env) isLauncherOf(path, impl string) bool {
	if !e.isExecutable(path) {
		return false
	}
	chain := e.chain(path)
	of := implByName(chain)
	if of == "" {
		of = e.implByContents(chain[len(chain)-1])
	}
	return of == impl || of == "" || impl == ""
}
