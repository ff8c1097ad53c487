package settings

import (
	"fmt"
	"path/filepath"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/text"
)

// Form is where settings are written for the next run.
type Form int

// The forms.
const (
	Options Form = iota // of the launcher
	Script              // a shell script that sets the environment
	File                // a parameter file of the MPI
	forms
)

func (f Form) String() string {
	return [...]string{"launcher options", "environment script", "parameter file"}[f]
}

// FormOf is the form that a file's name asks for: .sh is a script, .conf a parameter file, another name has the usual form.
func FormOf(path string, usual Form) Form {
	switch filepath.Ext(path) {
	case ".sh":
		return Script
	case ".conf":
		return File
	}
	return usual
}

// Assignment is a control variable and the value that it is to get.
type Assignment struct {
	Variable *catalog.Variable
	Enum     *catalog.Enum
	Value    catalog.Value
	Notes    []string // what a reader should know; they become comments
	NeededBy []string // the variables that it was added for (Judge.Complete); nil: the user wants it
}

// Environment is the environment variable that makes an assignment, as NAME=value; "" if the library would refuse it.
func (a *Assignment) Environment(impl string) string {
	value, ok := setting(impl, a.Variable, a.Enum, a.Value)
	if !ok || fixed(impl, a.Variable) != "" {
		return ""
	}
	switch impl {
	case machine.OpenMPI:
		return "OMPI_MCA_" + a.Variable.Name + "=" + value
	case machine.MPICH:
		return a.Variable.Name + "=" + value
	case machine.Demo:
		return "DEMO_CVAR_" + key(machine.Demo, a.Variable.Name) + "=" + value
	}
	return ""
}

// fixed explains why a control variable cannot be set for a run; "" for others.
func fixed(impl string, v *catalog.Variable) string {
	switch {
	case v.Scope == catalog.ScopeConstant:
		return "its value is constant"
	case v.Scope == catalog.ScopeReadonly && impl != machine.OpenMPI: // Open MPI takes it before a run
		return "it is read-only: the library only reports it"
	}
	return Fixed(impl, v)
}

// ways are how a control variable is set, by form.
type ways struct {
	text [forms]string // of the launcher's options; a line for the shell; a line of a parameter file, unquoted
	why  [forms]string // why there is no text
}

func waysToSet(impl string, a Assignment, quote func(string) string) (w ways) {
	none := func(form Form, why string) { w.text[form], w.why[form] = "", why }
	variable, name := a.Variable, a.Variable.Name
	value, ok := setting(impl, variable, a.Enum, a.Value)
	all := fixed(impl, variable)
	if all == "" && !ok {
		all = "the library takes only named values, and " + a.Value.String() + " has no name"
	}
	v := quote(value)
	var kind catalog.OriginKind // of the present setting: the launcher's option overrides the environment, which overrides files
	if variable.Origin != nil && !a.present() {
		kind = variable.Origin.Kind
	}
	switch impl {
	case machine.OpenMPI:
		w.text = [forms]string{"--mca " + quote(name) + " " + v, "export OMPI_MCA_" + name + "=" + v, name + " = " + value}
		if !shellName().MatchString(name) {
			none(Script, "the shell has no variables with such a name")
		}
		if strings.Trim(name, keyvalWord) != "" {
			none(File, "a line of the file cannot hold its name")
		}
		if strings.Contains(value, "\n") || strings.TrimSpace(value) != value {
			none(File, "a line of the file cannot hold its value")
		}
		if kind == catalog.OriginEnvironment {
			none(File, "the environment sets it, which overrides the file")
		}
	case machine.MPICH:
		w.text = [forms]string{Options: "-genv " + quote(name) + " " + v, Script: "export " + quote(name) + "=" + v}
	case machine.Demo:
		w.text[Script] = "export DEMO_CVAR_" + key(machine.Demo, name) + "=" + v
	default:
		all = "no way is known to set it"
	}
	if kind == catalog.OriginLauncher && impl != machine.Demo {
		none(Script, "a launcher option sets it, which overrides the environment")
		none(File, "a launcher option sets it, which overrides the file")
	}
	if all != "" {
		for form := range forms {
			none(form, all)
		}
	}
	return w
}

// present reports whether an assignment was added that gives a variable the value which something gives it already.
func (a *Assignment) present() bool {
	r := a.Variable.Current()
	return a.NeededBy != nil && r != nil && (r.Value == a.Value || a.Variable.Origin.Value == a.Value.String())
}

// comments are what a reader should know about an assignment.
func (a *Assignment) comments() []string {
	if a.NeededBy == nil {
		return a.Notes
	}
	return append([]string{strings.Join(a.NeededBy, ", ") + " " + text.Verb(len(a.NeededBy), "needs", "need") + " " + a.Variable.Name}, a.Notes...)
}

// Settings are several assignments in one form, and those that it cannot express, with the reason. The error says why the MPI does not
// have the form.
func Settings(impl string, form Form, all []Assignment, charset text.Charset) (lines string, left []string, err error) {
	switch {
	case impl == machine.MPICH && form == File:
		return "", nil, fmt.Errorf("%s reads no parameter file of a user's; use the %s", machine.FamilyName(impl), Script)
	case impl == machine.Demo && form != Script:
		return "", nil, fmt.Errorf("the demo MPI reads its environment only; use the %s", Script)
	}
	var out []string
	for _, a := range all {
		w := waysToSet(impl, a, text.QuotePOSIX)
		if w.text[form] == "" {
			why := a.Variable.Name + ": " + w.why[form]
			left = append(left, why)
			if form != Options {
				out = append(out, "# not set: "+charset.Safe(why))
			}
			continue
		}
		for _, note := range a.comments() {
			if form == Options {
				break
			}
			out = append(out, "# "+charset.Safe(note))
		}
		out = append(out, w.text[form])
	}
	switch form {
	case Options:
		return strings.Join(out, " ") + "\n", left, nil
	case Script:
		out = append([]string{"# Settings for the next run, from mpitx. In the shell that starts it: . ./FILE"}, out...)
	case File:
		out = append([]string{"# Settings for the next run, from mpitx: lines for ~/.openmpi/mca-params.conf"}, out...)
	}
	return strings.Join(out, "\n") + "\n", left, nil
}
