package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mpitx/catalog"
)

// snapshot loads a snapshot of fixtures/snapshots.
func snapshot(t testing.TB, name string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load("../../fixtures/snapshots/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// line describes an item as one line.
func line(it *Item) string {
	text := fmt.Sprintf("%s %s", it.Change, it.Name)
	if it.Change == Renamed {
		text += " -> " + it.NewName
	}
	for _, f := range it.Fields {
		text += fmt.Sprintf("; %s %q -> %q", f.Name, f.A, f.B)
	}
	return text
}

func lines(d *Diff) (all []string) {
	for i := range d.Items {
		all = append(all, line(&d.Items[i]))
	}
	return all
}

func compare(a, b *catalog.Catalog) *Diff {
	return Compare(Side{Catalog: a}, Side{Catalog: b}, Options{})
}

// Every kind of change is found, and the one that matters most for speed comes first.
func TestChanges(t *testing.T) {
	a, b := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-4.1.4")
	cvar := func(name string) *catalog.Variable {
		v := b.Cvar(name)
		if v == nil {
			t.Fatalf("no %s", name)
		}
		return v
	}
	han := cvar("coll_han_priority")
	five := catalog.NewValue(catalog.TypeInt, []byte{35, 0, 0, 0})
	han.Before.Value, han.After.Value = five, five
	cvar("coll_tuned_priority").Scope = catalog.ScopeAll
	cvar("mpi_abort_delay").Verbosity = catalog.VerbosityMPIDevAll
	cvar("btl_tcp_sndbuf").Type = catalog.TypeLong
	cvar("btl_tcp_rcvbuf").Bind = catalog.BindComm
	cvar("btl_tcp_if_include").Categories = []string{"opal_btl_tcp", "other"}
	cvar("btl_tcp_if_exclude").Description += " (new)"
	cvar("mpi_leave_pinned").After = &catalog.Reading{Status: catalog.StatusFaulty, Reason: "crashes"}
	b.Cvars = slices.DeleteFunc(b.Cvars, func(v catalog.Variable) bool { return v.Name == "pml_ob1_unexpected_limit" })
	for i := range b.Cvars {
		if s, ok := strings.CutPrefix(b.Cvars[i].Name, "btl_vader_"); ok {
			b.Cvars[i].Name = "btl_shared_" + s
		}
	}
	b.Cvars = append(b.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: "coll_acoll_priority", Type: catalog.TypeInt, Before: &catalog.Reading{Status: "ok", Value: five}})
	e := b.Enum("coll_tuned_bcast_algorithms")
	e.Items = append(slices.Clone(e.Items), catalog.Item{Value: 99, Name: "telepathy"})
	b.Pvars[0].Class = catalog.ClassLevel
	d := compare(a, b)
	all := lines(d)
	for _, want := range []string{
		`changed coll_han_priority; default "0" -> "35"`,
		`changed coll_tuned_priority; scope "readonly" -> "all"`,
		`changed mpi_abort_delay; verbosity "tuner-detail" -> "mpidev-all"`,
		`changed btl_tcp_sndbuf; type "int" -> "long"`,
		`changed btl_tcp_rcvbuf; binding "none" -> "comm"`,
		`changed btl_tcp_if_include; category "" -> "other"`,
		`changed mpi_leave_pinned; reading "auto" -> "faulty: crashes"`,
		`vanished pml_ob1_unexpected_limit`,
		`appeared coll_acoll_priority`,
		`renamed btl_vader_eager_limit -> btl_shared_eager_limit`,
		`renamed btl_vader_single_copy_mechanism -> btl_shared_single_copy_mechanism`,
		`changed coll_tuned_bcast_algorithms; items "" -> "99 telepathy"`,
		`changed coll_tuned_bcast_algorithm; items "" -> "99 telepathy"`,
		`changed ` + a.Pvars[0].ID() + `; class "` + a.Pvars[0].Class.String() + `" -> "level"`,
	} {
		if !slices.Contains(all, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if n := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, "changed btl_tcp_if_exclude; description") }); n < 0 {
		t.Error("no changed description")
	} else if !strings.Contains(d.Items[n].Reason, "description only") {
		t.Error(d.Items[n].Reason)
	}
	if len(all) > 0 && !strings.HasPrefix(all[0], "changed coll_han_priority") {
		t.Errorf("first: %s", all[0])
	}
	if n := d.Count("renamed"); n != 29 {
		t.Errorf("%d renamed", n)
	}
	if t.Failed() {
		t.Log(strings.Join(all, "\n"))
	}
}

