// Package settings finds where the user set control variables: in the environment, with an option of the launcher, or in
// a parameter file of the MPI. Settings that a launcher makes by itself are not the user's.
package settings

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/machine/layers"
	"mpitx/text"
)

// Query is the question.
type Query struct {
	Env    *machine.Env
	Impl   string              // machine.OpenMPI, machine.MPICH or machine.Demo (MPI.Impl): decides how settings are spelt
	Prefix string              // of the library (MPI.Prefix), for the default parameter files
	Lib    string              // the file of the library
	Text   string              // the library's description of itself
	Names  []string            // all control variables of the library, of both stages
	Value  func(string) string // the present text of a control variable, "" if unknown; may be nil

	Layers func(given []string) layers.Known // asks UCX and libfabric what they know, and about settings NAME=value; nil: they are not asked
}

// Answer is the result.
type Answer struct {
	Set     map[string]catalog.Origin // by the name of the control variable
	Unknown []Setting                 // settings without a control variable: misspelt, or of a missing component
	Dropped []Setting                 // those that nothing reads as settings
}

// Setting is one name set in one place.
type Setting struct {
	Name     string // in the control variables' spelling, except for the demo MPI
	variable string // of the environment, if it arrives there
	catalog.Origin
	Dropped string // why nothing reads it; "": it is read, as far as known
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
	for _, s := range q.settings() {
		if s.Dropped != "" {
			a.Dropped = append(a.Dropped, s)
			continue
		}
		name, ok := known[key(q.Impl, s.Name)]
		if !ok {
			a.Unknown = append(a.Unknown, s)
			continue
		}
		if _, done := a.Set[name]; !done {
			a.Set[name] = s.Origin
		}
	}
	a.Unknown = slices.DeleteFunc(a.Unknown, q.notMeant)
	return a
}

// envList is Open MPI's variable with the variables that mpirun sets in the environment.
const envList = "mca_base_env_list"

