package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// droppedLine is a line of a file that is no setting. Open MPI complains of it with the number of another line.
func droppedLine(line string) Setting {
	name, value, _ := strings.Cut(line, " ")
	s := Setting{Name: name, Origin: catalog.Origin{Value: strings.TrimSpace(value)}, Dropped: "the line is not NAME = VALUE"}
	if value = strings.TrimSpace(value); shellName().MatchString(name) && value != "" && !strings.Contains(value, "=") {
		s.Dropped += "; write " + name + " = " + value
	}
	return s
}

// lists are Open MPI's variables that name files, and what separates them.
var lists = map[string]string{amVariable: ":", "mca_base_envar_file_prefix": ",", "mca_base_param_files": ",", "mca_param_files": ",", "mca_base_override_param_file": ","}

// missingFile says which file of a variable that names files does not exist.
func (q Query) missingFile(cvar, value string) string {
	separator, names := lists[cvar]
	if !names || q.Impl != machine.OpenMPI || value == "none" {
		return ""
	}
	for _, file := range split(value, separator) {
		path := file
		if rest, home := strings.CutPrefix(file, "~/"); home {
			path = filepath.Join(q.Env.Getenv("HOME"), rest)
		}
		if _, err := os.Stat(q.Env.File(q.find(path))); errors.Is(err, fs.ErrNotExist) {
			return "the file " + file + " does not exist"
		}
	}
	return ""
}

// droppedOptions are those of mpirun's options that no process gets (measured with Open MPI 4.1).
func (q Query) droppedOptions() (all []Influence) {
	launch := q.launched()
	if launch.Name != "orte" || q.Impl != machine.OpenMPI {
		return nil
	}
	environ := q.environment()
	for k, o := range launch.given {
		why := launch.given.drops(k)
		if why == "" || slices.ContainsFunc(environ, func(e assigned) bool { return e.variable == o.variable && o.gives(e.value) }) {
			continue
		}
		name := strings.TrimPrefix(o.variable, "OMPI_MCA_")
		all = append(all, Influence{Name: name, Reader: machine.FamilyName(q.Impl), Origin: o.origin(), Dropped: why})
	}
	return all
}

// drops says why mpirun drops the option at k; "" if it does not.
func (os options) drops(k int) string {
	o := os[k]
	switch {
	case o.inApp:
		return "mpirun ignores --" + o.is + " in a file of --app; give it before --app"
	case o.later:
		return "mpirun ignores this option after the first \":\"; give it before the first program"
	}
	for _, other := range os[k+1:] {
		if other.is == o.is && (o.is == "tune" || o.is == "am") {
			return "mpirun takes only the last --" + o.is + "; name all files in one: --" + o.is + " " + o.value + lists[strings.TrimPrefix(o.variable, "OMPI_MCA_")] + other.value
		}
	}
	if at := slices.IndexFunc(os, func(other option) bool { return other.is == "gmca" && other.variable == o.variable }); at >= 0 && o.is == "mca" {
		return "mpirun takes " + strings.TrimSpace(strings.TrimPrefix(os[at].text, filepath.Base(strings.Fields(os[at].text)[0]))) + " instead"
	}
	return ""
}

// Place is where an influence was set, and on which ranks if not on all, for a message.
func (i *Influence) Place() string {
	place := i.Where
	if i.Kind == catalog.OriginEnvironment {
		place = "environment"
	}
	if i.Ranks != nil {
		place += " (" + text.Ranks(i.Ranks) + ")"
	}
	return place
}

// Ignored says why nothing takes the setting, with its place; "" if it is taken, or if that is not known.
func (i *Influence) Ignored() string {
	if i.Dropped == "" {
		return ""
	}
	return i.Place() + ": " + i.Name + ": " + i.Dropped
}

// Refused marks the settings whose values a library does not take, and those that it does not know. It could not be read now; c has its control
// variables as they were read before, nil: never.
func Refused(impl string, found []Influence, c *catalog.Catalog) {
	for k := range found {
		i := &found[k]
		var v *catalog.Variable
		if c != nil {
			v = c.Cvar(i.Cvar)
		}
		switch {
		case i.Dropped != "" || i.Overridden:
		case c == nil:
			if takes, want := mpichSyntax(i.Cvar); impl == machine.MPICH && want != "" && !takes(i.Value) {
				i.Dropped = (&catalog.ParseError{Text: i.Value, Type: catalog.TypeInt, Want: want}).Error()
			}
		case i.Unknown:
			i.Dropped = "no control variable has this name" + didYouMean(c.Names(catalog.Cvars), i.Cvar)
		case v != nil:
			if err := Takes(impl, c, v, i.Value); err != nil {
				i.Dropped = err.Error()
			}
		}
	}
}

// Faults says which settings the library does not take, or cannot use, each with its place. names are those of the control variables.
func Faults(found []Influence, c *catalog.Catalog, effect func(*catalog.Variable) tuning.Effect) (all []string) {
	names := c.Names(catalog.Cvars)
	for k := range found {
		i := &found[k]
		v := c.Cvar(i.Cvar)
		switch {
		case i.Dropped != "":
			all = append(all, i.Ignored())
		case i.Unknown:
			all = append(all, i.Place()+": "+i.Name+": no control variable has this name"+didYouMean(names, i.Cvar))
		case v != nil && !i.Overridden:
			for _, words := range effect(v).Mistakes(v.Name) {
				all = append(all, i.Place()+": "+words)
			}
		}
	}
	return all
}

// didYouMean asks for the name that is most like one that does not exist; "": none is.
func didYouMean(names []string, wrong string) string {
	if near := text.Nearest(names, wrong, 1); near != nil {
		return "; did you mean " + near[0] + "?"
	}
	return ""
}
