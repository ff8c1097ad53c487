package catalog

// Setting is a setting beyond MPI_T: of what MPI builds on, of the launcher, or of OpenMP. No control variable stands for it.
type Setting struct {
	Name   string `json:"name"`            // of the environment variable, the option, or as in the file
	Reader string `json:"reader"`          // what reads it: "UCX", "libfabric" …
	Origin Origin `json:"origin"`          // with the value
	Ranks  []int  `json:"ranks,omitempty"` // on which it is set so, ascending; nil: on all
}

// Outside is the kind of settings beyond MPI_T. They are not entries of a library, so that AllKinds has not got it.
const Outside Kind = 1 << 15

var outside = KindInfo{Kind: Outside, Word: "settings", One: "setting", Name: "setting", Names: "settings", Title: "Settings beyond MPI_T", Optional: true}

// ID is the setting's name.
func (s *Setting) ID() string { return s.Name }

func (s *Setting) conflicts() *[]Conflict { return new([]Conflict) }

func (s *Setting) eachText(visit func(*string, textKind)) {
	visit(&s.Origin.Where, dataText)
	visit(&s.Origin.Value, dataText)
}