// Two releases of each library. The answer to a real question is near the top: since Open MPI 5, coll/han runs many collectives.
func TestReleases(t *testing.T) {
	han := func(d *Diff) int {
		return slices.IndexFunc(lines(d), func(s string) bool {
			return strings.HasPrefix(s, `changed coll_han_priority; default "0" -> "35"`)
		})
	}
	if n := han(compare(snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-5.0.7"))); n < 0 || n > 9 {
		t.Errorf("from 4.1.4 to 5.0.7, coll_han_priority is item %d", n)
	}
	if n := han(compare(snapshot(t, "openmpi-5.0.7"), snapshot(t, "openmpi-6.0.0rc2"))); n >= 0 {
		t.Errorf("from 5.0.7 to 6.0.0rc2, coll_han_priority changed")
	}
	for _, s := range lines(compare(snapshot(t, "openmpi-5.0.7"), snapshot(t, "openmpi-6.0.0rc2"))) {
		if strings.HasPrefix(s, "changed btl_self_flags; ") && s != `changed btl_self_flags; items "" -> "8388608 rdma-remote-completion"` {
			t.Errorf("only the name of a value changed: %s", s)
		}
	}
	d := compare(snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-6.0.0rc2"))
	if n := han(d); n < 0 || n > 9 {
		t.Errorf("from 4.1.4 to 6.0.0rc2, coll_han_priority is item %d", n)
	}
	for _, s := range lines(d) {
		if strings.HasPrefix(s, "renamed btl_openib") {
			t.Errorf("openib vanished, but: %s", s)
		}
	}
	for _, test := range []struct {
		a, b string
		want []string
	}{
		{"mpich-4.0.2", "mpich-4.2.1", []string{"renamed MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE -> MPIR_CVAR_CH4_PACK_BUFFER_SIZE;",
			"renamed MPIR_CVAR_CH4_OFI_MAX_NUM_PACK_BUFFERS -> MPIR_CVAR_CH4_MAX_NUM_PACK_BUFFERS;",
			`changed MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD; default "4096" -> "16384"`, `changed MPIR_CVAR_OFI_SKIP_IPV6; default "1" -> "0"`}},
		{"mpich-4.2.1", "mpich-5.0.2", []string{"renamed MPIR_CVAR_CH4_IPC_GPU_FAST_COPY_MAX_SIZE -> MPIR_CVAR_GPU_FAST_COPY_MAX_SIZE;",
			`changed MPIR_CVAR_CH4_IPC_XPMEM_P2P_THRESHOLD; default "16384" -> "65536"`, "appeared MPIR_CVAR_CH4_CMA_ENABLE"}},
		{"mpich-4.0.2", "mpich-5.0.2", []string{"renamed MPIR_CVAR_CH4_AM_PACK_BUFFER_SIZE -> MPIR_CVAR_CH4_PACK_BUFFER_SIZE;",
			"renamed MPIR_CVAR_CH4_OFI_MAX_NUM_PACK_BUFFERS -> MPIR_CVAR_CH4_MAX_NUM_PACK_BUFFERS;",
			`changed MPIR_CVAR_CH4_IPC_GPU_P2P_THRESHOLD; default "32768" -> "1048576"`, "appeared MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD"}},
	} {
		all := strings.Join(lines(compare(snapshot(t, test.a), snapshot(t, test.b))), "\n")
		for _, want := range test.want {
			if !strings.Contains(all, want) {
				t.Errorf("from %s to %s: missing: %s", test.a, test.b, want)
			}
		}
	}
}

// Components that both sides have are different things, even if their variables have equal descriptions.
func TestNotRenamed(t *testing.T) {
	a, b := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-4.1.4")
	without := func(c *catalog.Catalog, name string) {
		c.Cvars = slices.DeleteFunc(c.Cvars, func(v catalog.Variable) bool { return v.Name == name })
	}
	without(a, "btl_tcp_eager_limit")
	without(b, "btl_vader_eager_limit")
	if d := compare(a, b); d.Count("renamed") != 0 || len(d.Items) != 2 {
		t.Error(lines(d))
	}
}

// A component that stays is not renamed to one that appeared. Open MPI 5 has the variables of sm also under their old name, vader.
func TestSynonyms(t *testing.T) {
	old, now := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-5.0.7")
	for _, d := range []*Diff{compare(old, now), compare(now, old)} {
		sm := 0
		for i := range d.Items {
			it := &d.Items[i]
			if it.Change == Renamed && strings.HasPrefix(it.Name, "btl_") {
				t.Error(line(it))
			}
			want := ""
			if rest, ok := strings.CutPrefix(it.Name, "btl_sm_"); ok {
				want, sm = "btl_vader_"+rest, sm+1
			}
			got := ""
			if it.Is(synonym) {
				got = it.Fields[0].A + it.Fields[0].B
			}
			if got != want {
				t.Errorf("%s: also known as %q, not %q", line(it), got, want)
			}
		}
		if sm != 20 {
			t.Errorf("%d variables of sm", sm)
		}
	}
	v := now.Cvar("btl_sm_eager_limit") // one that differs: then these are two components
	v.Before = &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeUnsignedLong, []byte{1, 0, 0, 0, 0, 0, 0, 0})}
	v.After = v.Before
	if d := compare(old, now); d.Count(synonym) != 0 {
		t.Error(d.Count(synonym))
	}
}

