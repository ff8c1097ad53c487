package tuning

import (
	"mpitx/catalog"
	"mpitx/text"
)

// Lines say whether the library accepts a write, when it reads a variable, and which conditions its effect has. Of a variable that
// was set, they also say what is not known.
func (e Effect) Lines(ranks int) (lines []string) {
	if e.Arrived == No {
		lines = append(lines, "set to "+e.Asked+", but the library has "+e.Have)
	} else if e.Unreported != "" {
		lines = append(lines, "set to "+e.Asked+"; "+e.Unreported)
	}
	if e.Arrived != "" {
		lines = append(lines, "accepted after MPI_Init: "+e.AcceptedWords()+": "+e.Trial)
	}
	if e.Written != "" {
		lines = append(lines, "written here, it has no effect: "+e.Written)
	}
	if e.Read != Unknown {
		lines = append(lines, "is read "+e.Read.Words())
	} else if e.Arrived != "" {
		lines = append(lines, "is read: not known")
	}
	if e.Unused {
		lines = append(lines, "its component is not in use with "+text.Count(ranks, "rank")+": MPI_Init unloaded it")
	} else if e.Arrived != "" && len(e.Conditions) == 0 {
		lines = append(lines, "condition: none known")
	}
	for _, c := range e.Conditions {
		words := "condition: " + c.String()
		switch {
		case c.Met == Yes:
			words = "condition met: " + c.String()
		case c.Met == No && c.Wrong:
			words = "WRONG VALUE: " + c.Advice()
		case c.Met == No:
			words = "NO EFFECT NOW: " + c.Advice()
		}
		lines = append(lines, words)
	}
	return lines
}

// NotReported says that a variable was set to another value than the library reports.
func NotReported(name, asked string) string {
	return name + " was set to " + asked + ", which may be in use: " + catalog.WhyUnreported
}

// Mistakes says that the library does not have the value that a control variable was set to, or that the value itself is wrong.
func (e Effect) Mistakes(name string) (out []string) {
	if e.Arrived == No {
		out = append(out, name+" was set to "+e.Asked+", but the library has "+e.Have)
	}
	for _, c := range e.Conditions {
		if c.Met == No && c.Wrong {
			out = append(out, name+" "+c.Verdict())
		}
	}
	return out
}

// Doubts says why a setting of a control variable may have no effect, and what would change that: a sentence for each condition that
// is not met.
func (e Effect) Doubts(name string, ranks int) (out []string) {
	if e.Arrived == No {
		out = append(out, name+" was set to "+e.Asked+", but the library has "+e.Have)
	}
	switch { // a known failure makes a possible one superfluous
	case e.Fails() != nil:
	case e.Unreported != "":
		out = append(out, NotReported(name, e.Asked))
	case e.Unused:
		out = append(out, name+" may have no effect with "+text.Count(ranks, "rank")+": MPI_Init unloaded its component")
	}
	for _, c := range e.Conditions {
		if c.Met == No {
			out = append(out, name+" "+c.Verdict())
		}
	}
	return out
}

// AtStart says why a write after MPI_Init has no effect: only a setting for a run has. "": it may have one.
func (e Effect) AtStart() string {
	switch {
	case e.Written != "":
		return "a write has no effect: " + e.Written
	case e.Read == AtInit:
		return "it is read once, in MPI_Init: a write comes too late"
	}
	return ""
}
