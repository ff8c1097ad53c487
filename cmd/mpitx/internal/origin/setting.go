package origin

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
)

// setting is a value as an implementation reads it from its environment: not always as MPI_T shows it. Without a value, or
// where what the library takes is not known, it is a word in capitals that stands for one. Not ok is a value that it would refuse.
func setting(impl string, v *catalog.Variable, e *catalog.Enum, value catalog.Value) (text string, ok bool) {
	if value.IsZero() {
		return "VALUE", true
	}
	form := value.Type().Form()
	whole := form == catalog.FormSigned || form == catalog.FormUnsigned
	switch {
	case impl == locate.MPICH && whole && value.Len() == 2: // its ranges: <low>:<high>
		return strings.ReplaceAll(value.String(), ",", ":"), true
	case impl == locate.MPICH && whole && value.Len() == 1:
		if items := mpichItems(v.Description); items != nil {
			k := value.Int(0)
			if k < 0 || k >= int64(len(items)) || items[k] == "" {
				return "NAME", true
			}
			return items[k], true
		}
	case impl == locate.OpenMPI && e != nil && whole && value.Len() == 1:
		name, ok := e.NameOf(value.Int(0))
		if !ok {
			return "", false // it takes items only
		}
		if e.Flags && strings.Contains(name, "|") {
			return strings.ReplaceAll(name, "|", ","), true
		}
	}
	return value.String(), true
}

// Enum is the enumeration by whose items values of a variable can be written: e, which the library has for it, or, if that is nil, the
// one that MPICH has in its description. count is the number of the variable's elements.
func Enum(impl string, v *catalog.Variable, e *catalog.Enum, count int) *catalog.Enum {
	if e == nil && count == 1 {
		return Items(impl, v)
	}
	return e
}

// Items is the enumeration that MPICH has in a variable's description only, so that its items can be given by name; nil for others.
func Items(impl string, v *catalog.Variable) *catalog.Enum {
	if form := v.Type.Form(); impl != locate.MPICH || v.Enum != "" || form != catalog.FormSigned && form != catalog.FormUnsigned {
		return nil
	}
	var e catalog.Enum
	for k, name := range mpichItems(v.Description) {
		if name != "" {
			e.Items = append(e.Items, catalog.Item{Value: k, Name: name})
		}
	}
	if e.Items == nil {
		return nil
	}
	return &e
}

// mpichItem is where an item of an enumeration stands in a description of MPICH's: in a line of its own, or, up to MPICH 4.0, where
// the line breaks were lost on the way into the library, right behind the word before: "… algorithmauto - Internal …binomial - …".
var (
	mpichItem = lazily(`(^|\n *)?(\S+)\s+- `)
	mpichName = lazily(`^[a-z][a-z0-9_]*$`)
)

// lazily compiles an expression when it is first used: most commands show no settings.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// mpichNames are MPICH 4.0's, longest first, as only a list can tell them from the word before.
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

// mpichItems are the names of an MPICH variable's items, by value: MPI_T shows such variables as plain integers, and only their
// names are read from the environment. A name that is not known is empty; nil where the variable is no enumeration.
func mpichItems(description string) []string {
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
