package main

import (
	"strings"

	"mpitx/cmd/mpitx/internal/attach"
	"mpitx/cmd/mpitx/internal/locate"
)

// crashing are settings with which a release ends programs that are right.
var crashing = []struct{ impl, release, cvar, how string }{
	{locate.OpenMPI, "6.0", "pml_monitoring_enable", "crashes programs in MPI_Init"},
}

// crashHint says that a setting is known to crash programs of a library; "" where it is not. version is asked for only where it matters.
func crashHint(impl string, version func() string, cvar, value string) string {
	for _, c := range crashing {
		if c.impl != impl || c.cvar != cvar || value == "" || value == "0" {
			continue
		}
		if v := strings.TrimPrefix(version(), "v"); v == c.release || strings.HasPrefix(v, c.release+".") {
			return cvar + "=" + value + " " + c.how + " with " + locate.FamilyName(impl) + " " + v + ": leave it out; `mpitx list virtual` lists what mpitx counts itself"
		}
	}
	return ""
}

// warnOfCrashes names the settings that are known to end programs of this library.
func (a *app) warnOfCrashes(m locate.MPI, settings []attach.Setting) {
	for _, s := range settings {
		if hint := crashHint(m.Impl, func() string { return a.env.Version(m) }, s.Name, s.Value); hint != "" {
			a.complain("warning: %s", hint)
		}
	}
}
