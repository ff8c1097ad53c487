package qmpi

import (
	"slices"
	"strings"

	"mpitx/machine"
)

// ListVariable makes MPICH's own QMPI use tools, separated by colons.
const ListVariable = "MPIR_CVAR_QMPI_TOOL_LIST"

// nativeCommand is the child's for the QMPI of the MPI library itself: a back end, in which the shim stands between tools and library.
func (c *Checker) nativeCommand(tools []Tool, descriptor string) (words, environ []string) {
	words = []string{"backend", "qmpi", descriptor, c.Shim, c.MPI.Lib}
	for _, t := range tools {
		words = append(words, t.Path, t.Name)
	}
	if c.Env.Getenv("UCX_ERROR_SIGNALS") == "" {
		environ = []string{"UCX_ERROR_SIGNALS="} // UCX would catch the crash of a tool
	}
	return words, environ
}

// library names the MPI library.
func (c *Checker) library() string {
	return strings.TrimSpace(c.MPI.Name()+" "+c.Env.Version(c.MPI)) + " (" + c.MPI.Lib + ")"
}

// without is the error if the MPI library has no QMPI.
func (c *Checker) without() error {
	why := " has no QMPI"
	if c.MPI.Impl == machine.MPICH {
		why = " was built without QMPI"
	}
	return &machine.Error{What: "--via qmpi", Why: strings.Replace(c.library(), " (", why+" (", 1), Do: "leave --via out", Usage: true}
}

// judgeNames refuses names that MPICH does not distinguish.
func (a *answer) judgeNames(tools []Tool) error {
	for k := range tools {
		t := &tools[k]
		for _, o := range a.offers {
			switch {
			case strings.Contains(t.Name, ":"):
				return t.wrong("its name, "+t.Name+", contains a colon, which separates the names in "+ListVariable, "register it by another name")
			case t.Path != "" && o.Path != t.Path && slices.Contains(o.Names, t.Name):
				return t.wrong(o.Path+" registers the tool "+t.Name+", too, and MPICH does not distinguish them", "leave one of them out, or register it by another name")
			}
		}
	}
	return nil
}
