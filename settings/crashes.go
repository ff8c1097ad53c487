package settings

import (
	"strings"

	"mpitx/machine"
)

// crashing lists settings that crash correct programs in some release.
var crashing = []struct{ impl, release, cvar, how string }{
	{machine.OpenMPI, "6.0", "pml_monitoring_enable", "crashes programs in MPI_Init"},
}

// CrashHint describes the crash that a setting is known to cause; "" if there is none. version is called only if the
// answer depends on it.
func CrashHint(impl string, version func() string, cvar, value string) string {
	for _, c := range crashing {
		if c.impl != impl || c.cvar != cvar || value == "" || value == "0" {
			continue
		}
		if v := strings.TrimPrefix(version(), "v"); v == c.release || strings.HasPrefix(v, c.release+".") {
			return cvar + "=" + value + " " + c.how + " with " + machine.FamilyName(impl) + " " + v + ": leave it out; `mpitx list virtual` lists what mpitx counts itself"
		}
	}
	return ""
}
