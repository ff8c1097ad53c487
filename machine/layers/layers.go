// Package layers asks the libraries that MPI builds on, UCX and libfabric, which settings they know. A child process loads them, as the
// MPI library does.
package layers

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mpitx/machine"
	"mpitx/text"
)

// Known are the libraries that an MPI library uses, and what they say of their settings.
type Known []*Library

// Library is one of them.
type Library struct {
	Name, Version string
	prefix        string             // of its variables
	names         map[string]Setting // by the variable of the environment
	wrong         map[string]bool    // variables with a value that it does not take
	providers     []string           // of libfabric
	unavailable   []unavailable
	files         []string // of the library
}

// Setting is a setting that a library knows.
type Setting struct{ Default, Syntax string }

// unavailable is a part of a value that the library does not find on this machine, and what it has instead.
type unavailable struct{ kind, what, instead string }

// limit is for a child that hangs: a library may wait for a device.
const limit = 10 * time.Second

var prefixes = map[string]string{"UCX": "UCX_", "libfabric": "FI_"}

// Ask asks the libraries that an MPI library uses, also about settings, NAME=value. It returns those that answered.
func Ask(e *machine.Env, m machine.MPI, given []string) Known {
	exe, err := os.Executable()
	if err != nil || m.Lib == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, append([]string{"backend", "layers", m.Lib}, components(m)...)...)
	// FI_PROVIDER keeps providers from naming their variables. Logs must come, and come here.
	cmd.Env = append(slices.DeleteFunc(e.FreeOfLauncher(), isLayers), slices.DeleteFunc(slices.Clone(given), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"FI_PROVIDER", fiLogLevel, "UCX_LOG_FILE", ucxLogLevel, "UCX_CONFIG_DIR"}, name)
	})...)
	cmd.Dir, cmd.Env = "/", append(cmd.Env, "HOME=/") // UCX's files would add settings
	var log bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &log, time.Second
	out, _ := cmd.Output() // a child that crashes has written what it knew before
	k := Parse(string(out))
	k.listen(log.String())
	return k
}

// In returns the settings of UCX and libfabric in an environment.
func In(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return !isLayers(kv) })
}

func isLayers(kv string) bool { return strings.HasPrefix(kv, "UCX_") || strings.HasPrefix(kv, "FI_") }

// components are the parts of Open MPI that use UCX or libfabric, and that it loads at run time.
func components(m machine.MPI) (all []string) {
	if m.Impl != machine.OpenMPI {
		return nil
	}
	lib := m.Lib
	if real, err := filepath.EvalSymlinks(lib); err == nil {
		lib = real
	}
	for _, folder := range []string{"openmpi*", "openmpi/lib/openmpi*"} { // the second is Debian's
		for _, pattern := range []string{"mca_*uc*.so", "mca_*ofi*.so"} {
			found, _ := filepath.Glob(filepath.Join(filepath.Dir(lib), folder, pattern))
			all = append(all, found...)
		}
	}
	return all
}

// Parse reads the lines of the child. A library that did not come to the end of its names is left out.
func Parse(out string) (all Known) {
	var l *Library
	whole := map[string]bool{}
	for line := range strings.Lines(out) {
		f := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "", "", "")
		switch {
		case f[0] == "library":
			l = &Library{Name: f[1], Version: f[2], prefix: prefixes[f[1]], names: map[string]Setting{}, wrong: map[string]bool{}}
			all = append(all, l)
		case l == nil:
		case f[0] == "name":
			l.names[f[1]] = Setting{f[2], f[3]}
		case f[0] == "given":
			if _, listed := l.names[f[1]]; !listed {
				l.names[f[1]] = Setting{}
			}
		case f[0] == "wrong":
			l.wrong[f[1]] = true
		case f[0] == "provider":
			l.providers = append(l.providers, strings.Split(f[1], ";")...)
		case f[0] == "file":
			l.files = append(l.files, f[1])
		case f[0] == "whole":
			whole[l.Name] = true
		}
	}
	return slices.DeleteFunc(all, func(l *Library) bool { return !whole[l.Name] })
}

// missing is UCX's warning of what a setting names and this machine does not have.
var missing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`UCX +WARN +([a-z -]+) '([^']*)' is not available, please use one or more of: (.*)`)
})

// listen takes what UCX warned of in its log.
func (k Known) listen(log string) {
	for _, l := range k {
		if l.Name != "UCX" {
			continue
		}
		for _, m := range missing().FindAllStringSubmatch(log, -1) {
			l.unavailable = append(l.unavailable, unavailable{m[1], m[2], m[3]})
		}
	}
}

// Setting is what the library that reads a variable of the environment knows of it. ok is false if it has no such variable, or was not asked.
func (k Known) Setting(name string) (s Setting, ok bool) {
	for _, l := range k {
		if strings.HasPrefix(name, l.prefix) {
			s, ok = l.names[name]
		}
	}
	return s, ok
}

// Values are those that a setting takes; nil: others than a list of words.
func (s Setting) Values() []string {
	words, is := strings.CutPrefix(s.Syntax, "[")
	if !is {
		return nil
	}
	return strings.Split(strings.ToLower(strings.TrimSuffix(words, "]")), "|")
}

