package catalog

// Summary is the counts of a catalog.
type Summary struct {
	Cvars      int `json:"cvars"`
	Pvars      int `json:"pvars"`
	Categories int `json:"categories"`
	Enums      int `json:"enums"`
	Events     int `json:"events"`
	Sources    int `json:"sources"`

	Set       int `json:"set"`       // control variables that the user set
	Differing int `json:"differing"` // variables whose reading differs on another rank or node
	Conflicts int `json:"conflicts"` // entries that break Table 14.1
	Writable  int `json:"writable"`  // control variables that can be written, after MPI_Init if that stage was read
	Faulty    int `json:"faulty"`    // variables that crash or hang the library, in any stage, on any rank
	Unread    int `json:"unread"`    // variables that cannot be read for another reason
	Dead      int `json:"dead"`      // indices that have become invalid, after MPI_Init if that stage was read
	Lost      int `json:"lost"`      // ranks without an answer, or with a partial one
}

// Summarise counts the contents of a catalog.
func Summarise(c *Catalog) Summary {
	s := Summary{Cvars: len(c.Cvars), Pvars: len(c.Pvars), Categories: len(c.Categories), Enums: len(c.Enums),
		Events: len(c.Events), Sources: len(c.Sources)}
	stage := &c.After
	if !stage.Read {
		stage = &c.Before
	}
	s.Dead = stage.DeadCvars + stage.DeadPvars + stage.DeadCats + stage.DeadEvents
	for _, r := range c.Job.Ranks {
		s.Lost += count(r.Error != "")
	}
	for _, e := range c.Entries(AllKinds &^ agentKinds) {
		s.Conflicts += count(len(*e.conflicts()) > 0)
		if v, ok := e.(*Variable); ok {
			s.add(v)
		}
	}
	return s
}

func (s *Summary) add(v *Variable) {
	s.Set += count(v.IsSet())
	s.Differing += count(v.RanksDiffer())
	faulty := v.Faulty()
	s.Faulty += count(faulty)
	if g := v.Current(); g != nil {
		s.Writable += count(g.Writable == WritableYes)
		s.Unread += count(!faulty && g.Status != StatusOK && g.Status != StatusMissing)
	}
}

// Faulty reports whether reading the variable crashed or hung the library, in any stage, on any rank.
func (v *Variable) Faulty() bool {
	for _, g := range []*Reading{v.Before, v.After} {
		if g != nil && g.Status == StatusFaulty {
			return true
		}
	}
	for _, ranks := range [][]RankReading{v.Ranks, v.Nodes} {
		for i := range ranks {
			if ranks[i].Status == StatusFaulty {
				return true
			}
		}
	}
	return false
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
