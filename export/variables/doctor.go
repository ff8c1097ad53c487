package variables

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
)

// Examined is what doctor found out about one library.
type Examined struct {
	MPI      machine.MPI
	Used     bool // programs would use it
	Shim     string
	Agent    string // "" if there is none
	Catalog  *catalog.Catalog
	Problems []string
}

// Doctor writes what was found out about all libraries, for people: who wrote it, what started mpitx ("": nothing), and which library it would
// use come first.
func Doctor(w io.Writer, t export.Terminal, who, started, use string, findings []*Examined) {
	fmt.Fprintln(w, who)
	if started != "" {
		fmt.Fprintln(w, started)
	}
	fmt.Fprintf(w, "\n%s\n", export.Wrap(t.SafeText(use), t.Width))
	for _, f := range findings {
		mark := ""
		if f.Used {
			mark = "  (would be used)"
		}
		fmt.Fprintf(w, "\n%s%s\n", f.MPI.Name(), mark)
		line := func(label, text string) {
			if text != "" {
				const indent = "               "
				fmt.Fprintln(w, export.WrapLine(fmt.Sprintf("  %-12s %s", label, t.Safe(text)), t.Width, indent))
			}
		}
		line("library", f.MPI.Lib)
		line("found by", f.MPI.Why)
		line("launcher", f.MPI.Launcher)
		line("shim", f.Shim)
		line("agent", f.Agent)
		if c := f.Catalog; c != nil {
			line("version", c.LibraryName()+", MPI "+c.Library.Standard)
			line("before init", stageCounts(c.Before))
			line("after init", stageCounts(c.After))
			line("categories", categoryStamps(c))
			line("threads", "MPI_T grants "+c.After.Thread.String())
			line("events", offered(c))
			line("PERUSE", yesNo(c.Library.PERUSE))
			line("QMPI", yesNo(c.Library.QMPI))
		}
		for _, p := range f.Problems {
			line("problem", p)
		}
		if f.Catalog != nil {
			line("faulty", faulty(f.MPI, f.Catalog))
		}
	}
	if len(findings) == 0 {
		fmt.Fprintf(w, "\nno MPI library was found; --mpi demo lets you try every command without one\n")
	}
}

// faulty says which variables a tool must not read; "" if there are none.
func faulty(m machine.MPI, c *catalog.Catalog) string {
	var names []string
	known := m.Impl == machine.OpenMPI // crashes of psm2 are in all releases with it, whatever is set
	for v := range c.Variables() {
		if v.Faulty() {
			names = append(names, v.Name)
			known = known && strings.HasPrefix(v.Name, "mtl_psm2_")
		}
	}
	if names == nil {
		return ""
	}
	which, words := strings.Join(names[:min(len(names), 3)], ", "), crash(len(names))
	switch {
	case known:
		which, words = "mtl_psm2_*", text.Verb(len(names), "has", "have")+" a known fault of Open MPI"
	case len(names) > 3:
		which += " …"
	}
	return text.Count(len(names), "variable") + " (" + which + ") " + words + " when a tool reads " + text.Verb(len(names), "it", "them") + "; mpitx does not; see mpitx list -o wide"
}

func crash(n int) string { return text.Verb(n, "crashes or hangs", "crash or hang") + " the library" }

func stageCounts(s catalog.Stage) string {
	if !s.Read {
		return "not read"
	}
	part := func(n, dead int, what string) string {
		if dead == 0 {
			return fmt.Sprintf("%d %s", n, what)
		}
		return fmt.Sprintf("%d %s (%d unloaded)", n, what, dead)
	}
	return strings.Join([]string{part(s.Cvars, s.DeadCvars, "control variables"), part(s.Pvars, s.DeadPvars, "performance variables"),
		part(s.Categories, s.DeadCats, "categories")}, ", ")
}

// CategoryChanges says how MPI_Init changes the categories; "" if it does not.
func CategoryChanges(c *catalog.Catalog) string {
	added, removed, changed := c.CategoryChanges()
	list := joinNonempty(", ", counted("adds ", added), counted("removes ", removed), counted("changes the members of ", changed))
	return strings.TrimSuffix("MPI_Init "+list, "MPI_Init ")
}

// categoryStamps adds what a tool can see of the changes.
func categoryStamps(c *catalog.Catalog) string {
	text := CategoryChanges(c)
	if !c.Before.Read || !c.After.Read || text == "" && c.Before.Stamp == c.After.Stamp {
		return ""
	}
	stamp := func(s catalog.Stage) string {
		if s.Stamp == 0 {
			return "unsteady"
		}
		return strconv.Itoa(s.Stamp)
	}
	return joinNonempty("; ", text, "MPI_T_category_changed, in a process each: "+stamp(c.Before)+" before it, "+stamp(c.After)+" after it")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// offered says how many events a library has, or what to use instead.
func offered(c *catalog.Catalog) string {
	if text := settings.WithoutEvents(c); text != "" {
		return "no: " + text
	}
	s := &c.After
	if !s.Read {
		s = &c.Before
	}
	text := fmt.Sprintf("%d, of %d sources", s.Events-s.DeadEvents, s.Sources)
	if n := faultyEvents(c); n > 0 {
		text += fmt.Sprintf("; %d %s", n, crash(n))
	}
	return text
}

func faultyEvents(c *catalog.Catalog) (n int) {
	for i := range c.Events {
		if c.Events[i].Status == catalog.StatusFaulty {
			n++
		}
	}
	return n
}

// DoctorRows are the findings as a table for programs.
func DoctorRows(findings []*Examined) *export.Rows {
	r := &export.Rows{Schema: "mpitx.doctor"}
	for _, name := range []string{"family", "version", "standard", "library", "launcher", "shim", "used", "why", "cvars_before", "cvars_after",
		"pvars_before", "pvars_after", "categories_before", "categories_after", "thread_level", "events", "peruse", "qmpi", "problems", "agent", "events_before", "events_after", "sources_before", "sources_after", "faulty", "stamp_before", "stamp_after"} {
		r.Columns = append(r.Columns, export.RowColumn{Name: name, Header: strings.ToUpper(name)})
	}
	for _, f := range findings {
		row := []any{f.MPI.Family, nil, nil, f.MPI.Lib, f.MPI.Launcher, f.Shim, f.Used, f.MPI.Why, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, strings.Join(f.Problems, "; "), f.Agent, nil, nil, nil, nil, nil, nil, nil}
		if c := f.Catalog; c != nil {
			row[1], row[2] = c.LibraryName(), c.Library.Standard
			row[8], row[9] = c.Before.Cvars-c.Before.DeadCvars, c.After.Cvars-c.After.DeadCvars
			row[10], row[11] = c.Before.Pvars-c.Before.DeadPvars, c.After.Pvars-c.After.DeadPvars
			row[12], row[13] = c.Before.Categories-c.Before.DeadCats, c.After.Categories-c.After.DeadCats
			row[14], row[15], row[16], row[17] = c.After.Thread.String(), c.Library.Events, c.Library.PERUSE, c.Library.QMPI
			row[24] = c.CountFaulty()
			row[20], row[21], row[22], row[23] = c.Before.Events, c.After.Events-c.After.DeadEvents, c.Before.Sources, c.After.Sources
			row[25], row[26] = c.Before.Stamp, c.After.Stamp
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}
