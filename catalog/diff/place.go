package diff

import (
	"strings"

	"mpitx/catalog"
)

// surroundings is what values contain of the place where a side was read: its home directory, user, host and temporary directory, and what
// stands for them in a comparison.
type surroundings struct{ names *strings.Replacer }

func surroundingsOf(c *catalog.Catalog) surroundings {
	var pairs []string
	add := func(name, sign string) {
		if len(name) > 1 {
			pairs = append(pairs, name, sign)
		}
	}
	add(home(c), "\x00home")
	add(c.Job.Tmp, "\x00tmp")
	for i := range c.Job.Ranks {
		add(c.Job.Ranks[i].Host, "\x00host")
	}
	add(c.Job.User, "\x00user")
	return surroundings{strings.NewReplacer(pairs...)}
}

// home is the home directory of a side. Snapshots of earlier releases do not name it, but Open MPI looks for its parameter file there.
func home(c *catalog.Catalog) string {
	if c.Job.Home != "" {
		return c.Job.Home
	}
	for _, name := range []string{"mca_base_param_files", "mca_param_files"} {
		v := c.Cvar(name)
		if v == nil || v.IsSet() {
			continue
		}
		if r := v.Current(); r != nil && r.Status == catalog.StatusOK {
			if dir, _, found := strings.Cut(r.Value.String(), "/.openmpi/mca-params.conf"); found && strings.HasPrefix(dir, "/") {
				return dir
			}
		}
	}
	return ""
}

// samePlace reports whether two texts differ only in what each side's place is called.
func (c *comparison) samePlace(a, b string) bool {
	if c.places == nil {
		c.places = []surroundings{surroundingsOf(c.sides[0].Catalog), surroundingsOf(c.sides[1].Catalog)}
	}
	return sameText(c.places[0].names.Replace(a), c.places[1].names.Replace(b))
}
