package record

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/text"
)

// skipping names libraries between the application and MPI. Call sites are looked for in what calls them (--skip).
type skipping struct {
	*recorder
	libs []string
}

func (o *skipping) flags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&o.libs, "skip", nil, "do not name this shared library (`LIB`, a file's name or a GLOB) as a call site, but its caller; libraries that export MPI functions are skipped anyway; may be repeated")
}

// patterns are what names of files are compared with: a name stands for all versions of the library.
func (o *skipping) patterns(lib string) []string {
	name := filepath.Base(lib)
	if text.IsGlob(name) {
		return []string{name}
	}
	return []string{name, name + ".*"}
}

func (o *skipping) configure(_ *cobra.Command, c *launch.Config) error {
	for _, lib := range o.libs {
		for _, p := range o.patterns(lib) {
			if _, err := filepath.Match(p, ""); err != nil {
				return cli.Usagef("--skip %s: not a pattern; use *, ? and [abc]", text.Quote(lib))
			}
			asks(c, "skip", p)
		}
	}
	return nil
}

func (o *skipping) check(machine.MPI, bool) error { return nil }

// explain names the libraries that no process has loaded, if it is known what they have loaded.
func (o *skipping) explain(run *recording.Run) {
	var loaded []string
	for _, r := range run.Ranks {
		for _, m := range r.Modules {
			if name := filepath.Base(m.Path); strings.Contains(name, ".so") && !slices.Contains(loaded, name) {
				loaded = append(loaded, name)
			}
		}
	}
	for _, lib := range o.libs {
		known := slices.ContainsFunc(o.patterns(lib), func(p string) bool {
			return slices.ContainsFunc(loaded, func(name string) bool { is, _ := filepath.Match(p, name); return is })
		})
		if !known && len(loaded) > 0 {
			o.Complain("--skip %s: no process has loaded such a library when MPI was initialized%s", text.Quote(lib), catalog.DidYouMean(loaded, filepath.Base(lib)))
		}
	}
}
