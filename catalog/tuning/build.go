package tuning

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"mpitx/catalog"
)

// MPICH lists the control variables of all devices, whichever it was built for. MPI_Get_library_version names its device and the options
// of configure.
var (
	deviceLine    = regexp.MustCompile(`MPICH Device:\s*(\S+)`)
	configureLine = regexp.MustCompile(`MPICH configure:.*`)
)

// ofDevice judges the condition that MPICH was built for a device; nil if the rule has none, or it is met: no setting changes that. A
// device without modules, such as ch4, does not say which it has.
func (r *rule) ofDevice(c *catalog.Catalog) *Condition {
	if r.device == "" {
		return nil
	}
	name := strings.Trim(r.device[strings.LastIndexByte(r.device, ':')+1:], "*")
	out := &Condition{Text: "MPICH must be built for " + cmp.Or(name, r.device), Met: CannotTell, Source: r.source}
	found := deviceLine.FindStringSubmatch(c.Library.Text)
	if found == nil {
		return out
	}
	device := found[1]
	out.Have = "this one is built for " + device
	whole, _ := path.Match(r.device, device)
	family, _, modules := strings.Cut(r.device, ":")
	same, _ := path.Match(family, device)
	switch {
	case whole:
		return nil
	case !modules || !same: // else device is the family alone
		out.Met = No
	}
	return out
}

// ofBuild judges the condition that MPICH was built with an option; nil if the rule has none, or it is met. configure also finds what is installed, so
// that an option which is not named may be there.
func (r *rule) ofBuild(c *catalog.Catalog) *Condition {
	if r.built == "" {
		return nil
	}
	out := &Condition{Text: "MPICH must be built with " + strings.ToUpper(r.built), Met: CannotTell, Source: r.source}
	options := configureLine.FindString(c.Library.Text)
	if options != "" {
		out.Have = "the options of its configure do not say"
	}
	for word := range strings.FieldsSeq(options) {
		switch {
		case word == "--without-"+r.built, word == "--with-"+r.built+"=no":
			out.Met, out.Have = No, "it is not"
		case word == "--with-"+r.built, strings.HasPrefix(word, "--with-"+r.built+"="):
			return nil
		}
	}
	return out
}

// elsewhere reports whether a control variable is of another device, or of an option that the library was built without.
func (k *Knowledge) elsewhere(c *catalog.Catalog, v *catalog.Variable) bool {
	for r := range k.rulesOf(c, v) {
		for _, cond := range []*Condition{r.ofDevice(c), r.ofBuild(c)} {
			if cond != nil && cond.Met == No {
				return true
			}
		}
	}
	return false
}
