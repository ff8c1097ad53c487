package catalog

import "strings"

// WhyUnreported is why a library may have the text that was set although it reports another one.
const WhyUnreported = "MPICH reports the default of texts, also if it uses another"

// Unreported returns the text that the user set a control variable to, if the library uses it but reports another one. MPI_T_cvar_read
// of MPICH (4.0 to 5.0) reports the default of texts: it registers them before it reads the environment, which replaces the pointer.
func (c *Catalog) Unreported(v *Variable) (set string, ok bool) {
	if v.Origin == nil || v.Origin.Value == "" || v.Type.Form() != FormText || c.Library.Family != "mpich" && !strings.HasPrefix(c.Library.Text, "MPICH Version") {
		return "", false
	}
	r := v.Current()
	return v.Origin.Value, r == nil || r.Status != StatusOK || r.Value.String() != v.Origin.Value
}