// Fault says why the library that reads a variable of the environment drops its setting; "" if it does not, or if that is not known.
func (k Known) Fault(name, value string) string {
	for _, l := range k {
		if strings.HasPrefix(name, l.prefix) {
			return l.fault(name, value)
		}
	}
	return ""
}

func (l *Library) fault(name, value string) string {
	who := l.Name + " " + l.Version
	known, is := l.names[name]
	switch {
	case !is && (l.ofAbsentModule(name) || l.mentions(name)):
	case !is:
		why := who + " has no variable of this name"
		names := make([]string, 0, len(l.names))
		for n := range l.names {
			names = append(names, n)
		}
		slices.Sort(names)
		if near := text.Nearest(names, name, 1); near != nil {
			why += "; did you mean " + near[0] + "?"
		}
		return why
	case l.wrong[name], name == ucxLogLevel && !oneOf(known.Syntax, value):
		why := who + " does not take this value"
		if known.Syntax != "" {
			why += "; it takes " + known.Syntax
		}
		return why
	}
	if l.Name == "libfabric" && is {
		return l.fabricFault(name, value, known.Syntax)
	}
	for _, u := range l.unavailable {
		if slices.Contains(elements(value), u.what) {
			return u.kind + " " + u.what + " is not available here; " + who + " has " + u.instead
		}
	}
	return ""
}

// ucxModules begin the names of the variables of UCX's modules, which need not be installed.
const ucxModules = `CM CMA CUDA CUDA_COPY CUDA_IPC DC DC_MLX5 DC_VERBS EFA GAUDI GDR_COPY GGA IB KNEM MLX5 RC RC_MLX5 RC_VERBS RDMA_CM RDMACM ROCM ROCM_COPY
	ROCM_GDR ROCM_IPC SOCKCM SRD UD UD_MLX5 UD_VERBS UGNI XPMEM ZE ZE_COPY ZE_IPC`

// ofAbsentModule reports whether a variable is one of a module of UCX that lists no variables, the most exact of those whose names begin it.
func (l *Library) ofAbsentModule(name string) bool {
	module := ""
	for word := range strings.FieldsSeq(ucxModules) {
		if prefix := l.prefix + word + "_"; l.Name == "UCX" && strings.HasPrefix(name, prefix) && len(prefix) > len(module) {
			module = prefix
		}
	}
	for n := range l.names {
		if strings.HasPrefix(n, module) {
			return false
		}
	}
	return module != ""
}

// The child is not told of these, as its logs must come. Neither library complains of a wrong word.
const ucxLogLevel, fiLogLevel = "UCX_LOG_LEVEL", "FI_LOG_LEVEL"

// oneOf reports whether a word is one of a syntax [A|B], or cannot be judged.
func oneOf(syntax, word string) bool {
	values := Setting{Syntax: syntax}.Values()
	return values == nil || word == "" || slices.Contains(values, strings.ToLower(word))
}

// fabricFault is fault for a variable that libfabric knows.
func (l *Library) fabricFault(name, value, kind string) string {
	who := l.Name + " " + l.Version
	switch kind {
	case "bool":
		if !slices.Contains(strings.Fields("0 1 yes no true false on off"), strings.ToLower(value)) {
			return who + " does not take this value; it takes yes or no"
		}
	case "int", "size_t":
		if value == "" || strings.Trim(value[:1], "0123456789-+ ") != "" {
			return who + " does not take this value; it takes a whole number"
		}
	}
	if name == fiLogLevel && !oneOf("[warn|trace|info|debug]", value) { // src/log.c: others mean warn
		return who + " does not take this value; it takes warn, trace, info or debug"
	}
	if name != "FI_PROVIDER" || len(l.providers) == 0 {
		return ""
	}
	for _, p := range elements(strings.ReplaceAll(value, ";", ",")) {
		if p != "" && !slices.Contains(l.providers, strings.ToLower(p)) && !l.contains(p) {
			has := slices.Clone(l.providers)
			slices.Sort(has)
			return who + " has no provider " + p + "; it has " + strings.Join(slices.Compact(has), ", ")
		}
	}
	return ""
}

// elements are the parts of a list of names, without the sign in front that excludes them.
func elements(value string) []string {
	parts := strings.Split(strings.TrimLeft(value, "^!\\"), ",")
	for k := range parts {
		parts[k] = strings.TrimLeft(strings.TrimSpace(parts[k]), "^!\\")
	}
	return parts
}

// mentions reports whether the library has a name among its texts: it may read a variable without listing it. libfabric puts names
// together from those of a provider and of its parameter.
func (l *Library) mentions(name string) bool {
	if l.contains(name) {
		return true
	}
	rest := strings.TrimPrefix(name, l.prefix)
	for l.Name == "libfabric" && rest != "" {
		if l.contains(strings.ToLower(rest)) {
			return true
		}
		_, rest, _ = strings.Cut(rest, "_")
	}
	return false
}

// contains reports whether a file of the library has a text, or one that ends with it.
func (l *Library) contains(s string) bool {
	return slices.ContainsFunc(l.files, func(file string) bool {
		content, err := os.ReadFile(file)
		return err != nil || bytes.Contains(content, []byte(s+"\x00")) // linkers let a text be the end of another
	})
}
