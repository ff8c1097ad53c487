package algorithm

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"": "unknown",
		"tuned:ompi_coll_tuned_allreduce_intra_dec_fixed tuned:ompi_coll_base_allreduce_intra_ring ompi_coll_base_allreduce_intra_recursivedoubling": "tuned: ring → recursive_doubling",
		"tuned:ompi_coll_tuned_allreduce_intra_dec_fixed tuned:ompi_coll_base_allreduce_intra_redscat_allgather":                                     "tuned: rabenseifner",
		"ompi_coll_tuned_alltoall_intra_dec_dynamic ompi_coll_base_alltoall_intra_linear_sync":                                                       "tuned: linear_sync",
		"ompi_coll_base_barrier_intra_basic_linear":                                                                     "unknown component: linear",
		"basic:mca_coll_basic_gatherv_intra":                                                                            "basic",
		"basic:mca_coll_basic_barrier_intra_log":                                                                        "basic: log",
		"basic:mca_coll_basic_reduce_scatter_block_intra":                                                               "basic",
		"basic:mca_coll_basic_scan_intra basic:ompi_coll_base_scan_intra_linear":                                        "basic: linear",
		"libnbc:ompi_coll_libnbc_iallreduce":                                                                            "libnbc: unknown",
		"libnbc:ompi_coll_libnbc_allreduce_inter_init":                                                                  "libnbc: unknown",
		"libnbc:ompi_coll_libnbc_ineighbor_alltoallw":                                                                   "libnbc: unknown",
		"sync:mca_coll_sync_bcast tuned:ompi_coll_tuned_bcast_intra_dec_fixed tuned:ompi_coll_base_bcast_intra_bintree": "tuned: binary_tree",
		"self:mca_coll_self_allreduce_intra":                                                                            "self",
		"sm:mca_coll_sm_bcast_intra":                                                                                    "sm",
		"tuned:ompi_coll_tuned_allreduce_intra_dec_dynamic tuned:ompi_coll_base_allreduce_intra_nonoverlapping tuned:ompi_coll_tuned_reduce_intra_dec_fixed tuned:ompi_coll_base_reduce_intra_binomial tuned:ompi_coll_tuned_bcast_intra_dec_fixed tuned:ompi_coll_base_bcast_intra_binomial": "tuned: nonoverlapping → reduce binomial → bcast binomial",
		"han:mca_coll_han_allreduce_intra_dynamic han:mca_coll_han_allreduce_intra_simple tuned:ompi_coll_tuned_reduce_intra_dec_fixed tuned:ompi_coll_base_reduce_intra_binomial …":                                                                                                          "han: simple → reduce binomial → …",
		"han:mca_coll_han_allreduce_intra_dynamic tuned:ompi_coll_tuned_allreduce_intra_dec_fixed tuned:ompi_coll_base_allreduce_intra_ring":                                                                                                                                                  "tuned: ring",
	} {
		if got := Parse(text, functionOf(text)); got.Text() != want {
			t.Errorf("%s: %q, want %q: %+v", text, got.Text(), want, got)
		}
	}
	if got := Parse("tuned:ompi_coll_tuned_allreduce_intra_dec_dynamic tuned:ompi_coll_base_allreduce_intra_ring", "MPI_Allreduce"); got.Decision != "dynamic" || got.Component != "tuned" || !got.Known() || len(got.Functions) != 2 {
		t.Errorf("%+v", got)
	}
}

// functionOf is the MPI function that a text is about, for texts whose first function is of its operation.
func functionOf(text string) string {
	if first, _, _ := strings.Cut(text, " "); first != "" {
		f := parse(first)
		return "MPI_" + strings.ToUpper(f.operation[:1]) + f.operation[1:]
	}
	return "MPI_Bcast"
}

// What runs on other communicators, or for other operations, is a part, whatever comes first.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		// a hierarchical component has the parts on its own communicators
		"han:mca_coll_han_bcast_intra_dynamic han:mca_coll_han_bcast_intra -tuned:ompi_coll_tuned_bcast_intra_dec_fixed -tuned:ompi_coll_base_bcast_intra_bintree": "han: bcast binary_tree",
		// the rest of the group gets the result from its first process
		"inter:mca_coll_inter_bcast_inter -tuned:ompi_coll_tuned_bcast_intra_dec_fixed -tuned:ompi_coll_base_bcast_intra_pipeline": "inter: bcast pipeline",
		// another operation before the call's
		"sync:mca_coll_sync_bcast tuned:ompi_coll_tuned_barrier_intra_dec_fixed tuned:ompi_coll_base_barrier_intra_tree tuned:ompi_coll_tuned_bcast_intra_dec_fixed tuned:ompi_coll_base_bcast_intra_chain": "tuned: chain → barrier tree",
		// its communicators are made in the first call, with the operations of another component
		"han:mca_coll_han_bcast_intra_dynamic han:mca_coll_han_bcast_intra tuned:ompi_coll_tuned_bcast_intra_dec_fixed tuned:ompi_coll_base_bcast_intra_chain -tuned:ompi_coll_tuned_bcast_intra_dec_fixed -tuned:ompi_coll_base_bcast_intra_bintree": "han: chain → bcast binary_tree",
		"han:mca_coll_han_bcast_intra_dynamic tuned:ompi_coll_tuned_allreduce_intra_dec_fixed tuned:ompi_coll_base_allreduce_intra_ring han:mca_coll_han_bcast_intra_simple":                                                                          "han: simple → allreduce ring",
		// the same component passes the call on, on its communicator
		"adapt:ompi_coll_adapt_bcast tuned:ompi_coll_tuned_bcast_intra_dec_fixed tuned:ompi_coll_base_bcast_intra_chain": "tuned: chain",
		// the communicator is not known: the first function has it
		"-tuned:ompi_coll_tuned_bcast_intra_dec_fixed -tuned:ompi_coll_base_bcast_intra_chain": "tuned: chain",
		// reached by two references
		"tuned:ompi_coll_base_bcast_intra_chain ompi_coll_base_bcast_intra_chain": "tuned: chain",
	} {
		if got := Parse(text, "MPI_Ibcast"); got.Text() != want {
			t.Errorf("%s: %q, want %q: %+v", text, got.Text(), want, got)
		}
	}
	for function, want := range map[string]string{"MPI_Allreduce": "allreduce", "MPI_Iallreduce_c": "allreduce", "MPI_Reduce_scatter_block_init": "reduce_scatter_block", "MPI_Ineighbor_alltoallw": "alltoallw", "MPI_Send": "", "MPI_Gatherv": "gatherv", "MPI_Comm_split": "", "MPI_Op_create": ""} {
		if got := Operation(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
