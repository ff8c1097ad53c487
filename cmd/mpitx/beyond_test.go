//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A file of settings also gives ranks what only the environment of UCX and the options of the launcher can.
func TestSettingsBeyond(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("testdata", "tune", "slow.c"), "-O1")
		script := "#!/bin/sh\necho \"CPUs $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) TLS $UCX_TLS\"\nexec " + program + "\n"
		// Two ranks of Open MPI are bound without an option, and those of MPICH are not.
		option, other := map[string][2]string{"openmpi": {"--bind-to", "none"}, "mpich": {"-bind-to", "core"}}[f.family], map[string]string{"openmpi": "-map-by", "mpich": "--map-by"}[f.family]
		for name, content := range map[string]string{"app": script, "settings": "#mpitx " + option[0] + " = " + option[1] + "\nUCX_TLS = self,sm,tcp\n", "foreign": other + " = core\n"} {
			if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o700); err != nil {
				f.Fatal(err)
			}
		}
		cpus := func(args ...string) string {
			f.Helper()
			p := f.run(slices.Concat([]string{"mpitx", "run", "--mpi", f.family}, args, []string{"--", "./app"})...)
			_, list, _ := strings.Cut(p.stdout.String(), "CPUs ")
			list, tls, _ := strings.Cut(list, " TLS ")
			if p.code != 0 || strings.HasPrefix(tls, "self,sm,tcp\n") != slices.Contains(args, "settings") {
				f.Errorf("%q: exit code %d: %s", args, p.code, p.output())
			}
			return list
		}
		without, with := cpus("-n", "2"), cpus("-n", "2", "--settings", "settings")
		if f.family == "mpich" {
			without, with = with, without
		}
		if strings.ContainsAny(without, "-,") || !strings.ContainsAny(with, "-,") {
			f.Errorf("bound to %q, and else %q", without, with)
		}
		if p := f.run("mpitx", "run", "--mpi", f.family, "-n", "2", "--settings", "foreign", "--", "./app"); p.code != 2 || !strings.Contains(p.stderr.String(), "--settings: "+other+" is not an option") {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
		if p := f.run("mpitx", "run", "--mpi", f.family, "--settings", "settings", "--", "./app"); p.code != 0 || !strings.Contains(p.stderr.String(), "options of the launcher have no effect") {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
	})
}
