package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/settings/tuning"
)

// ReadKnowledge is what mpitx and the user's files know about control variables. A file that is wrong is left out from its first wrong
// line on, and is one of the problems.
func ReadKnowledge(env *machine.Env) (k *tuning.Knowledge, problems []error) {
	k = tuning.Own()
	for _, f := range []struct {
		name string
		add  func(file, text string) error
	}{{"essentials.txt", k.AddEssentials}, {"rules.txt", k.AddRules}} {
		file, content, err := env.ReadConfig(f.name)
		if err == nil {
			err = f.add(file, content)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("%w; the rest of the file is ignored", err))
		}
	}
	return k, problems
}

// Judge says what settings of a library's control variables do.
type Judge struct {
	Env       *machine.Env
	Impl      string // the implementation: machine.OpenMPI …
	Elsewhere bool   // the catalog may be of another machine, whose files are not here
	Knowledge *tuning.Knowledge
}

// Effect is what is known about settings of a control variable, also that the file which it was set to does not exist.
func (j *Judge) Effect(c *catalog.Catalog, v *catalog.Variable) tuning.Effect {
	e := j.Knowledge.Effect(c, v, Enums(j.Impl, c))
	j.FindFile(&e, e.Asked)
	return e
}

// Effects is Effect of a catalog's variables.
func (j *Judge) Effects(c *catalog.Catalog) func(*catalog.Variable) tuning.Effect {
	return func(v *catalog.Variable) tuning.Effect { return j.Effect(c, v) }
}

// FindFile looks for the file that a value names.
func (j *Judge) FindFile(e *tuning.Effect, value string) {
	if e.File == "" || value == "" || j.Elsewhere {
		return
	}
	if _, err := os.Stat(j.Env.File(value)); errors.Is(err, fs.ErrNotExist) {
		e.FileMissing(value)
	}
}

// Enums returns the enumerations of a catalog's variables, including those that MPICH only describes.
func Enums(impl string, c *catalog.Catalog) tuning.Enums {
	return func(v *catalog.Variable) *catalog.Enum {
		count := 1
		if r := v.Current(); r != nil {
			count = r.Count
		}
		return Enum(impl, v, c.Enum(v.Enum), count)
	}
}

// Takes returns an error if the library cannot take a text as the value of a control variable for a run.
func Takes(impl string, c *catalog.Catalog, v *catalog.Variable, text string) error {
	r := v.Current()
	if r == nil || r.Status != catalog.StatusOK {
		return nil
	}
	return Accepts(impl, v, Enums(impl, c)(v), r.Count, text)
}

// Assume gives a control variable of a catalog another value, where it has one.
func Assume(c *catalog.Catalog, name string, value catalog.Value) {
	v := c.Cvar(name)
	if v == nil {
		return
	}
	for _, r := range []**catalog.Reading{&v.Before, &v.After} {
		if *r != nil && (*r).Status == catalog.StatusOK {
			changed := **r
			changed.Value = value
			*r = &changed
		}
	}
	v.Ranks, v.Nodes = nil, nil
}
