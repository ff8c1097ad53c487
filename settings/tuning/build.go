package tuning

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"mpitx/catalog"
)

// MPICH lists the control variables of all devices, whichever it was built for. MPI_Get_library_version names its device and the options
// of configure.
var (
	deviceLine    = lazy(`MPICH Device:\s*(\S+)`)
	configureLine = lazy(`MPICH configure:.*`)
)

// option is an option of MPICH's configure that decides whether a variable can have an effect.
type option struct {
	library bool     // --with-NAME of a library, which configure also finds without the option
	name    string   // "with-ch4-shmmods"
	values  []string // one of them must be in its list; nil: any but no and none
	device  string   // a pattern: the devices that have it if the option is not given
}

// parseOption parses NAME, or --OPTION[=VALUE|VALUE…] [by default DEVICE].
func parseOption(text string) (*option, error) {
	words := strings.Fields(text)
	if len(words) == 4 && words[1] == "by" && words[2] == "default" {
		if _, err := path.Match(words[3], ""); err != nil {
			return nil, fmt.Errorf("built %s: %s is not a pattern of devices", text, words[3])
		}
		words = []string{words[0], words[3]}
	} else if len(words) != 1 {
		return nil, fmt.Errorf("built %s: must be the NAME of a library, or an option of configure, --OPTION=VALUE|VALUE by default DEVICE", text)
	}
	name, given := strings.CutPrefix(words[0], "--")
	if !given {
		return &option{library: true, name: "with-" + name}, nil
	}
	out := &option{}
	name, values, some := strings.Cut(name, "=")
	out.name = name
	if some {
		out.values = strings.Split(values, "|")
	}
	if len(words) == 2 {
		out.device = words[1]
	}
	return out, nil
}

// value returns what configure was given for the option; the last one counts.
func (o *option) value(options string) (out string) {
	opposite := strings.NewReplacer("with-", "without-", "enable-", "disable-").Replace(o.name)
	for word := range strings.FieldsSeq(options) {
		word = strings.Trim(word, "'")
		switch name, value, some := strings.Cut(strings.TrimLeft(word, "-"), "="); {
		case !strings.HasPrefix(word, "-"):
		case name == opposite:
			out = "no"
		case name == o.name && some:
			out = value
		case name == o.name:
			out = "yes"
		}
	}
	return out
}

// on reports whether a value of the option switches on what the variable needs.
func (o *option) on(value string) bool {
	if o.values == nil {
		return value != "no" && value != "none"
	}
	return slices.ContainsFunc(strings.Split(value, ","), func(word string) bool { return slices.Contains(o.values, word) })
}

// ofDevice compares MPICH's device with a pattern. A device without modules, such as ch4, does not say which it has.
func ofDevice(c *catalog.Catalog, pattern string) (met Met, have string) {
	found := deviceLine().FindStringSubmatch(c.Library.Text)
	if found == nil {
		return CannotTell, ""
	}
	device := found[1]
	have = "this one is built for " + device
	whole, _ := path.Match(pattern, device)
	family, _, modules := strings.Cut(pattern, ":")
	same, _ := path.Match(family, device)
	switch {
	case whole:
		return Yes, have
	case !modules || !same: // else device is the family alone
		return No, have
	}
	return CannotTell, have
}

// ofBuild judges the condition that MPICH was built with the option.
func (o *option) ofBuild(c *catalog.Catalog) (met Met, have string) {
	options := configureLine().FindString(c.Library.Text)
	value := o.value(options)
	switch {
	case options == "":
		return CannotTell, ""
	case value != "" && value != "auto" && o.on(value):
		return Yes, ""
	case value != "" && value != "auto":
		return No, "it is not"
	case o.library:
		return CannotTell, "the options of its configure do not say"
	case o.device != "":
		met, have = ofDevice(c, o.device)
		return met, have + " without that option"
	}
	return No, "it is not"
}

// String is the option as a condition names it: "XPMEM", "--enable-g=handlealloc".
func (o *option) String() string {
	if o.library {
		return strings.ToUpper(strings.TrimPrefix(o.name, "with-"))
	}
	if o.values == nil {
		return "--" + o.name
	}
	return "--" + o.name + "=" + o.values[0]
}

// ofLibrary judges the conditions on the library that no setting changes, except those that are met.
func (r *rule) ofLibrary(c *catalog.Catalog) iter.Seq[*Condition] {
	return func(yield func(*Condition) bool) {
		unmet := func(text string, met Met, have string) bool {
			return met == Yes || yield(&Condition{Text: text, Have: have, Met: met, Source: r.source})
		}
		if r.device != "" {
			if met, have := ofDevice(c, r.device); !unmet("MPICH must be built for "+deviceText(r.device), met, have) {
				return
			}
		}
		if r.built != nil {
			if met, have := r.built.ofBuild(c); !unmet("MPICH must be built with "+r.built.String(), met, have) {
				return
			}
		}
		if r.pvars != "" {
			met, have := hasPvars(c, r.pvars)
			unmet("the library must have performance variables "+r.pvars, met, have)
		}
	}
}

// deviceText is what a pattern of devices asks for: the module, or the device.
func deviceText(pattern string) string {
	switch name := strings.Trim(pattern[strings.LastIndexByte(pattern, ':')+1:], "*"); name {
	case "":
		return pattern
	case ",":
		return "several network modules"
	default:
		return name
	}
}

// hasPvars says whether a library has performance variables that match a pattern.
func hasPvars(c *catalog.Catalog, pattern string) (Met, string) {
	m, err := compile(pattern)
	switch {
	case err != nil || len(c.Pvars) == 0: // perhaps they were not read
		return CannotTell, ""
	case slices.ContainsFunc(c.Pvars, func(v catalog.Variable) bool { return m.MatchName(v.Name) }):
		return Yes, ""
	}
	return No, "it has none"
}

// actsElsewhere reports whether the library cannot use a variable: it is for another device or build, or nothing reads it. Libraries that
// configure was not asked for are rarely built in.
func (k *Knowledge) actsElsewhere(c *catalog.Catalog, v *catalog.Variable) bool {
	for r := range k.rulesOf(c, v) {
		if r.read == Never {
			return true
		}
		for cond := range r.ofLibrary(c) {
			if cond.Met == No || r.built != nil && r.built.library {
				return true
			}
		}
	}
	return false
}
