package settings

import (
	"strings"
	"testing"

	"mpitx/machine"
)

func TestCrashHint(t *testing.T) {
	for _, c := range []struct {
		impl, version, cvar, value string
		want                       bool
	}{
		{machine.OpenMPI, "6.0.0rc2", "pml_monitoring_enable", "1", true},
		{machine.OpenMPI, "v6.0.1", "pml_monitoring_enable", "2", true},
		{machine.OpenMPI, "6.0.0", "pml_monitoring_enable", "0", false},
		{machine.OpenMPI, "6.1.0", "pml_monitoring_enable", "1", false},
		{machine.OpenMPI, "5.0.7", "pml_monitoring_enable", "1", false},
		{machine.OpenMPI, "", "pml_monitoring_enable", "1", false},
		{machine.OpenMPI, "6.0.0", "btl", "self", false},
		{machine.MPICH, "6.0.0", "pml_monitoring_enable", "1", false},
	} {
		hint := CrashHint(c.impl, func() string { return c.version }, c.cvar, c.value)
		if (hint != "") != c.want || c.want && !strings.Contains(hint, "crashes programs in MPI_Init with Open MPI 6.0") {
			t.Errorf("%+v: %q", c, hint)
		}
	}
}
