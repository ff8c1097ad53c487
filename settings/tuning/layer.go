package tuning

import (
	"slices"
	"strings"

	"mpitx/catalog"
)

// layerUsers are the components of Open MPI that use a library below it. Those of coll use UCX through other libraries, and libfabric may do so.
var layerUsers = map[string][]string{
	"UCX":       {"pml_ucx", "osc_ucx", "btl_uct", "coll_ucc", "coll_hcoll", "btl_ofi", "mtl_ofi", "rml_ofi"},
	"libfabric": {"btl_ofi", "mtl_ofi", "rml_ofi"},
}

// NotInUse says why a library below MPI, "UCX" or "libfabric", is not in use; "" if it may be. What MPI_Init kept is the proof: in Open MPI only
// the components that it may use, of pml only the one that it uses. An mtl is used by pml cm only.
func NotInUse(c *catalog.Catalog, layer string) string {
	users := layerUsers[layer]
	family, _ := Library(c)
	if family != "openmpi" || users == nil || !c.After.Read || keptOf(c, "pml") == nil {
		return ""
	}
	for _, component := range users {
		used := keptAnywhere(c, component) && allowed(c, component)
		if strings.HasPrefix(component, "mtl_") {
			used = used && keptAnywhere(c, "pml_cm") && allowed(c, "pml_cm")
		}
		if used {
			return ""
		}
	}
	why := layer + " is not in use here: Open MPI uses pml " + strings.Join(keptOf(c, "pml"), " or ")
	if btls := keptOf(c, "btl"); btls != nil && slices.Contains(keptOf(c, "pml"), "ob1") {
		why += " with btl " + strings.Join(btls, ", ")
	}
	return why
}

// keptOf are the components of a framework that MPI_Init kept, and that the framework's variable allows.
func keptOf(c *catalog.Catalog, framework string) (names []string) {
	for k := range c.Cvars {
		rest, is := strings.CutPrefix(c.Cvars[k].Name, framework+"_")
		name, _, component := strings.Cut(rest, "_")
		if is && component && name != "base" && !slices.Contains(names, name) && keptAnywhere(c, framework+"_"+name) && allowed(c, framework+"_"+name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// keptAnywhere reports whether MPI_Init kept a component with its variables on any rank.
func keptAnywhere(c *catalog.Catalog, component string) bool {
	return slices.ContainsFunc(c.Cvars, func(v catalog.Variable) bool {
		return strings.HasPrefix(v.Name, component+"_") && (v.After != nil || len(v.Ranks) > 0)
	})
}