// Memory that the library never initialized is not compared: of known variables, and in booleans other than 0 and 1.
func TestUninitialized(t *testing.T) {
	wild := func(name string, bytes ...byte) *catalog.Catalog {
		c := snapshot(t, "openmpi-5.0.7")
		v := c.Cvar(name)
		v.Before.Value = catalog.NewValue(v.Type, bytes)
		return c
	}
	for _, test := range []struct {
		name    string
		b       byte
		ignored bool
	}{{"pml_ucx_multi_send_nb", 1, true}, {"pml_ucx_multi_send_nb", 56, true}, {"mpi_show_handle_leaks", 56, true}, {"mpi_show_handle_leaks", 1, false}} {
		d := compare(wild(test.name, 0), wild(test.name, test.b))
		noted := slices.Contains(d.Notes, "Values that the library never initialized are not compared: "+test.name)
		if d.Same() != test.ignored || noted != test.ignored {
			t.Error(test, lines(d), d.Notes)
		}
	}
}

// The values of one user's settings, and what only one side's user set.
func TestValues(t *testing.T) {
	a, b := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-4.1.4")
	v := b.Cvar("btl_tcp_eager_limit")
	v.Before.Value = catalog.NewValue(catalog.TypeInt, []byte{0, 4, 0, 0})
	v.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl_tcp_eager_limit"}
	v.Description = "other"
	b.Cvars = append(b.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: "mine", Origin: v.Origin, Before: v.Before}, catalog.Variable{Kind: catalog.Cvars, Name: "unset"})
	d := Compare(Side{Catalog: a}, Side{Catalog: b}, Options{Values: true})
	want := []string{`changed btl_tcp_eager_limit; value "65536" -> "1024 (set in environment OMPI_MCA_btl_tcp_eager_limit)"`, `appeared mine`}
	if diff := cmp.Diff(want, lines(d)); diff != "" {
		t.Error(diff)
	}
	if want := "Not compared: 1 variable that only B has"; !slices.Contains(d.Notes, want) {
		t.Error(d.Notes)
	}
}

// Of ranks that were set differently, each value has its own origin, and MPI_Init is not said to have changed any.
func TestOriginsOfRanks(t *testing.T) {
	value := func(n byte) catalog.Reading {
		return catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewValue(catalog.TypeUnsigned, []byte{n, 0, 0, 0}), Count: 1}
	}
	job := func() *catalog.Catalog {
		c := snapshot(t, "openmpi-4.1.4")
		host := c.Job.Ranks[0].Host
		c.Job.Size, c.Job.Ranks = 2, []catalog.Rank{{Rank: 0, Host: host}, {Rank: 1, Host: host}}
		v := c.Cvar("btl_tcp_links")
		v.Origins = []catalog.RankOrigin{{Rank: 1, Origin: &catalog.Origin{Kind: catalog.OriginLauncher, Where: "-x", Value: "3"}}}
		v.Ranks = []catalog.RankReading{{Rank: 1, Reading: value(3)}}
		return c
	}
	on := func(c *catalog.Catalog, rank int) *catalog.Catalog {
		c, err := catalog.OnRank(c, rank)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, x := range []struct {
		a, b *catalog.Catalog
		want string
	}{
		{on(job(), 0), on(job(), 1), `changed btl_tcp_links; value "1" -> "3 (set in launcher -x)"`},
		{on(job(), 1), on(job(), 0), `changed btl_tcp_links; value "3 (set in launcher -x)" -> "1"`},
		{snapshot(t, "openmpi-4.1.4"), job(), `changed btl_tcp_links; value "1" -> "1 on rank 0, 3 on rank 1 (set in launcher -x on rank 1)"`},
	} {
		if diff := cmp.Diff([]string{x.want}, lines(compare(x.a, x.b))); diff != "" {
			t.Error(diff)
		}
	}
}

