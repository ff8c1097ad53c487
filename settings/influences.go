package settings

import (
	"cmp"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

// Influence is a setting that influences an MPI process from outside: in its environment, an option of its launcher, or
// a parameter file of the MPI.
type Influence struct {
	Name   string // of the environment variable, or as in the file
	Reader string // what reads it: "Open MPI", "UCX" …
	Cvar   string // the control variable that it sets, or seems to mean (Unknown); "": none
	catalog.Origin

	Dropped    string // why nothing takes it; "": it is taken, as far as known
	Overridden bool   // another setting of the control variable takes precedence
	beyond     bool   // it is of a file that sets no control variable
	Unknown    bool   // it is spelt like a control variable, but the library has none of this name
	Ranks      []int  // on which it is set so; nil: on all
}

// readers are what reads environment variables with a prefix.
var readers = []struct{ prefix, reader string }{
	{"OMPI_MCA_", "Open MPI"}, {"PRTE_MCA_", "PRRTE, the launcher"}, {"PMIX_", "PMIx"}, {"OPAL_PREFIX", "Open MPI"},
	{"MPIR_CVAR_", "MPICH"}, {"MPIR_PARAM_", "MPICH"}, {"MPICH_", "MPICH"}, {"HYDRA_", "Hydra, the launcher"}, {"MPIEXEC_", "Hydra, the launcher"},
	{"MVP_", "MVAPICH"}, {"MV2_", "MVAPICH2"}, {"I_MPI_", "Intel MPI"},
	{"UCX_", "UCX"}, {"FI_", "libfabric"}, {"PSM_", "PSM"}, {"PSM2_", "PSM2"}, {"PSM3_", "PSM3"}, {"HCOLL_", "HCOLL"}, {"SHARP_", "SHARP"},
	{"SLURM_CPU_BIND", "Slurm, the launcher"}, {"SLURM_MPI_TYPE", "Slurm, the launcher"}, {"SLURM_DISTRIBUTION", "Slurm, the launcher"},
	{"OMP_", "OpenMP"}, {"GOMP_", "OpenMP of GCC"}, {"KMP_", "OpenMP of LLVM and Intel"}, {"DEMO_CVAR_", "the demo MPI"},
	{"LD_PRELOAD", linker}, {"LD_LIBRARY_PATH", linker}, {"LD_AUDIT", linker},
}

const linker = "the dynamic linker"

// Reader returns what reads an environment variable that influences MPI, or what it builds on; "" for other variables.
func Reader(variable string) string {
	for _, r := range readers {
		if strings.HasPrefix(variable, r.prefix) {
			return r.reader
		}
	}
	return ""
}

// SetsMPI reports whether an environment variable sets MPI, what it builds on, or OpenMP.
func SetsMPI(variable string) bool { r := Reader(variable); return r != "" && r != linker }

// Influences returns what influences this process: first the settings of control variables, those with precedence first, then the
// rest of the environment, by name.
func Influences(q Query) []Influence {
	if q.Value == nil {
		q.Value = func(string) string { return "" }
	}
	known := make(map[string]string, len(q.Names))
	for _, n := range q.Names {
		known[key(q.Impl, n)] = n
	}
	var all []Influence
	cvars, variables := map[string]bool{}, map[string]bool{}
	var list *Setting
	for _, s := range q.settings() {
		if list == nil && s.Dropped == "" && s.Name == envList && q.Impl == machine.OpenMPI {
			list = &s
		}
		if s.Dropped != "" {
			all = append(all, Influence{Name: s.Name, Reader: machine.FamilyName(q.Impl), Origin: s.Origin, Dropped: s.Dropped})
			continue
		}
		i := Influence{Name: s.variable, Reader: machine.FamilyName(q.Impl), Cvar: known[key(q.Impl, s.Name)], Origin: s.Origin}
		if i.Name == "" || variables[i.Name] { // a file; or a variable with two spellings
			i.Name = s.Name
		}
		variables[s.variable] = true
		if i.Cvar == "" {
			if i.Unknown = !q.notMeant(s); i.Unknown {
				i.Cvar = s.Name
			}
			if framework, _, _ := strings.Cut(s.Name, "_"); q.Impl == machine.OpenMPI && launcherFrameworks[framework] && !i.Unknown {
				i.Reader = "the launcher"
			}
		}
		i.Overridden = i.Cvar != "" && !i.Unknown && cvars[i.Cvar]
		if i.Dropped = cmp.Or(q.missingFile(i.Cvar, s.Value), q.carriageReturn(s)); i.Dropped == "" && !i.Overridden && !i.Unknown {
			i.Dropped = q.missingComponent(i.Cvar, s.Value)
		}
		cvars[i.Cvar] = true
		all = append(all, i)
	}
	return append(append(all, q.droppedOptions()...), q.others(variables, list)...)
}

// Beyond are the influences that are no settings of control variables, as a catalog keeps them.
func Beyond(found []Influence) (all []catalog.Setting) {
	for _, i := range found {
		if i.IsBeyond() {
			all = append(all, catalog.Setting{Name: i.Name, Reader: i.Reader, Origin: i.Origin, Ranks: i.Ranks})
		}
	}
	return all
}

// Kept are the influences that a snapshot has: settings of control variables, and those beyond MPI_T.
func Kept(c *catalog.Catalog) (all []Influence) {
	for k := range c.Cvars {
		v := &c.Cvars[k]
		if !v.IsSet() {
			continue
		}
		for _, g := range c.Settings(v) {
			if g.Origin != nil {
				all = append(all, Influence{Name: v.Name, Reader: machine.FamilyName(c.Library.Family), Cvar: v.Name, Origin: *g.Origin, Ranks: g.Ranks})
			}
		}
	}
	for _, s := range c.Outside {
		all = append(all, Influence{Name: s.Name, Reader: s.Reader, Origin: s.Origin, Ranks: s.Ranks, beyond: true})
	}
	return all
}

// IsBeyond reports whether an influence is a setting beyond MPI_T.
func (i *Influence) IsBeyond() bool {
	return i.Cvar == "" && !i.Unknown && !i.Overridden && (i.Dropped == "" || i.beyond || SetsMPI(i.Name))
}

// First is the origin on the lowest rank that has it.
func (i *Influence) First() catalog.RankOrigin {
	return catalog.RankOrigin{Rank: slices.Concat(i.Ranks, []int{0})[0], Origin: &i.Origin}
}

// others are the influences that are not settings of control variables: in the environment, and options of the launcher that the
// environment does not have. list is the setting of mca_base_env_list.
func (q Query) others(settings map[string]bool, list *Setting) []Influence {
	launch := q.launched()
	given := map[string]bool{}
	var all []Influence
	environ := q.environment()
	for _, o := range launch.given {
		if o.name != "" && !slices.ContainsFunc(environ, func(e assigned) bool { return e.variable == o.variable && o.gives(e.value) }) {
			all = append(all, Influence{Name: o.name, Reader: launch.reader(o), Origin: o.origin()})
		}
	}
	for _, e := range environ {
		reader := Reader(e.variable)
		if reader == "" || settings[e.variable] || e.value == "" && strings.HasPrefix(e.variable, "LD_") || e.variable+"="+e.value == machine.QuietORTE {
			continue
		}
		if o, users := launch.origin(e); users {
			given[e.variable] = true
			if in, listed := q.listed(launch, list, e); listed && o.Kind == catalog.OriginEnvironment {
				o = in
			}
			all = append(all, Influence{Name: e.variable, Reader: reader, Origin: o})
		}
	}
	all = append(all, q.beyondFiles(given)...)
	q.askLayers(all)
	slices.SortStableFunc(all, func(a, b Influence) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// askLayers asks UCX and libfabric about settings of theirs.
func (q Query) askLayers(all []Influence) {
	var given []string
	for k := range all {
		if i := &all[k]; q.Layers != nil && i.Dropped == "" && !i.Overridden && (i.Reader == "UCX" || i.Reader == "libfabric") {
			given = append(given, i.Name+"="+i.Value)
		}
	}
	if given == nil {
		return
	}
	known := q.Layers(given)
	for k := range all {
		if i := &all[k]; i.Dropped == "" && !i.Overridden {
			i.Dropped = known.Fault(i.Name, i.Value)
		}
	}
}

// reader returns what reads an option of the launcher.
func (l launched) reader(o option) string {
	if strings.HasPrefix(o.variable, "PMIX_") {
		return Reader(o.variable)
	}
	return cmp.Or(map[string]string{"hydra": Reader("HYDRA_"), "prrte": Reader("PRTE_MCA_")}[l.Name], "the launcher")
}
