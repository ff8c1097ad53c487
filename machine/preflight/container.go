package preflight

import (
	"path/filepath"
	"slices"
	"strings"

	"mpitx/machine"
)

// Container is a container runtime that starts the program.
type Container struct {
	Runtime string   // "apptainer"
	Args    []string // its arguments
	home    bool     // the home directory, the current directory and /tmp are visible inside
	how     func(dirs []string) string
}

func each(option, form string) func(dirs []string) string {
	return func(dirs []string) string {
		var out []string
		for _, d := range dirs {
			out = append(out, option+strings.ReplaceAll(form, "D", d))
		}
		return strings.Join(out, " ")
	}
}

func listed(dirs []string) string { return "--bind " + strings.Join(dirs, ",") }

func engine(dirs []string) string {
	return each("-v ", "D:D")(dirs) + " --ipc=host -e LD_PRELOAD -e MPITX_AGENT"
}

var runtimes = map[string]Container{
	"apptainer": {home: true, how: listed}, "singularity": {home: true, how: listed},
	"docker": {how: engine}, "podman": {how: engine}, "nerdctl": {how: engine}, "podman-hpc": {how: engine},
	"shifter": {home: true, how: each("--volume=", "D:D")}, "ch-run": {how: each("--bind=", "D:D")},
	"sarus":  {how: each("--mount=type=bind,source=", "D,destination=D")},
	"enroot": {how: each("--mount ", "D:D")},
}

func containerOf(path string, args []string) *Container {
	c, ok := runtimes[filepath.Base(path)]
	if !ok {
		return nil
	}
	if !slices.ContainsFunc(args, func(w string) bool { return w != "" && w[0] != '-' }) {
		return nil // apptainer --version
	}
	c.Runtime, c.Args = filepath.Base(path), args
	return &c
}

// Bound is nil if the directories that the agent needs are visible inside the container, as far as the command line and
// the environment show; otherwise it says what to add.
func (c *Container) Bound(e *machine.Env, dirs ...string) error {
	var shown []string
	words := slices.Clone(c.Args)
	for _, name := range []string{"APPTAINER_BIND", "APPTAINER_BINDPATH", "SINGULARITY_BIND", "SINGULARITY_BINDPATH"} {
		words = append(words, e.Getenv(name))
	}
	for _, w := range words {
		for _, p := range strings.FieldsFunc(w, func(r rune) bool { return r == ':' || r == ',' || r == '=' }) {
			if filepath.IsAbs(p) {
				shown = append(shown, filepath.Clean(p))
			}
		}
	}
	if c.home {
		shown = append(shown, "/tmp", e.Getenv("HOME"), e.Getenv("PWD"))
	}
	var missing []string
	for _, d := range dirs {
		in := slices.ContainsFunc(shown, func(s string) bool {
			return s != "" && s != "/" && (d == s || strings.HasPrefix(d, s+"/"))
		})
		if !in && !slices.Contains(missing, d) {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return refuse(c.Runtime+" between the launcher and the program", "inside the container "+strings.Join(missing, " and ")+" cannot be seen, so the agent cannot be loaded",
		"add "+c.how(missing)+"; if they are bound in another way, use --force; or start mpitx inside the container")
}