// What was set counts if the library reports its default instead.
func TestUnreported(t *testing.T) {
	a, b := snapshot(t, "mpich-4.0.2"), snapshot(t, "mpich-4.0.2")
	a.Cvar("MPIR_CVAR_DEFAULT_THREAD_LEVEL").Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Value: "MPI_THREAD_MULTIPLE"}
	want := []string{`changed MPIR_CVAR_DEFAULT_THREAD_LEVEL; value "MPI_THREAD_MULTIPLE (set in environment, the library does not report it)" -> "MPI_THREAD_SINGLE"`}
	if diff := cmp.Diff(want, lines(compare(a, b))); diff != "" {
		t.Error(diff)
	}
}

// Values that differ from process to process are named, and do not count as differences.
func TestProcessValues(t *testing.T) {
	a, b := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-4.1.4")
	for _, name := range []string{"orte_hnp_uri", "orte_ess_vpid", "orte_ess_num_procs", "orte_app_num", "orte_jobfam_session_dir"} {
		v := b.Cvar(name)
		v.After = &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("other")}
	}
	a.Cvar("orte_jobfam_session_dir").After.Value = catalog.NewText("/tmp/ompi.h.0/pid.1") // the fixture hides it
	for _, o := range []Options{{}, {Values: true}} {
		d := Compare(Side{Catalog: a}, Side{Catalog: b}, o)
		if len(d.Items) != 1 || d.Items[0].Name != "orte_ess_num_procs" {
			t.Error(lines(d))
		}
		if want := "Values that differ from process to process are not compared: orte_app_num, orte_ess_vpid, orte_hnp_uri, orte_jobfam_session_dir"; !slices.Contains(d.Notes, want) {
			t.Error(d.Notes)
		}
	}
	own := Unsteady(a, b)
	if d := Compare(Side{Catalog: a, Unsteady: own}, Side{Catalog: b}, Options{}); len(own) != 1 || len(d.Items) != 0 || !strings.Contains(d.Notes[0], "orte_ess_num_procs") {
		t.Error(own, d.Notes, lines(d))
	}
}

// A setting under a name that vanished has no effect any more, so it comes first.
func TestSetAndVanished(t *testing.T) {
	a, b := snapshot(t, "openmpi-4.1.4"), snapshot(t, "openmpi-4.1.4")
	a.Cvar("btl_tcp_eager_limit").Origin = &catalog.Origin{Kind: catalog.OriginFile}
	b.Cvars = slices.DeleteFunc(b.Cvars, func(v catalog.Variable) bool { return strings.HasPrefix(v.Name, "btl_tcp_") })
	d := compare(a, b)
	if it := d.Items[0]; it.Name != "btl_tcp_eager_limit" || !strings.HasPrefix(it.Reason, "set in A, and B ignores the old name") {
		t.Errorf("%s: %s", line(&it), it.Reason)
	}
}

// What limits a comparison is said.
func TestNotes(t *testing.T) {
	open, mpich := snapshot(t, "openmpi-4.1.4"), snapshot(t, "mpich-4.0.2")
	d := compare(open, mpich)
	if len(d.Notes) != 1 || !strings.HasPrefix(d.Notes[0], "A is Open MPI and B is MPICH: they share no names") || d.Count("renamed") > 0 {
		t.Error(d.Notes, d.Count("renamed"))
	}
	single := snapshot(t, "openmpi-4.1.4")
	single.After = catalog.Stage{Error: "MPI_Init failed"}
	single.Cvars = slices.DeleteFunc(single.Cvars, func(v catalog.Variable) bool { return v.Before == nil })
	for i := range single.Cvars {
		single.Cvars[i].After = nil
	}
	if d := compare(open, single); len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "B has only the stage before MPI_Init. Not compared: 28 entries found only after it in A") || len(d.Items) > 0 {
		t.Error(d.Notes, lines(d))
	}
}

