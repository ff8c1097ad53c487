package diff

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mpitx/catalog"
)

// at is a catalog of one person's place: a value with the home directory, one with user, host and temporary directory, and one with
// a number.
func at(home, user, host, tmp string, links byte) *catalog.Catalog {
	text := func(name, value string) catalog.Variable {
		return catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeChar, Before: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText(value)}}
	}
	c := &catalog.Catalog{Library: catalog.Library{Text: "Open MPI v4.1.4"}, Before: catalog.Stage{Read: true}}
	c.Job = catalog.Job{Size: 1, Ranks: []catalog.Rank{{Host: host}}, Home: home, User: user, Tmp: tmp}
	c.Cvars = []catalog.Variable{
		{Kind: catalog.Cvars, Name: "btl_tcp_links", Type: catalog.TypeInt, Before: &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeInt, []byte{links, 0, 0, 0})}},
		text("mca_base_param_files", home+"/.openmpi/mca-params.conf,/etc/openmpi-mca-params.conf"),
		text("session_dir", tmp+"/ompi."+host+"."+user),
	}
	return c
}

// Values that differ only in the home directory, user, host or temporary directory count as equal. All others differ.
func TestPlaces(t *testing.T) {
	a := at("/home/ann", "ann", "n1", "/tmp", 1)
	for _, x := range []struct {
		b    *catalog.Catalog
		want []string
	}{
		{at("/home/bob", "bob", "n2", "/scratch/bob", 1), nil},
		{at("/home/bob", "bob", "n2", "/scratch/bob", 2), []string{`changed btl_tcp_links; default "1" -> "2"`}},
	} {
		d := compare(a, x.b)
		if diff := cmp.Diff(x.want, lines(d)); diff != "" {
			t.Error(diff)
		}
		if want := "Values that differ only in the home directory, user, host or temporary directory are not listed: mca_base_param_files, session_dir"; !slices.Contains(d.Notes, want) {
			t.Errorf("%q", d.Notes)
		}
	}
	b := at("/home/bob", "bob", "n2", "/scratch/bob", 1)
	b.Cvars[1].Before.Value = catalog.NewText("/home/bob/other/mca-params.conf,/etc/openmpi-mca-params.conf")
	if got := strings.Join(lines(compare(a, b)), "; "); !strings.Contains(got, "mca_base_param_files") {
		t.Errorf("another file at home: %s", got)
	}
}

// Snapshots of earlier releases do not have the home directory: Open MPI's parameter file is in it.
func TestPlaceOfOldSnapshots(t *testing.T) {
	a, b := at("/home/ann", "", "n1", "/tmp", 1), at("/root", "", "n1", "/tmp", 1)
	for _, c := range []*catalog.Catalog{a, b} {
		c.Job = catalog.Job{Size: 1, Ranks: c.Job.Ranks}
		c.Cvars[2].Before.Value = catalog.NewText("/tmp")
	}
	if d := compare(a, b); !d.Same() {
		t.Error(lines(d))
	}
	// A parameter file that the user names says nothing about the home directory.
	b.Cvars[1].Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_mca_base_param_files"}
	if d := compare(a, b); d.Same() {
		t.Error("a file that the user chose is a difference")
	}
}

// Settings beyond MPI_T are compared by name, with their places.
func TestOutside(t *testing.T) {
	set := func(name, value string, kind catalog.OriginKind, where string) catalog.Setting {
		return catalog.Setting{Name: name, Reader: "UCX", Origin: catalog.Origin{Kind: kind, Where: where, Value: value}}
	}
	a, b := at("/home/ann", "ann", "n1", "/tmp", 1), at("/home/bob", "bob", "n2", "/tmp", 1)
	a.Outside = []catalog.Setting{set("UCX_TLS", "tcp", catalog.OriginEnvironment, "UCX_TLS"), set("--bind-to", "core", catalog.OriginLauncher, "mpirun --bind-to core"),
		set("UCX_LOG_FILE", "/home/ann/log", catalog.OriginEnvironment, "UCX_LOG_FILE")}
	b.Outside = []catalog.Setting{set("OMP_NUM_THREADS", "2", catalog.OriginEnvironment, "OMP_NUM_THREADS"), set("UCX_TLS", "self", catalog.OriginFile, "/home/bob/ucx.conf:3"),
		set("UCX_LOG_FILE", "/home/bob/log", catalog.OriginEnvironment, "UCX_LOG_FILE")}
	want := []string{
		`changed UCX_TLS; value "tcp (set in environment UCX_TLS)" -> "self (set in file /home/bob/ucx.conf:3)"`,
		"vanished --bind-to", "appeared OMP_NUM_THREADS",
	}
	for _, values := range []bool{false, true} {
		d := Compare(Side{Catalog: a}, Side{Catalog: b}, Options{Values: values})
		if diff := cmp.Diff(want, lines(d)); diff != "" {
			t.Error(diff)
		}
	}
	if d := Compare(Side{Catalog: a, Partial: true}, Side{Catalog: b}, Options{}); len(d.Items) != 0 {
		t.Errorf("a list without settings: %v", lines(d))
	}
}

