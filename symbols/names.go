package symbols

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// function returns a function's name as users write it: solver::step for C++ and Fortran, without parameters.
func (n names) function() string {
	if name, ok := demangled(n.linkage); ok {
		return name
	}
	if n.source != "" {
		return withoutTemplates(n.source)
	}
	return symbolName(n.linkage)
}

// withoutTemplates cuts the arguments of a template off a name of C++.
func withoutTemplates(name string) string {
	if strings.HasSuffix(name, ">") && !strings.HasPrefix(name, "operator<") && !strings.HasPrefix(name, "operator-") {
		if at := strings.IndexByte(name, '<'); at > 0 {
			return name[:at]
		}
	}
	return name
}

// clone matches what compilers append to the names of copies and parts of a function.
var clone = regexp.MustCompile(`\.(constprop|isra|part|cold|lto_priv|llvm|localalias|[0-9]+)\b.*$`)

// symbolName returns a function's name from its symbol alone.
func symbolName(symbol string) string {
	if name, ok := demangled(symbol); ok {
		return name
	}
	name := symbol
	if at := clone.FindStringIndex(name); at != nil && at[0] > 0 {
		name = name[:at[0]]
	}
	if name, ok := demangled(name); ok {
		return name
	}
	// Fortran compilers append one underscore to external procedures, and write everything in lower case.
	if short, found := strings.CutSuffix(name, "_"); found && short != "" && !strings.HasSuffix(short, "_") && strings.ToLower(short) == short {
		return short
	}
	return name
}

// demangled returns the name of a mangled symbol of C++, Rust, or a Fortran module.
func demangled(symbol string) (string, bool) {
	if len(symbol) > maxName {
		return "", false
	}
	if name, ok := fortran(symbol); ok {
		return name, true
	}
	if !strings.HasPrefix(symbol, "_Z") && !strings.HasPrefix(symbol, "_R") && !strings.HasPrefix(symbol, "__Z") {
		return "", false
	}
	name, err := demangle.ToString(symbol, demangle.NoParams, demangle.NoTemplateParams, demangle.NoEnclosingParams, demangle.MaxLength(12))
	return name, err == nil && name != ""
}

// fortran returns the name of a procedure of a Fortran module: gfortran's __solver_MOD_step, Intel's solver_mp_step_, flang's
// _QMsolverPstep.
func fortran(symbol string) (string, bool) {
	if rest, ok := strings.CutPrefix(symbol, "__"); ok {
		if module, procedure, ok := strings.Cut(rest, "_MOD_"); ok && module != "" && procedure != "" {
			return module + "::" + trimClone(procedure), true
		}
	}
	if rest, ok := strings.CutSuffix(symbol, "_"); ok {
		if module, procedure, ok := strings.Cut(rest, "_mp_"); ok && module != "" && procedure != "" {
			return module + "::" + procedure, true
		}
	}
	if rest, ok := strings.CutPrefix(symbol, "_QM"); ok {
		if module, procedure, ok := strings.Cut(rest, "P"); ok && module != "" && procedure != "" {
			return module + "::" + procedure, true
		}
	}
	if rest, ok := strings.CutPrefix(symbol, "_QP"); ok && rest != "" {
		return rest, true
	}
	return "", false
}

func trimClone(name string) string {
	if at := clone.FindStringIndex(name); at != nil && at[0] > 0 {
		return name[:at[0]]
	}
	return name
}
