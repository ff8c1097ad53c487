package origin

import (
	"fmt"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/export"
)

// Form is where settings are written for the next run.
type Form int

// The forms.
const (
	Options Form = iota // of the launcher
	Script              // a shell script that sets the environment
	File                // a parameter file of the MPI
)

func (f Form) String() string {
	return [...]string{"launcher options", "environment script", "parameter file"}[f]
}

// Assignment is a control variable and the value that it is to get.
type Assignment struct {
	Variable *catalog.Variable
	Enum     *catalog.Enum
	Value    catalog.Value
	Note     string // what a reader should know; it becomes a comment
}

// ways are how a control variable is set; "": not in this way.
type ways struct {
	export string // a line for the shell
	option string // the launcher's
	line   string // of a parameter file, unquoted
	why    string // nothing sets it
}

func waysToSet(impl string, a Assignment, t export.Terminal) ways {
	variable, name := a.Variable, a.Variable.Name
	value, ok := setting(impl, variable, a.Enum, a.Value)
	switch {
	case Fixed(impl, variable) != "":
		return ways{why: Fixed(impl, variable)}
	case !ok:
		return ways{why: "the library takes only named values, and " + a.Value.String() + " has no name"}
	}
	v := quote(value, t)
	var kind catalog.OriginKind // of the present setting: the launcher's option overrides the environment, which overrides files
	if variable.Origin != nil {
		kind = variable.Origin.Kind
	}
	var w ways
	switch impl {
	case locate.OpenMPI:
		w.option = "--mca " + quote(name, t) + " " + v
		if kind != catalog.OriginLauncher && shellName().MatchString(name) {
			w.export = "export OMPI_MCA_" + name + "=" + v
		}
		oneLine := !strings.Contains(value, "\n") && strings.TrimSpace(value) == value // a line of the file can hold no other
		if oneLine && (kind == "" || kind == catalog.OriginFile) {
			w.line = name + " = " + value
		}
	case locate.MPICH:
		w.option = "-genv " + quote(name, t) + " " + v
		if kind != catalog.OriginLauncher {
			w.export = "export " + quote(name, t) + "=" + v
		}
	case locate.Demo:
		w.export = "export DEMO_CVAR_" + key(locate.Demo, name) + "=" + v
	default:
		w.why = "no way is known to set it"
	}
	return w
}

// Settings are several assignments in one form, and those that it cannot express, with the reason. The error says why the MPI does not
// have the form.
func Settings(impl string, form Form, all []Assignment, t export.Terminal) (text string, left []string, err error) {
	switch {
	case impl == locate.MPICH && form == File:
		return "", nil, fmt.Errorf("%s reads no parameter file of a user's; use the %s", locate.FamilyName(impl), Script)
	case impl == locate.Demo && form != Script:
		return "", nil, fmt.Errorf("the demo MPI reads its environment only; use the %s", Script)
	}
	var lines []string
	for _, a := range all {
		w := waysToSet(impl, a, t)
		s, instead := w.in(form)
		if s == "" {
			why := instead
			if w.why != "" {
				why = w.why
			}
			left = append(left, a.Variable.Name+": "+why)
			if form != Options {
				lines = append(lines, "# "+oneLine(a.Variable.Name+" is not set: "+why, t))
			}
			continue
		}
		if a.Note != "" && form != Options {
			lines = append(lines, "# "+oneLine(a.Note, t))
		}
		lines = append(lines, s)
	}
	switch form {
	case Options:
		return strings.Join(lines, " ") + "\n", left, nil
	case Script:
		lines = append([]string{"# Settings from mpitx tui. In the shell that starts the run: . ./FILE"}, lines...)
	case File:
		lines = append([]string{"# Settings from mpitx tui, for ~/.openmpi/mca-params.conf"}, lines...)
	}
	return strings.Join(lines, "\n") + "\n", left, nil
}

// in is how a form sets a variable; else why it does not.
func (w ways) in(form Form) (text, why string) {
	switch form {
	case Options:
		return w.option, ""
	case Script:
		return w.export, "a launcher option sets it, which overrides the environment, or its name is not one of the shell's"
	}
	return w.line, "the environment or a launcher option sets it, which overrides the file, or the file cannot hold its value"
}

// oneLine is a comment that ends where its line ends.
func oneLine(s string, t export.Terminal) string { return strings.Join(strings.Fields(t.Safe(s)), " ") }