// Texts of redacted snapshots are compared as far as they are there.
func TestRedacted(t *testing.T) {
	for _, x := range []struct {
		a, b string
		same bool
	}{
		{"<path>/libmpi.so", "/usr/lib/libmpi.so", true}, {"<path>/libmpi.so", "/usr/lib/libmpich.so", false},
		{"a:<path>:b", "a:/x:/y:b", true}, {"a:<path>:b", "a:b", false}, {"<path>", "<path>", true},
		{"<none> means all", "x means all", false}, {"", "<path>", true}, {"1", "2", false},
	} {
		if sameText(x.a, x.b) != x.same || sameText(x.b, x.a) != x.same {
			t.Errorf("%q, %q: not %v", x.a, x.b, x.same)
		}
	}
}

func TestLibraryName(t *testing.T) {
	for _, s := range []struct{ snapshot, name, implementation string }{{"openmpi-4.1.4", "Open MPI 4.1.4", "Open MPI"}, {"mpich-4.0.2", "MPICH 4.0.2", "MPICH"}} {
		l := &snapshot(t, s.snapshot).Library
		if LibraryName(l) != s.name || Implementation(l) != s.implementation {
			t.Errorf("%q, %q", LibraryName(l), Implementation(l))
		}
	}
}

func namesOf(all ...*catalog.Catalog) (names []string) {
	for _, c := range all {
		for i := range c.Cvars {
			names = append(names, c.Cvars[i].Name)
		}
	}
	return names
}

