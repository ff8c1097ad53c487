package variables

import (
	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/settings"
)

// pickFrom reads the catalog and selects the named entries of some kinds. It reports names that do not exist; code is the exit code for
// them.
func pickFrom(s *cli.Source, cmd *cobra.Command, kinds catalog.Kind, names []string) (c *catalog.Catalog, chosen *catalog.Picked, code int, err error) {
	if c, err = s.Open(cmd, nil, ""); err != nil {
		return nil, nil, cli.ExitFailed, err
	}
	code = s.Warn(c)
	if kinds&catalog.Events != 0 {
		c = c.WithPeruse()
	}
	c.Virtual = virtual.Matching(true, names...)
	if chosen, err = c.Pick(kinds, names); err != nil {
		return nil, nil, code, s.End(code, cli.Usagef("%v", err))
	}
	if len(chosen.Missing) > 0 {
		sayUnknown(s.App, c, kinds, chosen.Missing)
		if code = max(code, cli.ExitPartial); len(chosen.Entries) == 0 {
			code = cli.ExitFailed
		}
	}
	return c, chosen, code, nil
}

// sayUnknown reports names that do not exist.
func sayUnknown(a *cli.App, c *catalog.Catalog, kinds catalog.Kind, missing []string) {
	for _, line := range settings.UnknownHints(c, kinds, missing) {
		a.Complain("%s", line)
	}
}
