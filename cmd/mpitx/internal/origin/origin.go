// Package origin finds where the user set control variables: in the environment, with an option of the launcher, or in
// a parameter file of the MPI. Settings that a launcher makes by itself are not the user's.
package origin

import (
	"path/filepath"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// Query is the question.
type Query struct {
	Env    *locate.Env
	Impl   string              // locate.OpenMPI, locate.MPICH or locate.Demo (MPI.Impl): decides how settings are spelt
	Prefix string              // of the library (MPI.Prefix), for the default parameter files
	Lib    string              // the file of the library
	Text   string              // the library's description of itself
	Names  []string            // all control variables of the library, of both stages
	Value  func(string) string // the present text of a control variable, "" if unknown; may be nil
}

// Answer is the result.
type Answer struct {
	Set     map[string]catalog.Origin // by the name of the control variable
	Unknown []Setting                 // settings without a control variable: misspelt, or of a missing component
}

// Setting is one name set in one place.
type Setting struct {
	Name     string // in the control variables' spelling, except for the demo MPI
	variable string // of the environment, if it arrives there
	catalog.Origin
}

// Find answers a query. The order of precedence is the library's: override file, launcher option or environment, parameter
// files.
func Find(q Query) Answer {
	if q.Value == nil {
		q.Value = func(string) string { return "" }
	}
	known := make(map[string]string, len(q.Names)) // by key
	for _, n := range q.Names {
		known[key(q.Impl, n)] = n
	}
	a := Answer{Set: map[string]catalog.Origin{}}
	take := func(settings []Setting) {
		for _, s := range settings {
			name, ok := known[key(q.Impl, s.Name)]
			if !ok {
				a.Unknown = append(a.Unknown, s)
				continue
			}
			if _, done := a.Set[name]; !done {
				a.Set[name] = s.Origin
			}
		}
	}
	if q.Impl == locate.OpenMPI {
		take(overrides(q))
	}
	take(fromEnvironment(q))
	if q.Impl == locate.OpenMPI {
		take(fromFiles(q))
	}
	a.Unknown = slices.DeleteFunc(a.Unknown, q.notMeant)
	return a
}

// key is the form in which names are compared: the demo MPI's environment has them in capitals.
func key(impl, name string) string {
	if impl == locate.Demo {
		return strings.ToUpper(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, name))
	}
	return name
}

// fromEnvironment reads the environment, which also has the launcher's options.
func fromEnvironment(q Query) []Setting {
	launch := q.Env.Launcher()
	var given options // nil: no launcher, or it is on another node
	var before []string
	if launch.PID != 0 {
		p := q.Env.Details(locate.Process{PID: launch.PID})
		given, before = parseOptions(launch.Name, p.Cmdline), p.Environ
	}
	// On other nodes the daemon's environment differs from the launcher's.
	prrte := launch.Name == "prrte" && before != nil && filepath.Base(launch.Exe) != "prted"
	var files []Setting
	if prrte && q.Impl == locate.OpenMPI {
		files = fromFiles(q)
		if home := q.Env.Getenv("HOME"); home != "" { // PRRTE reads it, and removes it from the ranks' list
			files = append(files, q.read(home+"/.openmpi/mca-params.conf")...)
		}
		for _, o := range given { // what --tune and --am name
			if o.variable == "OMPI_MCA_mca_base_envar_file_prefix" || o.variable == "OMPI_MCA_mca_base_param_file_prefix" {
				for _, f := range split(o.value, ",") {
					files = append(q.read(f), files...)
				}
			}
		}
	}
	var found []Setting
	environ := q.environment()
	for _, form := range q.forms() {
		for _, e := range environ {
			variable, value, kv := e.variable, e.value, e.variable+"="+e.value
			name, ok := strings.CutPrefix(variable, form.prefix)
			if !ok || name == "" || kv == locate.QuietORTE {
				continue
			}
			s := Setting{form.cvar + name, variable, catalog.Origin{Kind: catalog.OriginEnvironment, Where: variable, Value: value}}
			if e.line != "" {
				s.Kind, s.Where = catalog.OriginFile, e.line
			} else if option, ok := given.find(variable, value); ok {
				s.Kind, s.Where = catalog.OriginLauncher, option
			} else if launch.Name != "" && locate.OwnedByLauncher(variable, value) && !contains(before, kv) {
				continue
			} else if prrte && !contains(before, kv) {
				// Not in the launcher's own environment: it has read a parameter file (PRRTE does), or has other options.
				s.Kind, s.Where = catalog.OriginLauncher, launch.Command()
				for _, f := range files {
					if f.Name == s.Name && f.Value == s.Value {
						s.Origin = f.Origin
						break
					}
				}
			}
			found = append(found, s)
		}
	}
	return found
}

// form is a spelling of settings in the environment: prefix of the variable, prefix of the control variable.
type form struct{ prefix, cvar string }

// forms are an implementation's spellings, the strongest first. MVAPICH accepts its own prefix for MPICH's variables, and also has
// variables with that prefix.
func (q Query) forms() []form {
	switch q.Impl {
	case locate.OpenMPI:
		return []form{{"OMPI_MCA_", ""}}
	case locate.MPICH:
		all := []form{{"MPIR_CVAR_", "MPIR_CVAR_"}, {"MPIR_PARAM_", "MPIR_CVAR_"}, {"MPICH_", "MPIR_CVAR_"}}
		if strings.Contains(q.Text, "MVAPICH") {
			all = append(all, form{"MVP_", "MPIR_CVAR_"}, form{"MVP_", "MVP_"})
		}
		return all
	case locate.Demo:
		return []form{{"DEMO_CVAR_", ""}}
	}
	return nil
}

// launcherFrameworks are the parts of Open MPI that exist in the launcher only: their parameters are neither control
// variables of an application nor misspellings.
var launcherFrameworks = map[string]bool{
	"plm": true, "rmaps": true, "ras": true, "odls": true, "oob": true, "routed": true, "rml": true, "grpcomm": true, "state": true,
	"errmgr": true, "filem": true, "iof": true, "schizo": true, "regx": true, "rtc": true, "orte": true, "prte": true, "ess": true,
	"pmix": true, "hwloc": true, "snapc": true, "sstore": true, "notifier": true, "initial": true, "SOURCE": true, "PREFIXES": true, "opal": true,
}

// notMeant reports whether a setting without a control variable is not a misspelling: a parameter of the launcher,
// a variable that a launcher sets itself, or a prefix that other software also uses.
func (q Query) notMeant(s Setting) bool {
	framework, _, _ := strings.Cut(s.Name, "_")
	return q.Impl == locate.OpenMPI && launcherFrameworks[framework] ||
		s.Kind == catalog.OriginLauncher && s.Where == q.Env.Launcher().Command() ||
		q.Impl == locate.MPICH && !strings.Contains(s.variable, "MPIR_")
}

func contains(environ []string, kv string) bool {
	for _, e := range environ {
		if e == kv {
			return true
		}
	}
	return false
}
