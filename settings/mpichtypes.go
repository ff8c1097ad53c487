package settings

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed mpichtypes.txt
var mpichTypesText string

// mpichTypes are "boolean" or "int", by the control variable. MPI_T has the same type for both, but the library's parsers differ.
var mpichTypes = sync.OnceValue(func() map[string]string {
	all, kind := map[string]string{}, ""
	for line := range strings.Lines(mpichTypesText) {
		switch {
		case line[0] == '#' || line == "\n":
		case line[0] != '\t':
			kind = strings.TrimSpace(line)
		default:
			for name := range strings.FieldsSeq(line) {
				all["MPIR_CVAR_"+name] = kind
			}
		}
	}
	return all
})

// mpichSyntax returns a test for what MPICH takes as the value of a control variable in the environment, and describes it (src/mpl/src/env,
// measured with 4.0.2). want is "" if the variable's type is not known.
func mpichSyntax(cvar string) (takes func(text string) bool, want string) {
	switch mpichTypes()[cvar] {
	case "boolean":
		return func(text string) bool { return mpichTruth()[text] || text == "0" || text == "1" },
			"0, 1, yes, no, true, false, on or off, the words in small or capital letters"
	case "int":
		return mpichNumber().MatchString, mpichWholeNumber
	}
	return nil, ""
}

const mpichWholeNumber = "a whole number without a unit"

// mpichTruth are words for truth values. Numbers may follow blanks, and an empty text is 0.
var (
	mpichTruth  = sync.OnceValue(func() map[string]bool { return set("true yes on false no off TRUE YES ON FALSE NO OFF") })
	mpichNumber = lazily(`^\s*-?\+?\d*$`)
)