func TestRules(t *testing.T) {
	if _, err := compiled(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"change x", "weight 101 a b c", "weight 5 * ( b", "weight 5 * a", "wait 5 * a b"} {
		if _, err := parseRules(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	r := builtinRules()
	for _, name := range namesOf(snapshot(t, "openmpi-6.0.0rc2"), snapshot(t, "mpich-5.0.2")) { // the search for needles hides no match
		for _, x := range append(slices.Concat(slices.Collect(maps.Values(r.byFirst))...), r.any...) {
			if text := strings.ToLower(name); x.matches(text) != x.pattern.MatchString(text) {
				t.Fatalf("%s: %s, %q", name, x.pattern, x.needles)
			}
		}
	}
	for name, least := range map[string]int{"coll_han_priority": 95, "btl_sm_eager_limit": 90, "pml": 100, "MPIR_CVAR_BCAST_INTRA_ALGORITHM": 90, "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE": 90} {
		if r.of(name).weight < least {
			t.Errorf("%s: %d", name, r.of(name).weight)
		}
	}
	for name, most := range map[string]int{"btl_base_verbose": 2, "coll_tuned_major_version": 1, "plm_rsh_agent": 15, "orte_ess_jobid": 15, "grpcomm_direct_priority": 20} {
		if r.of(name).weight > most {
			t.Errorf("%s: %d", name, r.of(name).weight)
		}
	}
}

// edit changes a catalog at random.
func edit(t *rapid.T, c *catalog.Catalog) *catalog.Catalog {
	out := *c
	out.Cvars, out.Pvars, out.Enums, out.Categories = slices.Clone(c.Cvars), slices.Clone(c.Pvars), slices.Clone(c.Enums), slices.Clone(c.Categories)
	taken := map[string]bool{}
	for i := range out.Cvars {
		taken[out.Cvars[i].Name] = true
	}
	for range rapid.IntRange(0, 30).Draw(t, "edits") {
		i := rapid.IntRange(0, len(out.Cvars)-1).Draw(t, "cvar")
		v := &out.Cvars[i]
		switch rapid.IntRange(0, 7).Draw(t, "edit") {
		case 0:
			out.Cvars = slices.Delete(out.Cvars, i, i+1)
		case 1:
			words := strings.Split(v.Name, "_")
			words[rapid.IntRange(0, len(words)-1).Draw(t, "word")] = rapid.SampledFrom([]string{"sm", "tcp", "x", "eager", "new"}).Draw(t, "new")
			if name := strings.Join(words, "_"); !taken[name] {
				v.Name, taken[name] = name, true
			}
		case 2:
			v.Description = rapid.SampledFrom([]string{"", "Priority of the component", v.Description + " more"}).Draw(t, "description")
		case 3:
			v.Type = rapid.SampledFrom([]catalog.Datatype{catalog.TypeInt, catalog.TypeChar}).Draw(t, "type")
		case 4:
			v.Before = &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText(rapid.StringMatching("[a-z]{0,3}").Draw(t, "value"))}
		case 5:
			v.After = nil
		case 6:
			k := rapid.IntRange(0, len(out.Enums)-1).Draw(t, "enum")
			out.Enums[k].Items = append(slices.Clone(out.Enums[k].Items), catalog.Item{Value: 77, Name: "more"})
		case 7:
			out.Categories = slices.Delete(slices.Clone(out.Categories), 3, 4)
		}
	}
	return &out
}

// A catalog does not differ from itself, and exchanging the sides mirrors every item.
func TestProperties(t *testing.T) {
	whole := snapshot(t, "openmpi-4.1.4")
	small := *whole
	small.Cvars = small.Cvars[:120]
	rapid.Check(t, func(t *rapid.T) {
		a, b := edit(t, &small), edit(t, &small)
		for _, o := range []Options{{}, {Values: true}} {
			if d := Compare(Side{Catalog: a}, Side{Catalog: a}, o); !d.Same() {
				t.Fatal(lines(d))
			}
			forth, back := Compare(Side{Catalog: a}, Side{Catalog: b}, o), Compare(Side{Catalog: b}, Side{Catalog: a}, o)
			want := map[string]float64{}
			for i := range back.Items {
				want[line(mirrored(&back.Items[i]))] = back.Items[i].Confidence
			}
			got := map[string]float64{}
			for i := range forth.Items {
				got[line(&forth.Items[i])] = forth.Items[i].Confidence
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func mirrored(it *Item) *Item {
	out := *it
	if out.A, out.B = it.B, it.A; it.Change == Renamed {
		out.Name, out.NewName = it.NewName, it.Name
	}
	switch it.Change {
	case Appeared:
		out.Change = Vanished
	case Vanished:
		out.Change = Appeared
	}
	out.Fields = nil
	for _, f := range it.Fields {
		out.Fields = append(out.Fields, Field{f.Name, f.B, f.A})
	}
	return &out
}

// The fields of every item are words of rules.txt.
func TestWordsHaveRules(t *testing.T) {
	r := builtinRules()
	words := append(texts(Changes), "value", "default", "reading", "items")
	for _, e := range []catalog.Entry{&catalog.Variable{Kind: catalog.Cvars}, &catalog.Variable{Kind: catalog.Pvars}, &catalog.Event{}, &catalog.Source{}, &catalog.Category{}, &catalog.Enum{}} {
		for _, a := range attributes(e) {
			words = append(words, a.name)
		}
	}
	for _, w := range words {
		if _, ok := r.changes[w]; !ok && w != string(Changed) {
			t.Errorf("rules.txt has no line for %q", w)
		}
	}
}

func texts(changes []Change) (all []string) {
	for _, c := range changes {
		all = append(all, string(c))
	}
	return all
}

// ompi_info leaves out the versions of components, unless it was asked for internal variables: they are counted, not listed.
func TestComponentVersions(t *testing.T) {
	full := snapshot(t, "openmpi-4.1.4")
	plain := *full
	plain.Cvars = slices.DeleteFunc(slices.Clone(full.Cvars), func(v catalog.Variable) bool {
		return v.Description == "" && strings.HasSuffix(v.Name, "_version") || v.Name == "mpi_preconnect_mpi" // internal, too, which MPI_T does not tell
	})
	synonyms := *full // of Open MPI 5, whose versions ompi_info prints
	synonyms.Cvars = append(slices.Clone(plain.Cvars), *full.Cvar("mpi_preconnect_mpi"), *full.Cvar("btl_vader_major_version"))
	internal := *full
	internal.Cvars = slices.DeleteFunc(slices.Clone(full.Cvars), func(v catalog.Variable) bool { return v.Name == "coll_han_major_version" })
	for _, c := range []struct {
		a, b  Side
		want  string
		count int
	}{
		{Side{Catalog: &synonyms, Partial: true}, Side{Catalog: full}, "", 356},
		{Side{Catalog: &plain, Partial: true}, Side{Catalog: full}, "appeared mpi_preconnect_mpi", 357},
		{Side{Catalog: full}, Side{Catalog: &plain, Partial: true}, "vanished mpi_preconnect_mpi", 357},
		{Side{Catalog: &internal, Partial: true}, Side{Catalog: full}, "appeared coll_han_major_version", 0},
		{Side{Catalog: &internal}, Side{Catalog: full}, "appeared coll_han_major_version", 0},
	} {
		d := Compare(c.a, c.b, Options{})
		notes := strings.Join(d.Notes, "; ")
		if got := strings.Join(lines(d), "; "); got != c.want || strings.Contains(notes, fmt.Sprint(c.count, " version numbers")) != (c.count > 0) {
			t.Errorf("%q, %s; want %s", got, notes, c.want)
		}
	}
}