// Settings of some ranks only are compared with their ranks.
func TestOutsideOnRanks(t *testing.T) {
	set := func(value string, ranks ...int) catalog.Setting {
		return catalog.Setting{Name: "UCX_TLS", Reader: "UCX", Origin: catalog.Origin{Kind: catalog.OriginEnvironment, Where: "UCX_TLS", Value: value}, Ranks: ranks}
	}
	a, b := at("/home/ann", "ann", "n1", "/tmp", 1), at("/home/ann", "ann", "n1", "/tmp", 1)
	for _, c := range []struct {
		a, b []catalog.Setting
		want []string
	}{
		{[]catalog.Setting{set("tcp", 0, 1)}, []catalog.Setting{set("tcp", 0, 1)}, nil},
		{[]catalog.Setting{set("tcp", 0, 1), set("self", 2)}, []catalog.Setting{set("tcp", 0, 1), set("self", 2)}, nil},
		{[]catalog.Setting{set("tcp", 0, 1)}, []catalog.Setting{set("tcp")}, []string{
			`changed UCX_TLS; value "tcp (set in environment UCX_TLS) on ranks 0-1" -> "tcp (set in environment UCX_TLS)"`}},
		{[]catalog.Setting{set("tcp", 0), set("self", 1, 2)}, []catalog.Setting{set("tcp", 0), set("all", 1, 2)}, []string{
			`changed UCX_TLS; value "tcp (set in environment UCX_TLS) on rank 0, self (set in environment UCX_TLS) on ranks 1-2" -> "tcp (set in environment UCX_TLS) on rank 0, all (set in environment UCX_TLS) on ranks 1-2"`}},
		{nil, []catalog.Setting{set("tcp", 3)}, []string{"appeared UCX_TLS"}},
		{[]catalog.Setting{set("/home/ann/x", 1)}, []catalog.Setting{set("/home/ann/x", 1)}, nil},
	} {
		a.Outside, b.Outside = c.a, c.b
		if diff := cmp.Diff(c.want, lines(Compare(Side{Catalog: a}, Side{Catalog: b}, Options{}))); diff != "" {
			t.Error(diff)
		}
	}
}

// A default that follows from what the user set is not a difference of its own. What proves it holds on both sides.
func TestFollows(t *testing.T) {
	side := func(eager, length, pipeline, tree, pinned int, set string) *catalog.Catalog {
		c := at("/home/ann", "ann", "n1", "/tmp", 1)
		for name, value := range map[string]int{"btl_tcp_eager_limit": eager, "btl_tcp_rdma_pipeline_send_length": length, "btl_tcp_min_rdma_pipeline_size": pipeline,
			"coll_tuned_init_tree_fanout": tree, "coll_tuned_bcast_algorithm_tree_fanout": tree, "mpi_leave_pinned": pinned, "opal_leave_pinned": pinned} {
			v := catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeInt}
			n, err := catalog.ParseValue(&v, nil, 1, strconv.Itoa(value))
			if err != nil {
				t.Fatal(err)
			}
			v.Before = &catalog.Reading{Status: catalog.StatusOK, Count: 1, Value: n}
			if name == set {
				v.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_" + name, Value: strconv.Itoa(value)}
			}
			c.Cvars = append(c.Cvars, v)
		}
		slices.SortFunc(c.Cvars, func(a, b catalog.Variable) int { return strings.Compare(a.Name, b.Name) })
		c.Before.Read = true
		return c
	}
	base := side(8, 100, 108, 4, -1, "")
	for _, c := range []struct {
		name string
		b    *catalog.Catalog
		want string
	}{
		{"sum", side(4, 100, 104, 4, -1, "btl_tcp_eager_limit"), "btl_tcp_eager_limit"},
		{"not the sum", side(4, 100, 99, 4, -1, "btl_tcp_eager_limit"), "btl_tcp_eager_limit btl_tcp_min_rdma_pipeline_size"},
		{"nobody set it", side(4, 100, 104, 4, -1, ""), "btl_tcp_eager_limit btl_tcp_min_rdma_pipeline_size"},
		{"copy", side(8, 100, 108, 7, -1, "coll_tuned_init_tree_fanout"), "coll_tuned_init_tree_fanout"},
		{"synonym", side(8, 100, 108, 4, 1, "mpi_leave_pinned"), "mpi_leave_pinned"},
		{"the other one", side(8, 100, 108, 4, 1, "opal_leave_pinned"), "opal_leave_pinned"},
	} {
		d := Compare(Side{Catalog: base}, Side{Catalog: c.b}, Options{})
		var names []string
		for _, it := range d.Items {
			names = append(names, it.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
