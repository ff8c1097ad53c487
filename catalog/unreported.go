package catalog

import "strings"

// MPICH (4.0 to 5.0) registers the default of a text with MPI_T and reads the environment afterwards, which replaces the pointer that it
// uses. MPI_T_cvar_read and MPI_T_cvar_write go to the default.
const (
	// WhyUnreported is why a library may have the text that was set although it reports another one.
	WhyUnreported = "MPICH reports the default of texts, also if it uses another"

	// WhyUnused is why a text that MPI_T_cvar_write wrote has no effect.
	WhyUnused = "a write changes the text that MPICH reports, not the one that it uses"
)

// Unreported returns the text that the user set a control variable to, if the library uses it but reports another one.
func (c *Catalog) Unreported(v *Variable) (set string, ok bool) {
	if v.Origin == nil || v.Origin.Value == "" || !c.WritesUnused(v) {
		return "", false
	}
	r := v.Current()
	return v.Origin.Value, r == nil || r.Status != StatusOK || r.Value.String() != v.Origin.Value
}

// WritesUnused reports whether the library does not use what MPI_T_cvar_write writes to a control variable.
func (c *Catalog) WritesUnused(v *Variable) bool {
	return v.Type.Form() == FormText && (c.Library.Family == "mpich" || strings.HasPrefix(c.Library.Text, "MPICH Version"))
}