// settings are all settings of control variables, those with precedence first.
func (q Query) settings() (all []Setting) {
	switch q.Impl {
	case machine.OpenMPI:
	case machine.MPICH:
		return append(fromEnvironment(q), q.mpichConfEnd()...)
	default:
		return fromEnvironment(q)
	}
	all = slices.Concat(overrides(q), fromEnvironment(q))
	for _, s := range fromFiles(q) {
		if !slices.ContainsFunc(all, func(o Setting) bool { return o.variable != "" && o.Name == s.Name && o.Origin == s.Origin }) { // mpirun did not pass it on
			all = append(all, s)
		}
	}
	if home := q.Env.Getenv("HOME"); home != "" && q.Env.Launcher().Name == "prrte" { // which reads this file instead of the library
		for _, s := range q.read(filepath.Join(home, ".openmpi", "mca-params.conf")) {
			if s.Dropped != "" && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Settings are the settings in a process's environment that launchers do not make by themselves, also those beyond MPI_T, sorted, as
// NAME=value.
func (q Query) Settings(environ []string) (found []string) {
	for _, kv := range environ {
		if variable, value, _ := strings.Cut(kv, "="); q.isSetting(variable, value) {
			found = append(found, kv)
		}
	}
	slices.Sort(found)
	return found
}

func (q Query) isSetting(variable, value string) bool {
	sets := Reader(variable) != "" || slices.ContainsFunc(q.forms(), func(f form) bool { return strings.HasPrefix(variable, f.prefix) })
	return sets && !machine.OwnedByLauncher(variable, value) && variable+"="+value != machine.QuietORTE
}

// On asks the same for a process that has other settings in its environment.
func (q Query) On(settings []string) Query {
	environ := slices.DeleteFunc(slices.Clone(q.Env.Environ), func(kv string) bool {
		variable, value, _ := strings.Cut(kv, "=")
		return q.isSetting(variable, value)
	})
	q.Env = &machine.Env{Environ: append(environ, settings...), Root: q.Env.Root, PID: q.Env.PID, UID: q.Env.UID, Arch: q.Env.Arch}
	return q
}

// key is the form in which names are compared: the demo MPI's environment has them in capitals.
func key(impl, name string) string {
	if impl == machine.Demo {
		return strings.ToUpper(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, name))
	}
	return name
}

// launched is what the launcher that started this process was given.
type launched struct {
	machine.Launch
	given  options  // nil: no launcher, or it is on another node
	before []string // its environment; nil: unknown
	prrte  bool     // PRRTE on this node; on other nodes the daemon's environment differs from the launcher's
}

func (q Query) launched() launched {
	l := launched{Launch: q.Env.Launcher()}
	if l.PID != 0 {
		p := q.Env.Details(machine.Process{PID: l.PID})
		l.given, l.before = parseOptions(l.Name, p.Cmdline, q.text), p.Environ
		if q.Impl == machine.OpenMPI {
			l.given = append(l.given, q.ofTuneFiles(l.given)...)
		}
	}
	l.prrte = l.Name == "prrte" && l.before != nil && filepath.Base(l.Exe) != "prted"
	return l
}

// text is the text of a file, "" if it cannot be read. A pipe that the launcher has read would block for ever.
func (q Query) text(file string) string {
	if st, err := os.Stat(q.Env.File(file)); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	data, _ := os.ReadFile(q.Env.File(file))
	return string(data)
}

// ofTuneFiles are the variables that -x sets in files of --tune.
func (q Query) ofTuneFiles(given options) (all options) {
	for _, o := range given {
		if o.is != "tune" {
			continue
		}
		for _, file := range split(o.value, ",") {
			path := q.find(file)
			for _, line := range parseKeyval(q.text(path)) {
				for _, s := range line.environ {
					all = append(all, option{variable: s.Name, value: s.Value, in: path + ":" + strconv.Itoa(line.number)})
				}
			}
		}
	}
	return all
}

// listed is the origin of a variable that mpirun sets because it is in the list of Open MPI's variable mca_base_env_list; false if it is
// not. list is the setting of that.
func (q Query) listed(l launched, list *Setting, e assigned) (catalog.Origin, bool) {
	kv := e.variable + "=" + e.value
	if list == nil || l.before == nil || contains(l.before, kv) || !slices.Contains(strings.Split(unquote(list.Value), cmp.Or(q.Value("mca_base_env_list_delimiter"), ";")), kv) {
		return catalog.Origin{}, false
	}
	return catalog.Origin{Kind: list.Kind, Where: list.Where, Value: e.value}, true
}

// origin says where a variable of the environment was set; false if a launcher sets it by itself.
func (l launched) origin(e assigned) (catalog.Origin, bool) {
	o := catalog.Origin{Kind: catalog.OriginEnvironment, Where: e.variable, Value: e.value}
	option, replaced := l.given.find(e.variable, e.value)
	if e.line != "" {
		o.Kind, o.Where = catalog.OriginFile, e.line
	} else if option != nil {
		where := option.origin()
		o.Kind, o.Where = where.Kind, where.Where
	} else if replaced {
		return o, true
	} else if kv := e.variable + "=" + e.value; l.Name != "" && machine.OwnedByLauncher(e.variable, e.value) && !contains(l.before, kv) {
		return o, false
	} else if e.variable == "LD_LIBRARY_PATH" && l.ownLibraries(e.value) {
		return o, false
	} else if l.prrte && !contains(l.before, kv) {
		// Not in the launcher's own environment: it has read a parameter file (PRRTE does), or has other options.
		o.Kind, o.Where = catalog.OriginLauncher, l.Command()
	}
	return o, true
}

// ownLibraries reports whether a search path consists of the launcher's libraries. Open MPI's mpirun sets it so if it is started
// by an absolute path.
func (l launched) ownLibraries(path string) bool {
	prefix := filepath.Dir(filepath.Dir(l.Exe))
	return l.Exe != "" && path != "" && !contains(l.before, "LD_LIBRARY_PATH="+path) && !slices.ContainsFunc(strings.Split(path, ":"), func(dir string) bool {
		return dir != filepath.Join(prefix, "lib") && dir != filepath.Join(prefix, "lib64")
	})
}

// filesOfPRRTE are the settings of the files that PRRTE reads and passes on in the environment.
func (q Query) filesOfPRRTE(l launched) []Setting {
	files := fromFiles(q)
	if home := q.Env.Getenv("HOME"); home != "" { // PRRTE reads it, and removes it from the ranks' list
		files = append(files, q.read(home+"/.openmpi/mca-params.conf")...)
	}
	for _, o := range l.given { // what --tune and --am name
		if o.variable == "OMPI_MCA_mca_base_envar_file_prefix" || o.variable == "OMPI_MCA_mca_base_param_file_prefix" {
			for _, f := range split(o.value, ",") {
				files = append(q.read(f), files...)
			}
		}
	}
	return files
}

// fromEnvironment reads the environment, which also has the launcher's options.
func fromEnvironment(q Query) []Setting {
	launch := q.launched()
	var files []Setting
	switch {
	case q.Impl != machine.OpenMPI:
	case launch.prrte:
		files = q.filesOfPRRTE(launch)
	case launch.Name == "orte" && launch.before != nil: // mpirun passes the list of variables on
		files = slices.DeleteFunc(fromFiles(q), func(s Setting) bool { return s.Name != envList })
	}
	var found []Setting
	environ := q.environment()
	for _, form := range q.forms() {
		for _, e := range environ {
			name, ok := strings.CutPrefix(e.variable, form.prefix)
			if !ok || name == "" || e.variable+"="+e.value == machine.QuietORTE {
				continue
			}
			o, users := launch.origin(e)
			if !users {
				continue
			}
			s := Setting{Name: form.cvar + name, variable: e.variable, Origin: o}
			fromFile := o.Where == launch.Command() || launch.Name == "orte" && o.Kind == catalog.OriginEnvironment && !contains(launch.before, e.variable+"="+e.value)
			for _, f := range files {
				if fromFile && f.Name == s.Name && f.Value == s.Value {
					s.Origin = f.Origin
					break
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
	case machine.OpenMPI:
		return []form{{"OMPI_MCA_", ""}}
	case machine.MPICH:
		all := []form{{"MPIR_CVAR_", "MPIR_CVAR_"}, {"MPIR_PARAM_", "MPIR_CVAR_"}, {"MPICH_", "MPIR_CVAR_"}}
		if strings.Contains(q.Text, "MVAPICH") {
			all = append(all, form{"MVP_", "MPIR_CVAR_"}, form{"MVP_", "MVP_"})
		}
		return all
	case machine.Demo:
		return []form{{"DEMO_CVAR_", ""}}
	}
	return nil
}

// launcherFrameworks are the parts of Open MPI that exist in the launcher only, or for the most part: their parameters need not be
// control variables of an application.
var launcherFrameworks = map[string]bool{
	"plm": true, "rmaps": true, "ras": true, "odls": true, "oob": true, "routed": true, "rml": true, "grpcomm": true, "state": true,
	"errmgr": true, "filem": true, "iof": true, "schizo": true, "regx": true, "rtc": true, "orte": true, "prte": true, "ess": true,
	"pmix": true, "hwloc": true, "snapc": true, "sstore": true, "notifier": true, "initial": true, "SOURCE": true, "PREFIXES": true, "opal": true,
}

// notMeant reports whether a setting without a control variable is not a misspelling: a parameter of the launcher that is like no
// control variable, a variable that a launcher sets itself, a prefix that other software also uses, or another name that MPICH reads.
func (q Query) notMeant(s Setting) bool {
	return q.Impl == machine.OpenMPI && q.ofLauncher(s.Name) ||
		s.Kind == catalog.OriginLauncher && s.Where == q.Env.Launcher().Command() ||
		q.Impl == machine.MPICH && (!strings.Contains(s.variable, "MPIR_") || len(q.Names) > 0 && q.mentions(s.variable))
}

// mentions reports whether the library has a text: MPICH also reads variables by other names than those of MPI_T, such as
// MPIR_CVAR_NO_LOCAL.
func (q Query) mentions(name string) bool {
	library, err := os.ReadFile(q.Env.File(q.Lib))
	return err == nil && bytes.Contains(library, []byte("\x00"+name+"\x00"))
}

// ofLauncher reports whether a name without a control variable may be a parameter of the launcher. The library registers those of orte
// and opal all at once, with the one in whole, but for options of mpirun.
func (q Query) ofLauncher(name string) bool {
	framework, _, _ := strings.Cut(name, "_")
	whole := map[string]string{"orte": "orte_debug_daemons", "opal": "opal_net_private_ipv4"}[framework]
	switch {
	case !launcherFrameworks[framework]:
		return false
	case whole != "" && slices.Contains(q.Names, whole):
		return slices.Contains(strings.Fields(openmpiParameters), name)
	}
	return text.Nearest(q.ofFramework(framework), name, 1) == nil
}

func (q Query) ofFramework(framework string) (names []string) {
	for _, name := range q.Names {
		if strings.HasPrefix(name, framework+"_") {
			names = append(names, name)
		}
	}
	return names
}

func contains(environ []string, kv string) bool {
	for _, e := range environ {
		if e == kv {
			return true
		}
	}
	return false
}
