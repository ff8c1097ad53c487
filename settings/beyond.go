package settings

import (
	"slices"
	"strings"

	"mpitx/text"
)

// IsOption reports whether a setting is an option of the launcher: "--bind-to".
func IsOption(name string) bool { return strings.HasPrefix(name, "-") }

// IsEnvironment reports whether a setting is an environment variable of what MPI builds on, or of its launcher: "UCX_TLS".
func IsEnvironment(name string) bool {
	return SetsMPI(name) && !strings.HasPrefix(name, "OMPI_MCA_") && !strings.HasPrefix(name, "MPIR_CVAR_")
}

// IsBeyond reports whether a setting is none of a control variable.
func IsBeyond(s NameValue) bool { return IsOption(s.Name) || IsEnvironment(s.Name) }

// IsRules reports whether a setting names a file that says which algorithms serve collectives; IsAlgorithm, whether it says that of one function.
func IsRules(name string) bool {
	return name == "coll_tuned_dynamic_rules_filename" || name == "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
}

func IsAlgorithm(name string) bool {
	return strings.HasPrefix(name, "coll_tuned_") && strings.HasSuffix(name, "_algorithm") || strings.HasSuffix(name, "_INTRA_ALGORITHM")
}

// ForLaunch splits settings into environment variables of control variables and the rest, for a file. So given, mpitx does not verify them in
// the application, which takes time that a comparison with a run without settings would see.
func ForLaunch(set []NameValue) (environ []string, rest []NameValue) {
	for _, s := range set {
		switch {
		case IsBeyond(s):
			rest = append(rest, s)
		case strings.HasPrefix(s.Name, "MPIR_CVAR_"):
			environ = append(environ, s.Name+"="+s.Value)
		default:
			environ = append(environ, "OMPI_MCA_"+s.Name+"="+s.Value)
		}
	}
	return environ, rest
}

// own begins comments that only mpitx reads: what the library's own file cannot hold.
const own = "#mpitx "

// Lines are settings as [ReadSettings] reads them.
func Lines(set []NameValue) string {
	var b strings.Builder
	for _, s := range set {
		value := s.Value
		if strings.TrimSpace(value) != value || unquote(value) != value {
			value = `"` + value + `"`
		}
		b.WriteString(s.Name + " = " + value + "\n")
	}
	return b.String()
}

// BeyondLines are lines for the end of a file of settings, for those that are none of control variables. A script exports those of the environment.
// What the file cannot hold is in comments, for mpitx and for people. launcher is the word that starts it.
func BeyondLines(launcher string, form Form, set []NameValue) string {
	var b strings.Builder
	var left []NameValue
	for _, s := range set {
		switch {
		case !IsBeyond(s):
		case form == Script && IsEnvironment(s.Name):
			b.WriteString("export " + s.Name + "=" + text.QuotePOSIX(s.Value) + "\n")
		default:
			left = append(left, s)
		}
	}
	if left != nil {
		b.WriteString("# mpitx run --settings also gives these, which this file cannot hold. By hand:\n# " + ByHand(launcher, form, left) + "\n")
		for line := range strings.Lines(Lines(left)) {
			b.WriteString(own + line)
		}
	}
	return b.String()
}

// ByHand is how people give the launcher what a file cannot hold; "" if it can hold all.
func ByHand(launcher string, form Form, set []NameValue) string {
	words := []string{launcher}
	for _, s := range set {
		name, prte := strings.CutPrefix(s.Name, "PRTE_MCA_")
		switch {
		case IsOption(s.Name):
			words = append(words, s.Name, text.QuotePOSIX(s.Value))
		case !IsEnvironment(s.Name) || form == Script:
		case prte:
			words = append(words, "--prtemca", name, text.QuotePOSIX(s.Value))
		default:
			words = append(words, "-x", text.QuotePOSIX(s.Name+"="+s.Value))
		}
	}
	if len(words) == 1 {
		return ""
	}
	return strings.Join(append(words, "./app"), " ")
}

// OfCvars are the settings of control variables.
func OfCvars(set []NameValue) []NameValue { return slices.DeleteFunc(slices.Clone(set), IsBeyond) }
