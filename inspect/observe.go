//go:build cgo && linux

package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
)

// observer reads everything that a library exposes in one process at one stage.
type observer struct {
	tool  *binding.Interface
	notes findings // for Stage.Error

	enums    map[binding.EnumHandle]string
	enumList map[string]catalog.Enum
}

// observe reads a stage. It returns the variables' indices by ID, which are valid in this process only. If a control
// variable and a performance variable have the same ID, the index is the control variable's.
func observe(lib *binding.Library, tool *binding.Interface, o binding.ProbeOptions) (*catalog.Process, map[string]int, error) {
	ob := &observer{tool: tool, enums: map[binding.EnumHandle]string{}, enumList: map[string]catalog.Enum{}}
	p := &catalog.Process{Meta: catalog.Meta{Library: identify(lib)}}
	p.Stage.Read = true

	numCvars, err := tool.NumCvars()
	if err != nil {
		return nil, nil, fmt.Errorf("MPI_T_cvar_get_num: %w", err)
	}
	numPvars, err := tool.NumPvars()
	if err != nil {
		return nil, nil, fmt.Errorf("MPI_T_pvar_get_num: %w", err)
	}
	if o.Categories, err = tool.NumCategories(); err != nil {
		ob.notes.add("categories: %v", err)
	}
	o.Events, o.Sources = ob.number("events", tool.NumEvents), ob.number("event sources", tool.NumSources)
	trials, err := tool.Probe(numCvars, numPvars, o)
	if err != nil {
		return nil, nil, err
	}
	p.Stage.Cvars, p.Stage.Pvars = numCvars, numPvars

	p.Readings = make([]catalog.Reading, 0, len(trials.Cvars)+len(trials.Pvars))
	cvars := ob.variables(p, &p.Meta.Cvars, trials.Cvars, "control variable", ob.cvar, &p.Stage.DeadCvars)
	pvars := ob.variables(p, &p.Meta.Pvars, trials.Pvars, "performance variable", ob.pvar, &p.Stage.DeadPvars)
	indices := make(map[string]int, len(cvars)+len(pvars))
	for k, id := range pvars {
		indices[id] = k
	}
	for k, name := range cvars {
		indices[name] = k
	}
	events := ob.events(p, trials.Events)
	ob.sources(p, trials.Sources)
	ob.peruse(lib, p)
	ob.categories(p, trials.Categories, cvars, pvars, events)
	for _, e := range ob.enumList {
		p.Meta.Enums = append(p.Meta.Enums, e)
	}
	p.Stage.Error = ob.notes.String()
	p.Sort()
	return p, indices, nil
}

func identify(lib *binding.Library) catalog.Library {
	out := catalog.Library{
		Family: lib.Family(),
		Path:   lib.Path,
		Events: lib.Has("MPI_T_event_get_num"),
		PERUSE: lib.Has("PERUSE_Init"),
		QMPI:   lib.HasQMPI(),
	}
	out.Text, _ = lib.VersionText()
	if v, s, err := lib.Version(); err == nil {
		out.Standard = fmt.Sprintf("%d.%d", v, s)
	}
	return out
}

func count(get func() (int, error)) int {
	n, err := get()
	if err != nil {
		return 0
	}
	return n
}

// variables reads the metadata of the variables that survived the probe into vars, and their readings into p. It
// returns the IDs by index. Duplicate names, which the standard forbids, are listed once.
func (o *observer) variables(p *catalog.Process, vars *[]catalog.Variable, trials []binding.Trial, what string, info func(int, binding.Trial) (catalog.Variable, error), dead *int) map[int]string {
	*vars = make([]catalog.Variable, 0, len(trials))
	ids := make(map[int]string, len(trials))
	seen := make(map[string]bool, len(trials))
	for k, t := range trials {
		switch {
		case t.Dead:
			*dead++
			continue
		case t.Nameless:
			o.notes.at(what, k, t.Reading.Reason)
			continue
		}
		v, err := info(k, t)
		if errors.Is(err, binding.ErrInvalidIndex) || errors.Is(err, binding.ErrInvalid) {
			*dead++
			continue
		}
		if err != nil {
			o.notes.at(what, k, "get_info: "+err.Error())
			continue
		}
		id := v.ID()
		if seen[id] {
			o.notes.add("%s %s is listed twice", what, v.Name)
			continue
		}
		seen[id] = true
		ids[k] = id
		*vars = append(*vars, v)
		p.Readings = append(p.Readings, t.Reading)
	}
	return ids
}

