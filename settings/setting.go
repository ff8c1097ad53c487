package settings

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mpitx/catalog"
	"mpitx/machine"
)

// setting is a value as an implementation reads it from its environment, which may differ from MPI_T's text. Without a
// value, or if the library's format is not known, it is a placeholder in capitals. ok is false for values that the
// library would refuse.
func setting(impl string, v *catalog.Variable, e *catalog.Enum, value catalog.Value) (text string, ok bool) {
	if value.IsZero() {
		return "VALUE", true
	}
	form := value.Type().Form()
	whole := form == catalog.FormSigned || form == catalog.FormUnsigned
	switch {
	case impl == machine.MPICH && whole && value.Len() == 2: // its ranges: <low>:<high>
		return strings.ReplaceAll(value.String(), ",", ":"), true
	case impl == machine.MPICH && whole && value.Len() == 1:
		if items := catalog.MPICHItems(v.Description); items != nil {
			k := value.Int(0)
			if k < 0 || k >= int64(len(items)) || items[k] == "" {
				return "NAME", true
			}
			return items[k], true
		}
	case impl == machine.OpenMPI && e != nil && whole && value.Len() == 1:
		name, ok := e.NameOf(value.Int(0))
		if !ok {
			return "", false // it accepts items only
		}
		if e.Flags && strings.Contains(name, "|") {
			return strings.ReplaceAll(name, "|", ","), true
		}
	}
	return value.String(), true
}

// Accepts returns an error, usually a *catalog.ParseError, if a library cannot take a text from its environment as the value of a
// variable with these items (which may be nil) and so many elements. It accepts what it cannot judge.
func Accepts(impl string, v *catalog.Variable, e *catalog.Enum, count int, text string) error {
	form := v.Type.Form()
	if form == catalog.FormText || form == catalog.FormUnknown || count == 0 {
		return nil
	}
	if itemsOnly(impl, v, e) {
		if isItem(impl, e, text) {
			return nil
		}
		return noItem(v, e, text)
	}
	if takes, want := ownSyntax(impl, v, e, count); want != "" {
		if takes(text) {
			return nil
		}
		return &catalog.ParseError{Text: text, Type: v.Type, Want: want}
	}
	spelt := text
	switch {
	case e != nil && e.Flags:
		spelt = strings.ReplaceAll(text, ",", "|")
	case impl == machine.MPICH && count == 2: // <low>:<high>
		spelt = strings.ReplaceAll(text, ":", ",")
	}
	_, err := catalog.ParseValue(v, e, count, spelt)
	switch {
	case err == nil, form != catalog.FormFloat && sized().MatchString(text):
		return nil
	case truth()[strings.ToLower(text)] && (e == nil || slices.ContainsFunc(e.Items, func(it catalog.Item) bool { return it.Name == "true" })):
		return nil
	}
	var pe *catalog.ParseError
	if errors.As(err, &pe) {
		pe.Text = text
	}
	return err
}

// ownSyntax returns a test for the truth values and numbers that a library accepts, and describes them. want is "" if the library accepts the
// values that mpitx accepts.
func ownSyntax(impl string, v *catalog.Variable, e *catalog.Enum, count int) (takes func(text string) bool, want string) {
	form := v.Type.Form()
	switch {
	case impl == machine.OpenMPI && (form == catalog.FormBool || e != nil && e.Name == "boolean"):
		return func(text string) bool { return wholeNumber().MatchString(text) || openMPITruth()[text] },
			"true, t, enabled, yes, y, false, f, disabled, no, n, or a number"
	case impl == machine.MPICH && e == nil && count == 1 && (form == catalog.FormSigned || form == catalog.FormUnsigned):
		if takes, want = mpichSyntax(v.Name); want != "" {
			return takes, want
		}
		want = mpichWholeNumber
		if r := v.Current(); r != nil && r.Status == catalog.StatusOK && r.Value.String() != "0" && r.Value.String() != "1" {
			return mpichNumber().MatchString, want
		}
		// it may be a truth value
		return func(text string) bool { return mpichNumber().MatchString(text) || mpichTruth()[text] }, want + ", or a truth value such as yes or no"
	}
	return nil, ""
}

// openMPITruth are words for truth values.
var (
	openMPITruth = sync.OnceValue(func() map[string]bool { return set("true t enabled yes y false f disabled no n") })
	wholeNumber  = lazily(`^[+-]?\d+$`)
)

// IsItem returns an error, a *catalog.ParseError, if a variable takes only the items of an enumeration (which may be nil), and a text is
// neither the name nor the value of one.
func IsItem(impl string, v *catalog.Variable, e *catalog.Enum, text string) error {
	if !itemsOnly(impl, v, e) || isItem("", e, text) {
		return nil
	}
	return noItem(v, e, text)
}

func noItem(v *catalog.Variable, e *catalog.Enum, text string) error {
	names := make([]string, len(e.Items))
	for k, it := range e.Items {
		names[k] = it.Name
	}
	return &catalog.ParseError{Text: text, Type: v.Type, Want: "one of " + strings.Join(names, ", ") + catalog.DidYouMean(names, text)}
}

// itemsOnly reports whether a library takes no other values than the items of an enumeration.
func itemsOnly(impl string, v *catalog.Variable, e *catalog.Enum) bool {
	switch {
	case e == nil || e.Flags || len(e.Items) == 0:
		return false
	case impl == machine.OpenMPI: // these have parsers of their own
		return !slices.Contains([]string{"boolean", "auto_boolean", "verbosity"}, e.Name)
	case impl == machine.MPICH && v.Enum == "": // if all names in the description could be read
		return e.Items[len(e.Items)-1].Value == len(e.Items)-1
	}
	return false
}

// isItem reports whether a text is the name of an item, or its value, which MPICH does not take.
func isItem(impl string, e *catalog.Enum, text string) bool {
	if _, named := e.Lookup(text); named {
		return true
	}
	n, err := strconv.ParseInt(text, 0, 64)
	_, is := e.NameOf(n)
	return err == nil && is && impl != machine.MPICH
}

// sized matches numbers with a unit, which Open MPI takes.
var sized = lazily(`^[+-]?\d+[kKmMgGtT][iI]?[bB]?$`)

// truth are words that libraries take for truth values, of integers too.
var truth = sync.OnceValue(func() map[string]bool {
	return set("true t yes y on enabled enable false f no n off disabled disable")
})

// Enum is the enumeration whose items a variable accepts: e, which the library provides, or, if that is nil, the one in
// MPICH's description. count is the number of elements of the variable.
func Enum(impl string, v *catalog.Variable, e *catalog.Enum, count int) *catalog.Enum {
	if e == nil && count == 1 {
		return Items(impl, v)
	}
	return e
}

// Items is the enumeration that exists in an MPICH variable's description only; nil for other variables.
func Items(impl string, v *catalog.Variable) *catalog.Enum {
	if form := v.Type.Form(); impl != machine.MPICH || v.Enum != "" || form != catalog.FormSigned && form != catalog.FormUnsigned {
		return nil
	}
	return catalog.Described(v)
}

// lazily compiles an expression when it is first used: most commands show no settings.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
