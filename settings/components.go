package settings

import (
	"bytes"
	_ "embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mpitx/machine"
	"mpitx/text"
)

//go:embed components.txt
var componentsText string

// components are the components that releases of Open MPI have had, by framework.
var components = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(componentsText) {
		if framework, names, ok := strings.Cut(line, ": "); ok && line[0] != '#' {
			all[framework] = strings.Fields(names)
		}
	}
	return all
})

// missingComponent says what a list of components, "a,b" or "^a,b", names that Open MPI does not have. It ignores unknown names in a list of
// those to leave out. With others it fails, or goes on without them (4.1, measured).
func (q Query) missingComponent(framework, value string) string {
	known, is := components()[framework]
	if !is || q.Impl != machine.OpenMPI {
		return ""
	}
	names, except := strings.CutPrefix(value, "^")
	names = strings.TrimLeft(names, "^")
	if strings.Contains(names, "^") {
		return "Open MPI takes ^ only at the beginning of the list, for all of its components"
	}
	installed := q.installed(framework)
	for name := range strings.SplitSeq(names, ",") {
		switch {
		case name == "" || slices.Contains(installed, name) || q.builtIn(framework, name):
		case !slices.Contains(known, name):
			why := "Open MPI has no component " + text.Quote(name) + " of " + framework
			if near := text.Nearest(slices.Concat(installed, known), strings.TrimSpace(name), 1); near != nil {
				why += "; did you mean " + near[0] + "?"
			}
			return why
		case !except && len(installed) > 0 && !slices.Contains([]string{"vader", "romio"}, name): // from 5.0 on, these are other names
			return "this Open MPI has no component " + name + " of " + framework + "; it has " + strings.Join(installed, ", ")
		}
	}
	return ""
}

// installed are the components of a framework that are files.
func (q Query) installed(framework string) (names []string) {
	prefix := "mca_" + framework + "_"
	for _, dir := range split(strings.Trim(q.Value("mca_base_component_path"), `"`), ":") {
		files, _ := filepath.Glob(q.Env.File(filepath.Join(dir, prefix+"*.so")))
		for _, file := range files {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), prefix), ".so"))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// builtIn reports whether a component is in the library itself.
func (q Query) builtIn(framework, name string) bool {
	prefix := framework + "_" + name + "_"
	if slices.ContainsFunc(q.Names, func(n string) bool { return strings.HasPrefix(n, prefix) }) {
		return true
	}
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(q.Env.File(q.Lib)), "libopen-*.so"))
	for _, file := range append(files, q.Env.File(q.Lib)) {
		if content, err := os.ReadFile(file); err != nil || bytes.Contains(content, []byte("mca_"+prefix+"component\x00")) {
			return true
		}
	}
	return false
}

// carriageReturn says that a value of a file from Windows ends with one. Open MPI keeps it (4.1, measured). Some numbers bear that: the value
// that the library has tells.
func (q Query) carriageReturn(s Setting) string {
	value, crlf := strings.CutSuffix(s.Value, "\r")
	path, _, _ := strings.Cut(s.Where, ":")
	if !crlf || q.Impl != machine.OpenMPI || wholeNumber().MatchString(value) || sized().MatchString(value) {
		return ""
	}
	return "the line ends with a carriage return, which Open MPI takes as part of the value; remove it: sed -i 's/\\r$//' " + text.Quote(path)
}
