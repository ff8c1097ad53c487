package catalog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// EnumOf is the enumeration of a variable's values: the library's own, or the one that MPICH only describes; nil: there is none.
func (c *Catalog) EnumOf(v *Variable) *Enum {
	if e := c.Enum(v.Enum); e != nil || c.Library.Family != "mpich" || v.Kind != Cvars {
		return e
	}
	if r := v.Current(); r == nil || r.Count != 1 {
		return nil
	}
	return Described(v)
}

var described sync.Map // by description

// Described is the enumeration that exists only in the description of an MPICH variable; nil for other variables.
func Described(v *Variable) *Enum {
	if form := v.Type.Form(); v.Enum != "" || form != FormSigned && form != FormUnsigned {
		return nil
	}
	if e, known := described.Load(v.Description); known {
		return e.(*Enum)
	}
	e := &Enum{}
	for k, name := range MPICHItems(v.Description) {
		if name != "" {
			e.Items = append(e.Items, Item{Value: k, Name: name})
		}
	}
	if e.Items == nil {
		e = nil
	}
	described.Store(v.Description, e)
	return e
}

// ItemOf is the name of a value's item in the enumeration of a variable; "" if there is none.
func (c *Catalog) ItemOf(v *Variable, value Value) string {
	e := c.EnumOf(v)
	if e == nil || value.Len() != 1 {
		return ""
	}
	if text := value.Format(e); text != value.Format(nil) {
		return text
	}
	return ""
}

// WithItems is a variable with the items that the library only describes.
func (c *Catalog) WithItems(v *Variable) *Variable {
	if e := c.EnumOf(v); e != nil && v.Enum == "" {
		more := *v
		more.Items = e.Items
		return &more
	}
	return v
}

// ValueText is a value for people: items by name, and those that a library only describes with their number, which MPI_T takes.
func (c *Catalog) ValueText(v *Variable, value Value) string {
	e := c.EnumOf(v)
	text := value.Format(e)
	if e != nil && v.Enum == "" && value.Len() == 1 {
		if number := value.Format(nil); number != text {
			return text + " (" + number + ")"
		}
	}
	return text
}

// mpichItem matches an item in a description of MPICH: on a line of its own, or, up to MPICH 4.0, where line breaks
// were lost, directly after the previous word: "… algorithmauto - Internal …binomial - …".
var (
	mpichItem = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|\n *)?(\S+)\s+- `) })
	mpichName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*$`) })
)

// mpichNames are the items of MPICH 4.0, longest first, because only a list can separate them from the previous word.
var mpichNames = sync.OnceValue(func() []string {
	base := strings.Fields(`auto nb smp mpir release_gather all none percoll error print silent binomial linear brucks flat tree
		double_tree pipelined_tree ring pairwise pairwise_exchange pairwise_sendrecv_replace permuted_sendrecv
		permutation blocked bcast inplace long short naive scattered dissemination k_dissemination recexch
		recexch_doubling recexch_halving recexch_distance_doubling recexch_distance_halving recexch_single_buffer
		recexch_multiple_buffer recexch_reduce_scatter_recexch_allgatherv scatterv_recexch_allgatherv
		scatterv_ring_allgatherv scatter_recursive_doubling_allgather scatter_ring_allgather recursive_doubling
		recursive_halving recursive_multiplying reduce_exchange_bcast reduce_scatter_allgather reduce_scatter_gather
		local_gather_remote_bcast local_gather_remote_send local_reduce_remote_send remote_gather_local_bcast
		remote_reduce_local_bcast remote_reduce_local_scatter remote_reduce_local_scatterv remote_send_local_bcast
		remote_send_local_scatter noncommutative`)
	var all []string
	for _, prefix := range []string{"", "sched_", "tsp_", "gentran_"} {
		for _, name := range base {
			all = append(all, prefix+name)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
})

// MPICHItems are the names of an MPICH variable's items, by value. MPI_T shows such variables as plain integers, but
// the environment accepts only names. Unknown names are empty; nil if the variable is not an enumeration.
func MPICHItems(description string) []string {
	var items []string
	names, known := mpichNames(), 0
	for _, m := range mpichItem().FindAllStringSubmatch(description, -1) {
		if m[1] != "" && mpichName().MatchString(m[2]) {
			items, known = append(items, m[2]), known+1
			continue
		}
		k := slices.IndexFunc(names, func(name string) bool {
			before, ok := strings.CutSuffix(m[2], name)
			return ok && !strings.HasSuffix(before, "_")
		})
		if k < 0 {
			items = append(items, "")
			continue
		}
		items, known = append(items, names[k]), known+1
	}
	if known < 2 || slices.Contains(items, "true") { // MPIR_CVAR_UCX_DT_RECV is a truth value
		return nil
	}
	return items
}
