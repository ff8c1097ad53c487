package compare

import (
	"fmt"

	"mpitx/recording/profile"
)

// Grown lists what grew by more than a part of the base's run time: the run, and the time in functions, a rank. Of runs without profiles
// it lists the variables that grew by more than that part of their base. Changes within the spread of runs do not count,
// nor does the part of a change that estimates may be wrong by.
func (c *Comparison) Grown(part float64) (list []string) {
	explained := func(float64) bool { return false }
	add := func(name string, m Measure, whole float64) {
		if whole > 0 && m.Change()-m.Error() > part*whole && !m.WithinSpread() {
			hint := ""
			if explained(m.Change()) {
				hint = "; missing cores may explain it"
			}
			list = append(list, fmt.Sprintf("%s by %.1f %% (%s%s)", name, 100*m.Change()/whole, arrow(m), hint))
		}
	}
	if !c.Profiles {
		for _, it := range c.Variables {
			add(it.Name, it.Measures[0], it.Measures[0].Base.Mean())
		}
		return list
	}
	f := c.finder()
	explained = func(change float64) bool { return !f.sure(change) }
	run := f.run
	add("the run time", run, run.Base.Mean())
	for _, it := range c.Functions {
		if it.Within == "" && !profile.Initializes(it.Name) {
			add(it.Name, it.Measures[0], run.Base.Mean())
		}
	}
	return list
}
