package launch

import (
	"slices"
	"strings"

	"mpitx/machine"
	"mpitx/settings"
)

// Program returns the words of the command line with which a run's program was started, from its name on; nil if they are not known.
func Program(dir string) []string {
	command := readRecord(dir).Command
	if k := slices.Index(command, "--"); k >= 0 {
		return command[k+1:]
	}
	return nil
}

// EnvOf is an environment with the settings of a run in the place of its own.
func EnvOf(e *machine.Env, dir string) *machine.Env {
	environ := slices.DeleteFunc(slices.Clone(e.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return settings.SetsMPI(name)
	})
	for name, value := range Settings(dir) {
		environ = append(environ, name+"="+value)
	}
	return &machine.Env{Environ: environ, Root: e.Root, PID: e.PID, UID: e.UID, Arch: e.Arch}
}
