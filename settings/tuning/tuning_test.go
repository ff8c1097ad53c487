package tuning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

func load(t *testing.T, name string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load("../../fixtures/snapshots/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func enums(c *catalog.Catalog) tuning.Enums {
	return func(v *catalog.Variable) *catalog.Enum { return c.Enum(v.Enum) }
}

// set gives a control variable a value after MPI_Init.
func set(t *testing.T, c *catalog.Catalog, name, value string) {
	t.Helper()
	v := c.Cvar(name)
	if v == nil || v.After == nil {
		t.Fatalf("no %s after MPI_Init", name)
	}
	v.After.Value = catalog.NewText(value)
}

// The essentials name variables that real libraries have, each with what it is for, and nothing else.
func TestEssentials(t *testing.T) {
	for name, purposes := range map[string]int{
		"openmpi-4.1.4.json": 7, "openmpi-5.0.7.json": 6, "openmpi-6.0.0rc2.json": 6, "mpich-4.0.2.json": 6, "mpich-4.2.1.json": 6, "mpich-5.0.2.json": 6,
	} {
		c := load(t, name)
		groups := tuning.Own().Essentials(c)
		if len(groups) != purposes {
			t.Errorf("%s: %d purposes, want %d", name, len(groups), purposes)
		}
		seen := map[string]bool{}
		for _, g := range groups {
			if len(g.Cvars)+2*len(g.Environment) < 2 {
				t.Errorf("%s: %q has %d variables", name, g.Title, len(g.Cvars))
			}
			for k, v := range g.Cvars {
				if c.Cvar(v.Name) != v || g.Uses[k] == "" || seen[v.Name] {
					t.Errorf("%s: %q: %s (%s)", name, g.Title, v.Name, g.Uses[k])
				}
				seen[v.Name] = true
			}
		}
		if n := len(seen); n < 25 || n > 52 {
			t.Errorf("%s: %d essentials", name, n)
		}
	}
}

// Of several names of a variable one is shown: the one that the user set.
func TestSynonyms(t *testing.T) {
	c := load(t, "openmpi-6.0.0rc2.json")
	limit := func() (out []string) {
		for _, g := range tuning.Own().Essentials(c) {
			for _, v := range g.Cvars {
				if v.Name == "btl_sm_eager_limit" || v.Name == "btl_vader_eager_limit" {
					out = append(out, v.Name)
				}
			}
		}
		return out
	}
	if got := limit(); !slices.Equal(got, []string{"btl_sm_eager_limit"}) {
		t.Errorf("%v", got)
	}
	c.Cvar("btl_vader_eager_limit").Origin = &catalog.Origin{Kind: catalog.OriginEnvironment}
	if got := limit(); !slices.Equal(got, []string{"btl_vader_eager_limit"}) {
		t.Errorf("set by the other name: %v", got)
	}
}

// The conditions of a variable come from its description, from rules, and from the stages in which it exists.
func TestEffect(t *testing.T) {
	const (
		basic   = "coll_tuned_priority must be greater than coll_basic_priority (10); coll_tuned_priority is 30: yes"
		sm      = "coll_sm_priority must be less than coll_tuned_priority (30); coll_sm_priority is 0: yes"
		adapt   = "coll_adapt_priority must be less than coll_tuned_priority (30); coll_adapt_priority is 0: yes"
		never   = "nothing in the library reads it: no"
		oneNode = "it acts only in communicators that span nodes; these processes are on one node: no"
		noShm   = "MPICH must be built with --with-ch4-shmmods; this one is built for ch4:ucx without that option: no"
	)
	for _, test := range []struct {
		library, cvar string
		change        map[string]string
		read          tuning.When
		conditions    []string // their text and whether they are met
	}{
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm", nil, tuning.AtCommunicator,
			[]string{"coll_tuned_use_dynamic_rules must be true; it is false: no", basic, sm, adapt}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm", map[string]string{"coll_tuned_use_dynamic_rules": "true"}, tuning.AtCommunicator,
			[]string{"coll_tuned_use_dynamic_rules must be true; it is true: yes", basic, sm, adapt}},
		{"openmpi-4.1.4.json", "coll_tuned_scatter_algorithm", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_tuned_priority": "10"},
			tuning.AtCommunicator, []string{"coll_tuned_use_dynamic_rules must be true; it is true: yes",
				"coll_tuned_priority must be greater than coll_basic_priority (10); coll_tuned_priority is 10: no"}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_adapt_priority": "40"},
			tuning.AtCommunicator, []string{"coll_tuned_use_dynamic_rules must be true; it is true: yes", basic, sm,
				"coll_adapt_priority must be less than coll_tuned_priority (30); coll_adapt_priority is 40: no"}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm_chain_fanout", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_tuned_bcast_algorithm": "6"},
			tuning.AtCommunicator, []string{"coll_tuned_use_dynamic_rules must be true; it is true: yes",
				"coll_tuned_bcast_algorithm must be chain; it is 6: no", basic, sm, adapt}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm_chain_fanout", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_tuned_bcast_algorithm": "2"},
			tuning.AtCommunicator, []string{"coll_tuned_use_dynamic_rules must be true; it is true: yes",
				"coll_tuned_bcast_algorithm must be chain; it is 2: yes", basic, sm, adapt}},
		{"openmpi-6.0.0rc2.json", "coll_tuned_allgather_algorithm_tree_fanout", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_tuned_allgather_algorithm": "2"},
			tuning.AtCommunicator, []string{"coll_tuned_use_dynamic_rules must be true; it is true: yes", "coll_tuned_allgather_algorithm must be bruck-k-fanout; it is 2: yes", basic,
				"in communicators that span nodes, coll_han_priority must be less than coll_tuned_priority (30); coll_han_priority is 35, but these processes are on one node: unknown"}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm_knomial_radix", nil, tuning.AtCall,
			[]string{"it acts only in the algorithm knomial of MPI_Bcast, which Open MPI may also choose without dynamic rules; whether it holds is not known: unknown",
				basic, sm, adapt}},
		{"openmpi-4.1.4.json", "coll_tuned_init_tree_fanout", nil, tuning.Never, []string{never}},
		{"openmpi-4.1.4.json", "coll_tuned_init_chain_fanout", nil, tuning.AtInit, []string{"coll_tuned_use_dynamic_rules must be true; it is false: no"}},
		{"openmpi-6.0.0rc2.json", "coll_tuned_allgatherv_algorithm_tree_fanout", map[string]string{"coll_tuned_use_dynamic_rules": "true", "coll_tuned_allgatherv_algorithm": "2"},
			tuning.Never, []string{never}},
		{"openmpi-4.1.4.json", "mpi_spc_attach", nil, tuning.AtInit, []string{"the library must have performance variables runtime_spc_*; it has none: no"}},
		{"openmpi-4.1.4.json", "coll_han_priority", nil, tuning.AtInit, []string{oneNode}},
		{"openmpi-4.1.4.json", "coll_sync_priority", nil, tuning.AtInit,
			[]string{"coll_sync_barrier_before or coll_sync_barrier_after must be greater than 0; they are 0 and 0: no"}},
		{"openmpi-4.1.4.json", "coll_sync_priority", map[string]string{"coll_sync_barrier_after": "3"}, tuning.AtInit,
			[]string{"coll_sync_barrier_before or coll_sync_barrier_after must be greater than 0; they are 0 and 3: yes"}},
		{"openmpi-4.1.4.json", "mtl_psm2_priority", nil, tuning.AtInit, []string{"pml cm must be selected; it is not: no"}},
		{"openmpi-4.1.4.json", "coll_tuned_bcast_algorithm_segmentsize", map[string]string{"coll_tuned_use_dynamic_rules": "true"}, tuning.AtCommunicator,
			[]string{"coll_tuned_use_dynamic_rules must be true; it is true: yes",
				"coll_tuned_bcast_algorithm must be chain or pipeline or split_binary_tree or binary_tree or binomial or knomial; it is ignore: no", basic, sm, adapt}},
		{"openmpi-5.0.7.json", "coll_tuned_alltoall_algorithm_tree_fanout", map[string]string{"coll_tuned_alltoall_algorithm": "pairwise"}, tuning.Never, []string{never}},
		{"openmpi-4.1.4.json", "oob_tcp_keepalive_probes", nil, tuning.AtInit, []string{"oob_tcp_keepalive_time must be greater than 0; it is 300: yes"}},
		{"openmpi-5.0.7.json", "mpi_show_mca_params_file", nil, tuning.AtInit, []string{"mpi_show_mca_params must be true; it is empty: no"}},
		{"openmpi-5.0.7.json", "mpi_show_mca_params_file", map[string]string{"mpi_show_mca_params": "all"}, tuning.AtInit,
			[]string{"mpi_show_mca_params must be true; it is all: yes"}},
		{"openmpi-6.0.0rc2.json", "coll_acoll_smsc_buffer_size", nil, tuning.AtInit, []string{"coll_acoll_smsc_use_sr_buf must be 0; it is 1: no"}},
		{"openmpi-4.1.4.json", "btl_tcp_eager_limit", nil, tuning.AtInit,
			[]string{"it serves only processes that btl sm or btl vader does not connect; btl vader connects these, which are on one node: no", "pml ob1 must be selected; it is: yes"}},
		{"openmpi-4.1.4.json", "btl_vader_eager_limit", nil, tuning.AtInit, []string{"pml ob1 must be selected; it is: yes"}},
		{"openmpi-4.1.4.json", "coll_han_bcast_segsize", nil, tuning.AtInit,
			[]string{oneNode, "in communicators that span nodes, coll_han_priority must be greater than coll_tuned_priority (30); coll_han_priority is 0, but these processes are on one node: unknown"}},
		{"openmpi-5.0.7.json", "coll_han_bcast_segsize", nil, tuning.AtCall,
			[]string{oneNode, "in communicators that span nodes, coll_han_priority must be greater than coll_tuned_priority (30); coll_han_priority is 35: yes"}},
		{"openmpi-5.0.7.json", "coll_han_dynamic_rules_filename", nil, tuning.Unknown,
			[]string{oneNode, "coll_han_use_dynamic_file_rules must be true; it is false: no", "coll_han_priority must be greater than coll_tuned_priority (30); coll_han_priority is 35: yes"}},
		{"openmpi-6.0.0rc2.json", "pml_monitoring_filename", nil, tuning.Unknown, []string{"pml_monitoring_enable must be greater than 0; it is 0: no"}},
		{"openmpi-4.1.4.json", "mpi_leave_pinned", nil, tuning.AtInit, nil},
		{"openmpi-4.1.4.json", "mpi_leave_pinned_pipeline", nil, tuning.AtInit, []string{"mpi_leave_pinned must be other than true; it is auto: yes"}},
		{"openmpi-4.1.4.json", "mpi_leave_pinned_pipeline", map[string]string{"mpi_leave_pinned": "true"}, tuning.AtInit, []string{"mpi_leave_pinned must be other than true; it is true: no"}},
		{"openmpi-4.1.4.json", "mpi_leave_pinned_pipeline", map[string]string{"mpi_leave_pinned": "false"}, tuning.AtInit, []string{"mpi_leave_pinned must be other than true; it is false: yes"}},
		{"openmpi-4.1.4.json", "coll_base_verbose", nil, tuning.AtInit, nil},
		{"mpich-4.0.2.json", "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", nil, tuning.Unknown,
			[]string{"MPIR_CVAR_DEVICE_COLLECTIVES must be percoll; it is 2: unknown"}},
		{"mpich-4.2.1.json", "MPIR_CVAR_MAX_SMP_BCAST_MSG_SIZE", nil, tuning.Never, []string{never}},
		{"mpich-4.0.2.json", "MPIR_CVAR_DATALOOP_FAST_SEEK", nil, tuning.Unknown,
			[]string{"MPICH must be built with --with-datatype-engine=dataloop; this one is built for ch4:ucx without that option: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_MEMDUMP", nil, tuning.Unknown, []string{"MPICH must be built with --enable-g=mem; it is not: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_CH4_IOV_DENSITY_MIN", nil, tuning.Unknown, []string{"MPICH must be built for ofi; this one is built for ch4:ucx: no"}},
		{"mpich-5.0.2.json", "MPIR_CVAR_IBCAST_DEVICE_COLLECTIVE", nil, tuning.Never, []string{never}},
		{"mpich-4.2.1.json", "MPIR_CVAR_NEIGHBOR_ALLGATHER_DEVICE_COLLECTIVE", nil, tuning.Never, []string{never}},
		{"mpich-4.0.2.json", "MPIR_CVAR_BCAST_INIT_DEVICE_COLLECTIVE", nil, tuning.Never, []string{never}},
		{"mpich-4.2.1.json", "MPIR_CVAR_NEIGHBOR_ALLGATHER_INIT_DEVICE_COLLECTIVE", nil, tuning.Unknown,
			[]string{"MPIR_CVAR_DEVICE_COLLECTIVES must be percoll; it is 2: unknown"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_BCAST_INTRA_ALGORITHM", nil, tuning.AtCall, nil},
		{"mpich-4.0.2.json", "MPIR_CVAR_CH4_RMA_AM_PROGRESS_INTERVAL", map[string]string{"MPIR_CVAR_CH4_RMA_ENABLE_DYNAMIC_AM_PROGRESS": "1"}, tuning.Unknown,
			[]string{"MPIR_CVAR_CH4_RMA_ENABLE_DYNAMIC_AM_PROGRESS must be false; it is 1: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD", map[string]string{"MPIR_CVAR_CH4_XPMEM_ENABLE": "0"}, tuning.AtCall,
			[]string{noShm, "MPICH must be built with XPMEM; the options of its configure do not say: unknown", "MPIR_CVAR_CH4_XPMEM_ENABLE must be 1; it is 0: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", nil, tuning.Unknown, []string{"MPICH must be built for ch3; this one is built for ch4:ucx: no"}},
		{"mpich-4.2.1.json", "MPIR_CVAR_BCAST_OFI_INTRA_ALGORITHM", nil, tuning.AtCall, []string{"MPICH must be built for ofi; this one is built for ch4:ucx: no"}},
		{"mpich-5.0.2.json", "MPIR_CVAR_CH4_UCX_ENABLE_UCC", nil, tuning.Unknown, nil},
		{"mpich-5.0.2.json", "MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", nil, tuning.AtCall, []string{noShm, "MPIR_CVAR_CH4_CMA_ENABLE must be 1; it is 1: yes"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_BCAST_POSIX_INTRA_ALGORITHM", nil, tuning.AtCall, []string{noShm}},
		{"mpich-5.0.2.json", "MPIR_CVAR_CH4_SHM", nil, tuning.Never, []string{never}},
		{"mpich-4.2.1.json", "MPIR_CVAR_CH4_NETMOD", nil, tuning.AtInit, []string{"MPICH must be built for several network modules; this one is built for ch4:ucx: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_ABORT_ON_LEAKED_HANDLES", nil, tuning.Unknown, []string{"MPICH must be built with --enable-g=handlealloc; it is not: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_CH4_MT_MODEL", nil, tuning.Unknown, []string{"MPICH must be built with --enable-ch4-mt=runtime; it is not: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_BCAST_SHORT_MSG_SIZE", nil, tuning.AtCall,
			[]string{"it acts only in nonblocking parts of other collectives, intercommunicators, and the algorithms smp and tsp_auto; whether it holds is not known: unknown"}},
		{"mpich-4.2.1.json", "MPIR_CVAR_CHOP_ERROR_STACK", map[string]string{"MPIR_CVAR_PRINT_ERROR_STACK": "0"}, tuning.Unknown,
			[]string{"MPIR_CVAR_PRINT_ERROR_STACK must be true; it is 0: no"}},
		{"mpich-5.0.2.json", "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT", nil, tuning.Unknown,
			[]string{"MPIR_CVAR_CH4_PROGRESS_THROTTLE must be true; it is 0: no"}},
		{"mpich-5.0.2.json", "MPIR_CVAR_CH4_IPC_GPU_MAX_CACHE_ENTRIES", nil, tuning.Unknown,
			[]string{"MPIR_CVAR_CH4_IPC_GPU_CACHE_SIZE must be limited; it is 1: unknown", noShm, "MPIR_CVAR_ENABLE_GPU must be 1; it is 0: no"}},
		{"mpich-4.0.2.json", "MPIR_CVAR_PROGRESS_THREAD_AFFINITY", nil, tuning.Unknown,
			[]string{"MPIR_CVAR_ASYNC_PROGRESS must be 1; it is 0: no"}},
	} {
		c := load(t, test.library)
		for name, value := range test.change {
			set(t, c, name, value)
		}
		e := tuning.Own().Effect(c, c.Cvar(test.cvar), enums(c))
		var got []string
		for _, cond := range e.Conditions {
			got = append(got, cond.String()+": "+string(cond.Met))
		}
		if diff := cmp.Diff(test.conditions, got); diff != "" || e.Read != test.read {
			t.Errorf("%s: read %q, want %q; conditions (-want +got):\n%s", test.cvar, e.Read, test.read, diff)
		}
	}
}

// A component that MPI_Init did not select is not in use, if both stages could be read.
func TestUnused(t *testing.T) {
	c := load(t, "openmpi-4.1.4.json")
	unused := func(name string) bool { return tuning.Own().Effect(c, c.Cvar(name), enums(c)).Unused }
	if !unused("pml_ucx_tls") || unused("pml_ob1_priority") {
		t.Errorf("pml ucx %v, pml ob1 %v", unused("pml_ucx_tls"), unused("pml_ob1_priority"))
	}
	c.After.Read = false
	if unused("pml_ucx_tls") {
		t.Error("a component is said to be unused though MPI_Init failed")
	}
	v := c.Cvar("btl_tcp_eager_limit")
	v.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Value: "64k"}
	if e := tuning.Own().Effect(c, v, enums(c)); e.Arrived != tuning.CannotTell || e.Accepted != tuning.CannotTell {
		t.Errorf("a setting is said to have arrived though MPI_Init failed: %+v", e)
	}
}

// Whether a setting arrived is seen in the value that the library has, however it was spelt.
func TestArrived(t *testing.T) {
	c := load(t, "openmpi-4.1.4.json")
	for _, test := range []struct {
		cvar, asked string
		want        tuning.Met
	}{
		{"coll_tuned_bcast_algorithm", "ignore", tuning.Yes}, {"coll_tuned_bcast_algorithm", "0", tuning.Yes},
		{"coll_tuned_bcast_algorithm", "binomial", tuning.No}, {"coll_tuned_use_dynamic_rules", "no", tuning.Yes},
		{"coll_tuned_use_dynamic_rules", "1", tuning.No}, {"btl_tcp_eager_limit", "65536", tuning.Yes},
		{"btl_tcp_eager_limit", "64k", tuning.Yes}, {"btl_tcp_eager_limit", "8k", tuning.No}, {"btl_tcp_eager_limit", "unlimited", tuning.CannotTell}, {"mpi_abort_delay", "abc", tuning.No},
		{"btl_tcp_eager_limit", "1024", tuning.No}, {"btl_tcp_eager_limit", "", ""},
		{"btl_self_flags", "send,put,get,inplace", tuning.Yes},
		{"btl_tcp_if_include", "192.0.2.0/24", tuning.CannotTell}, {"btl_tcp_if_exclude", "127.0.0.1/8,eth9", tuning.CannotTell}, {"btl_tcp_if_include", "eth9", tuning.No},
		{"orte_default_hostfile", "none", tuning.CannotTell}, {"orte_default_hostfile", "/a/b", tuning.No}, {"btl_tcp_progress_thread", "1/2", tuning.No},
	} {
		v := c.Cvar(test.cvar)
		v.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Value: test.asked}
		if e := tuning.Own().Effect(c, v, enums(c)); e.Arrived != test.want {
			t.Errorf("%s=%s: %q, want %q (%+v)", test.cvar, test.asked, e.Arrived, test.want, e)
		}
	}
}

// A setting of some ranks only is compared with the values of these ranks. What has not arrived on one of them counts.
func TestArrivedOnRanks(t *testing.T) {
	c := load(t, "openmpi-4.1.4.json")
	c.Job.Size, c.Job.Ranks = 3, []catalog.Rank{{Rank: 0}, {Rank: 1}, {Rank: 2}}
	v := c.Cvar("btl_tcp_links") // 1
	reading := *v.After
	reading.Value = catalog.NewValue(catalog.TypeUnsigned, []byte{3, 0, 0, 0})
	v.Ranks = []catalog.RankReading{{Rank: 1, Reading: reading}, {Rank: 2, Reading: reading}}
	set := func(value string) *catalog.Origin {
		return &catalog.Origin{Kind: catalog.OriginEnvironment, Value: value}
	}
	for _, test := range []struct {
		one, two string
		want     tuning.Met
		have     string
	}{{"3", "3", tuning.Yes, ""}, {"3", "4", tuning.No, "3 on rank 2"}, {"4", "3", tuning.No, "3 on rank 1"}} {
		v.Origins = []catalog.RankOrigin{{Rank: 1, Origin: set(test.one)}, {Rank: 2, Origin: set(test.two)}}
		if e := tuning.Own().Effect(c, v, enums(c)); e.Arrived != test.want || e.Have != test.have {
			t.Errorf("%+v: %+v", test, e)
		}
	}
}

// MPICH reports the default of texts, so that nothing is known about another one that was set, also for conditions on it.
func TestUnreported(t *testing.T) {
	for _, library := range []string{"mpich-4.0.2.json", "mpich-4.2.1.json", "mpich-5.0.2.json"} {
		c := load(t, library)
		level, other := c.Cvar("MPIR_CVAR_DEFAULT_THREAD_LEVEL"), c.Cvar("MPIR_CVAR_ASYNC_PROGRESS")
		arrived := func(v *catalog.Variable, asked string) tuning.Effect {
			v.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Value: asked}
			return tuning.Own().Effect(c, v, enums(c))
		}
		if e := arrived(level, "MPI_THREAD_SINGLE"); e.Arrived != tuning.Yes || e.Unreported != "" {
			t.Errorf("%s: the default: %+v", library, e)
		}
		if e := arrived(other, "1"); e.Arrived != tuning.No || e.Unreported != "" || e.Written != "" {
			t.Errorf("%s: a number: %+v", library, e)
		}
		if e := arrived(level, "MPI_THREAD_MULTIPLE"); e.Arrived != tuning.CannotTell || e.Unreported != catalog.WhyUnreported || e.Have != "MPI_THREAD_SINGLE" || e.Written != catalog.WhyUnused {
			t.Errorf("%s: another text: %+v", library, e)
		}
		k := tuning.Own()
		if err := k.AddRules("rules", "mpich * MPIR_CVAR_ASYNC_PROGRESS\n\tneeds MPIR_CVAR_DEFAULT_THREAD_LEVEL = MPI_THREAD_MULTIPLE\n\tfrom here\n"); err != nil {
			t.Fatal(err)
		}
		if e := k.Effect(c, other, enums(c)); e.Fails() != nil {
			t.Errorf("%s: a condition on what was set: %v", library, e.Fails())
		}
	}
}

// From Open MPI 5.0 on, coll han runs the common collectives in communicators that span nodes, unless its priority is lower.
func TestHan(t *testing.T) {
	const text = "in communicators that span nodes, coll_han_priority must be less than coll_tuned_priority (30); coll_han_priority is 35"
	for _, test := range []struct {
		cvar  string
		hosts int
		han   string
		want  string
	}{
		{"coll_tuned_bcast_algorithm", 1, "35", text + ", but these processes are on one node: unknown, fix coll_han_priority=29"},
		{"coll_tuned_bcast_algorithm", 2, "35", text + ": no, fix coll_han_priority=29"},
		{"coll_tuned_alltoallv_algorithm", 2, "35", text + ": no, fix coll_han_priority=29"},
		{"coll_tuned_allreduce_algorithm_segmentsize", 2, "5", strings.ReplaceAll(text, "is 35", "is 5") + ": yes, fix coll_han_priority=29"},
		{"coll_tuned_reduce_scatter_algorithm", 2, "35", ""},
	} {
		c := load(t, "openmpi-6.0.0rc2.json")
		set(t, c, "coll_han_priority", test.han)
		for k := range c.Job.Ranks {
			c.Job.Ranks[k].Host = []string{"a", "b"}[k%test.hosts]
		}
		got := ""
		for _, cond := range tuning.Own().Effect(c, c.Cvar(test.cvar), enums(c)).Conditions {
			if strings.Contains(cond.Text, "coll_han") {
				got = cond.String() + ": " + string(cond.Met) + ", fix " + strings.Join(cond.Fix, " ")
			}
		}
		if got != test.want {
			t.Errorf("%s on %d nodes: %q, want %q", test.cvar, test.hosts, got, test.want)
		}
		c.Library.Text = "Open MPI v4.1.4"
		for _, cond := range tuning.Own().Effect(c, c.Cvar(test.cvar), enums(c)).Conditions {
			if strings.Contains(cond.Text, "coll_han") {
				t.Errorf("release 4.1: %s", cond.Text)
			}
		}
	}
}

// A user's rule that needs a variable which the library does not have is reported with its place; mpitx's own rules serve several
// releases.
func TestUnknownVariables(t *testing.T) {
	k := tuning.Own()
	c := load(t, "openmpi-4.1.4.json")
	if got := k.Unknown(c); got != nil {
		t.Error(got)
	}
	text := "openmpi * btl_tcp_links\n\tneeds btl_tcp_link = 3\n\tfrom x\nopenmpi >=5 btl_tcp_links\n\tneeds nosuch = 3\n\tfrom x\nopenmpi * none_such\n\tneeds nosuch = 3\n\tfrom x\n"
	if err := k.AddRules("mine", text); err != nil {
		t.Fatal(err)
	}
	want := "mine:2: needs btl_tcp_link: the library has no such control variable; did you mean btl_tcp_links"
	if got := k.Unknown(c); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("%q, want %s", got, want)
	}
}

// Rules and essentials of users are read in the same form; a line that is wrong is named.
func TestUserFiles(t *testing.T) {
	k := tuning.Own()
	if err := k.AddRules("rules", "openmpi >=4,<5 mpi_param_check\n\tread file\n\tneeds mpi_abort_delay > 5\n\tfrom a test\n"); err != nil {
		t.Fatal(err)
	}
	if err := k.AddEssentials("essentials", "[openmpi Mine]\nbtl_tcp_if_include  only ib0 works here\nmpi_abort_delay  wait\n"); err != nil {
		t.Fatal(err)
	}
	c := load(t, "openmpi-4.1.4.json")
	e := k.Effect(c, c.Cvar("mpi_param_check"), enums(c))
	if f := e.Fails(); f == nil || f.String() != "mpi_abort_delay must be greater than 5; it is 0" || f.Source != "a test" {
		t.Errorf("%+v", e)
	}
	groups := k.Essentials(c)
	if g := groups[len(groups)-1]; g.Title != "Mine" || len(g.Cvars) != 2 || g.Uses[0] != "only ib0 works here" || g.Uses[1] != "wait" {
		t.Errorf("%+v", g)
	}
	c.Library.Text = "Open MPI v5.0.7"
	if e := k.Effect(c, c.Cvar("mpi_param_check"), enums(c)); e.Fails() != nil {
		t.Errorf("a rule for release 4 holds for %s: %+v", c.Library.Text, e)
	}
	for text, want := range map[string]string{
		"openmpi * x\n\tread init\n":                       "f:1: this rule has no source",
		"\nopenmpi * x\nopenmpi * y\n\tfrom z\n":           "f:2: this rule has no source",
		"openmpi * x\nopenmpi * y\n\tread soon\n":          "f:1: this rule has no source",
		"openmpi * x\n\tacross racks\n\tfrom y\n":          "f:2: across racks: use across nodes",
		"openmpi * x\n\tnames files\n\tfrom y\n":           "f:2: names files: use names file",
		"intel * x\n\tfrom y\n":                            `f:1: "intel" is not a family`,
		"openmpi 4..x x\n\tfrom y\n":                       `f:1: "4..x" is not a range of versions`,
		"\tread init\n":                                    "f:1: a line FAMILY VERSIONS NAMES must come first",
		"openmpi * x y\n":                                  "f:1: a rule starts with FAMILY VERSIONS NAMES",
		"mpich * x\n\tdevice [\n\tfrom y\n":                "f:2: device [: must be a pattern of devices",
		"mpich * x\n\tbuilt\n\tfrom y\n":                   "f:2: built : must be the NAME",
		"mpich * x\n\tbuilt --a by default [\n\tfrom y\n":  "f:2: built --a by default [: [ is not a pattern",
		"mpich * x\n\tbuilt --a by ch4\n\tfrom y\n":        "f:2: built --a by ch4: must be the NAME",
		"mpich * x\n\tpvars\n\tfrom y\n":                   "f:2: pvars : must be a pattern",
		"openmpi * x\n\tbeyond btl_sm vader\n\tfrom y\n":   "f:2: beyond btl_sm vader: must be components",
		"openmpi * x\n\tbeyond\n\tfrom y\n":                "f:2: beyond : must be components",
		"openmpi * x\n\tonly\n\tfrom y\n":                  "f:2: only: must say where",
		"openmpi * [\n\tfrom y\n":                          `f:1: "["`,
		"openmpi * x\n\tread soon\n\tfrom y\n":             "f:2: read soon: use init",
		"openmpi * x\n\tneeds a ~ b\n\tfrom y\n":           "f:2: needs a ~ b: must be NAME OP VALUE",
		"# comment\n\nopenmpi * x\n\tselected pml\n\tfrom": "f:4: selected pml: must be FRAMEWORK_COMPONENT",
	} {
		if err := tuning.Own().AddRules("f", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"pml x\n":        "f:1: a line [FAMILY PURPOSE] must come first",
		"[intel X]\n":    `f:1: "intel" is not a family`,
		"[mpich X]\n[\n": `f:2: "["`,
	} {
		if err := tuning.Own().AddEssentials("f", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A version is compared with as many numbers as a range has.
func TestVersionRange(t *testing.T) {
	for _, test := range []struct {
		versions string
		in, out  []string
	}{
		{"=4.1", []string{"4.1", "4.1.4"}, []string{"4.2", "4.0.9", "5.1"}},
		{"<=4.1", []string{"4.0.2", "4.1.4"}, []string{"4.2.0"}},
		{">4.1", []string{"4.2.0", "5"}, []string{"4.1", "4.1.4"}},
		{">=5.0.0", []string{"5.0", "5.0.7", "6"}, []string{"4.9.9"}},
		{">=4.1,<5", []string{"4.1.0", "4.9"}, []string{"5.0.0", "4.0.7"}},
	} {
		k := tuning.Own()
		if err := k.AddRules("rules", "mpich "+test.versions+" MPIR_CVAR_ENABLE_HCOLL\n\tread file\n\tfrom here\n"); err != nil {
			t.Fatal(err)
		}
		c := load(t, "mpich-4.0.2.json")
		for _, version := range slices.Concat(test.in, test.out) {
			c.Library.Text = "MPICH Version:\t" + version
			in := k.Effect(c, c.Cvar("MPIR_CVAR_ENABLE_HCOLL"), enums(c)).Read == tuning.AtFile
			if in != slices.Contains(test.in, version) {
				t.Errorf("%s in %s: %v", version, test.versions, in)
			}
		}
	}
}