func (o *observer) cvar(index int, t binding.Trial) (catalog.Variable, error) {
	info, err := o.tool.CvarInfo(index)
	if err != nil {
		return catalog.Variable{}, err
	}
	return catalog.Variable{Kind: catalog.Cvars, Name: info.Name, Scope: info.Scope, Verbosity: info.Verbosity,
		Type: info.Datatype, Bind: info.Bind, Enum: o.enum(info.Enum, t), Description: info.Description}, nil
}

func (o *observer) pvar(index int, t binding.Trial) (catalog.Variable, error) {
	info, err := o.tool.PvarInfo(index)
	if err != nil {
		return catalog.Variable{}, err
	}
	return catalog.Variable{Kind: catalog.Pvars, Name: info.Name, Class: info.Class, Verbosity: info.Verbosity,
		Type: info.Datatype, Bind: info.Bind, Enum: o.enum(info.Enum, t), Description: info.Description,
		Readonly: info.Readonly, Continuous: info.Continuous, Atomic: info.Atomic}, nil
}

// enum reads an enumeration once and returns its name. Different enumerations with the same name, which the standard
// forbids, get a number.
func (o *observer) enum(h binding.EnumHandle, t binding.Trial) string {
	if h.IsNull() || t.NoEnum {
		return ""
	}
	if name, ok := o.enums[h]; ok {
		return name
	}
	e, err := o.tool.Enum(h)
	if err != nil {
		o.notes.add("enumeration: %v", err)
		o.enums[h] = ""
		return ""
	}
	base := e.Name
	for n := 2; ; n++ {
		other, taken := o.enumList[e.Name]
		if !taken || slices.Equal(other.Items, e.Items) {
			break
		}
		e.Name = fmt.Sprintf("%s#%d", base, n)
	}
	o.enums[h] = e.Name
	o.enumList[e.Name] = e
	return e.Name
}

// categories reads the category tree, with the members by name; cvars, pvars and events are names by index.
// Members that have become invalid are skipped.
func (o *observer) categories(p *catalog.Process, trials []binding.Trial, cvars, pvars, events map[int]string) {
	num := len(trials)
	p.Stage.Categories = num
	names := make(map[int]string, num)
	faulty := map[string][]string{}
	for k, t := range trials {
		if why := t.Reading.Reason; t.Reading.Status != catalog.StatusOK {
			faulty[why] = append(faulty[why], strconv.Itoa(k))
			continue
		}
		info, err := o.tool.CategoryInfo(k)
		if err != nil {
			p.Stage.DeadCats++
			continue
		}
		names[k] = info.Name
		p.Meta.Categories = append(p.Meta.Categories, catalog.Category{Name: info.Name, Description: info.Description})
	}
	for _, why := range slices.Sorted(maps.Keys(faulty)) {
		o.notes.add("categories at index %[2]s (of %[1]d) were skipped: %[3]s", num, strings.Join(faulty[why], ", "), why)
	}
	at := -1
	for k := range num {
		if _, ok := names[k]; !ok {
			continue
		}
		at++
		c := &p.Meta.Categories[at]
		members := []struct {
			get   func(int) ([]int, error)
			names map[int]string
			into  *[]string
		}{
			{o.tool.CategoryCvars, cvars, &c.Cvars},
			{o.tool.CategoryPvars, pvars, &c.Pvars},
			{o.tool.CategoryCategories, names, &c.Categories},
			{o.tool.CategoryEvents, events, &c.EventTypes},
		}
		for _, m := range members {
			indices, err := m.get(k)
			if err != nil && !errors.Is(err, binding.ErrNotProvided) {
				o.notes.add("category %s: %v", c.Name, err)
				continue
			}
			for _, i := range indices {
				if name, ok := m.names[i]; ok {
					*m.into = append(*m.into, name)
				}
			}
			slices.Sort(*m.into)
			*m.into = slices.Compact(*m.into)
		}
		c.Events = count(func() (int, error) { return o.tool.CategoryNumEvents(k) })
	}
	slices.SortStableFunc(p.Meta.Categories, func(a, b catalog.Category) int { return cmp.Compare(a.Name, b.Name) })
	p.Meta.Categories = slices.CompactFunc(p.Meta.Categories, func(a, b catalog.Category) bool { return a.Name == b.Name })
}
