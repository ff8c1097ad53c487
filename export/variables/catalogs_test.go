package variables

import (
	"encoding/binary"
	"fmt"
	"strings"

	"mpitx/catalog"
)

// The catalogs of the tests.

func ints(t catalog.Datatype, n ...int64) catalog.Value {
	var b []byte
	for _, x := range n {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))[:len(b)+t.Size()]
	}
	return catalog.NewValue(t, b)
}

func chars(s string) catalog.Value { return catalog.NewValue(catalog.TypeChar, []byte(s+"\x00rest")) }

func ok(v catalog.Value) *catalog.Reading {
	return &catalog.Reading{Status: catalog.StatusOK, Value: v, Count: max(v.Len(), 1)}
}

func status(s catalog.Status, reason string) *catalog.Reading {
	return &catalog.Reading{Status: s, Reason: reason}
}

func writable(r *catalog.Reading, w catalog.Writable) *catalog.Reading { r.Writable = w; return r }

func on(rank int, r *catalog.Reading) catalog.RankReading {
	return catalog.RankReading{Rank: rank, Reading: *r}
}

func cvar(name string, t catalog.Datatype, before, after *catalog.Reading) catalog.Variable {
	return catalog.Variable{Kind: catalog.Cvars, Name: name, Type: t, Scope: catalog.ScopeAllEq,
		Verbosity: catalog.VerbosityTunerDetail, Bind: catalog.BindNoObject, Before: before, After: after}
}

func pvar(name string, class catalog.Class, t catalog.Datatype, after *catalog.Reading) catalog.Variable {
	return catalog.Variable{Kind: catalog.Pvars, Name: name, Type: t, Class: class, Verbosity: catalog.VerbosityUserBasic,
		Bind: catalog.BindNoObject, Continuous: true, After: after}
}

func job(size int) catalog.Job {
	j := catalog.Job{Size: size}
	for i := range size {
		j.Ranks = append(j.Ranks, catalog.Rank{Rank: i, Host: fmt.Sprintf("node%d", i/2)})
	}
	return j
}

// ordinary resembles Open MPI's catalog of a job of four ranks.
func ordinary() *catalog.Catalog {
	c := &catalog.Catalog{Creator: "mpitx test", Library: catalog.Library{Family: "openmpi", Standard: "3.1"}, Job: job(4),
		Before: catalog.Stage{Read: true, Cvars: 6}, After: catalog.Stage{Read: true, Cvars: 6, Pvars: 5, DeadCvars: 1}}

	flags := cvar("btl_tcp_flags", catalog.TypeUnsigned, ok(ints(catalog.TypeUnsigned, 1)), ok(ints(catalog.TypeUnsigned, 0x1005)))
	flags.Enum, flags.Categories = "btl_flags", []string{"btl_tcp"}

	exclusivity := cvar("btl_tcp_exclusivity", catalog.TypeInt, ok(ints(catalog.TypeInt, 100)),
		writable(ok(ints(catalog.TypeInt, 100)), catalog.WritableNotNow))
	exclusivity.Ranks = []catalog.RankReading{on(1, ok(ints(catalog.TypeInt, 3))), on(3, ok(ints(catalog.TypeInt, 5)))}
	exclusivity.Categories = []string{"btl_tcp"}
	exclusivity.Description = "BTL exclusivity (must be >= 0): the higher it is, the rather this component is chosen to reach " +
		"a process that several reach.\n\nOnly the components of the highest exclusivity are used."

	include := cvar("btl_tcp_if_include", catalog.TypeChar, ok(chars("")), ok(chars("eth0,eth1")))
	include.Origin = &catalog.Origin{Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl_tcp_if_include", Value: "eth0,eth1"}
	include.Categories, include.Scope = []string{"btl_tcp", "network"}, catalog.ScopeLocal
	include.After.Count, include.After.Writable = 2048, catalog.WritableYes
	include.Conflicts = []catalog.Conflict{{Rank: 2, Field: "scope", Here: "all", Root: "local"}}

	yield := cvar("mpi_yield_when_idle", catalog.TypeBool, ok(ints(catalog.TypeBool, 0)), ok(ints(catalog.TypeBool, 1)))
	yield.Enum, yield.Categories = "boolean", []string{"mpi"}

	ports := cvar("oob_tcp_port_range", catalog.TypeInt, ok(ints(catalog.TypeInt, 1024, 65535)), nil)
	ports.Scope, ports.Verbosity = catalog.ScopeReadonly, catalog.VerbosityMPIDevAll
	ports.Nodes = []catalog.RankReading{on(2, ok(ints(catalog.TypeInt, 2048, 65535)))}

	odd := cvar("zz_odd", catalog.Datatype(0x40000000+17), nil, ok(catalog.NewValue(catalog.Datatype(0x40000000+17), []byte{1, 0xfe})))
	odd.Scope = catalog.Scope(0x40000000 + 99)
	c.Cvars = []catalog.Variable{exclusivity, flags, include, yield, ports, odd}

	posted := pvar("pml_posted", catalog.ClassLevel, catalog.TypeUnsigned, ok(ints(catalog.TypeUnsigned, 0)))
	posted.Categories = []string{"mpi"}
	posted2 := pvar("pml_posted", catalog.ClassHighWatermark, catalog.TypeUnsigned, ok(ints(catalog.TypeUnsigned, 12)))
	bound := pvar("osc_put_retry", catalog.ClassCounter, catalog.TypeUnsignedLong, status(catalog.StatusUnbound, "needs a win"))
	bound.Bind = catalog.BindWin
	broken := pvar("mtl_psm2_rx", catalog.ClassCounter, catalog.TypeUnsignedLongLong, status(catalog.StatusFaulty, "crashes (SIGSEGV) in MPI_T_pvar_handle_alloc"))
	late := pvar("only_rank3", catalog.ClassTimer, catalog.TypeDouble, nil)
	late.Ranks = []catalog.RankReading{on(3, ok(ints(catalog.TypeDouble, 0x3ff8000000000000)))}
	c.Pvars = []catalog.Variable{broken, late, bound, posted, posted2}

	c.Categories = []catalog.Category{
		{Name: "btl", Description: "Byte transfer layer", Categories: []string{"btl_tcp"}, Before: true, After: true},
		{Name: "btl_tcp", Description: "TCP byte transfer layer", Cvars: []string{"btl_tcp_exclusivity", "btl_tcp_flags", "btl_tcp_if_include"}, Before: true, After: true},
		{Name: "mpi", Cvars: []string{"mpi_yield_when_idle"}, Pvars: []string{"pml_posted:level"}, Before: true, After: true},
		{Name: "network", Cvars: []string{"btl_tcp_if_include"}, Before: true},
	}
	c.Events = []catalog.Event{
		{Name: "ompi.comm_created", Verbosity: catalog.VerbosityMPIDevDetail, Bind: catalog.BindComm, Description: "A communicator was created.", Categories: []string{"mpi"},
			Elements: []catalog.Element{{Name: "comm", Type: catalog.TypeUint64}, {Name: "name", Type: catalog.TypeChar, Displacement: 8}},
			Enum:     "comm_elements", Hints: []catalog.Hint{{Key: "rate", Value: "rare"}}, Status: catalog.StatusOK, After: true},
		{Name: "unexp_dequeued", Verbosity: catalog.VerbosityUserBasic, Bind: catalog.BindNoObject, Status: catalog.StatusFaulty,
			Reason: "on rank 2: crashes in register_callback (SIGSEGV)", Before: true, After: true,
			Elements:  []catalog.Element{{Type: catalog.TypeInt}, {Type: catalog.TypeInt, Displacement: 4}},
			Conflicts: []catalog.Conflict{{Rank: 2, Field: "elements", Here: "int at 0", Root: "int at 0, int at 4"}}},
		{Name: "wakeup", Verbosity: catalog.VerbosityMPIDevAll, Bind: catalog.BindNoObject, Status: catalog.StatusOK, Before: true},
	}
	c.Categories[2].Events, c.Categories[2].EventTypes = 1, []string{"ompi.comm_created"}
	c.Sources = []catalog.Source{
		{Name: "card", Order: catalog.Unordered, TicksPerSecond: 1000, MaxTicks: 4095, Description: "The card's thread.", Status: catalog.StatusOK, Before: true, After: true,
			Conflicts: []catalog.Conflict{{Rank: 3, Field: "ticks_per_second", Here: "500", Root: "1000"}}},
		{Name: "ompi", Order: catalog.Ordered, TicksPerSecond: 1e9, MaxTicks: 1<<63 - 1, Readable: true, Hints: []catalog.Hint{{Key: "clock", Value: "monotonic"}}, Status: catalog.StatusOK, After: true},
	}
	c.Enums = []catalog.Enum{
		{Name: "boolean", Items: []catalog.Item{{Value: 0, Name: "false"}, {Value: 1, Name: "true"}}},
		{Name: "btl_flags", Flags: true, Items: []catalog.Item{{Value: 1, Name: "send"}, {Value: 2, Name: "put"}, {Value: 4, Name: "get"}}},
	}
	return c
}

const nasty = "a\x1b[31mred\r\x07\u009b2J\u202egnp\u200b\xff\n\\x1b\u2028end"

// hostile contains everything that a snapshot from a stranger may.
func hostile() *catalog.Catalog {
	c := &catalog.Catalog{Library: catalog.Library{Family: "demo"}, Job: job(1), After: catalog.Stage{Read: true}}
	evil := cvar(nasty, catalog.TypeChar, nil, ok(chars(nasty)))
	evil.Description, evil.Enum, evil.Categories = nasty, nasty, []string{nasty}
	evil.Origin = &catalog.Origin{Kind: catalog.OriginKind(nasty), Where: nasty, Value: nasty}
	evil.Conflicts = []catalog.Conflict{{Rank: 1, Field: nasty, Here: nasty, Root: nasty}}
	evil.Ranks = []catalog.RankReading{on(7, status(catalog.Status(nasty), nasty))}
	wide := cvar("漢字変数_名前がとても長いので切られる", catalog.TypeChar, nil, ok(chars("値は日本語です。とても長い値なので、これも切られます")))
	marks := cvar("e\u0301te\u0301 👩‍👩‍👧 combining", catalog.TypeChar, nil, ok(chars("e\u0301\u0301\u0301")))
	long := cvar(strings.Repeat("long_", 2000), catalog.TypeChar, nil, ok(chars(strings.Repeat("value ", 2000))))
	empty := cvar("", 0, nil, &catalog.Reading{})
	none := catalog.Variable{Kind: catalog.Cvars, Name: "none"}
	c.Cvars = []catalog.Variable{empty, evil, marks, long, none, wide}
	c.Categories = []catalog.Category{
		{Name: "loop1", Categories: []string{"loop2"}}, {Name: "loop2", Categories: []string{"loop1", "loop2"}, Cvars: []string{"none"}},
		{Name: nasty, Description: nasty, Cvars: []string{nasty, "missing"}, Categories: []string{"missing"}},
	}
	c.Events = []catalog.Event{
		{Name: nasty, Description: nasty, Enum: nasty, Categories: []string{nasty}, Hints: []catalog.Hint{{Key: nasty, Value: nasty}}, Status: catalog.Status(nasty), Reason: nasty,
			Elements:  []catalog.Element{{Name: nasty, Type: catalog.Datatype(0x40000000 + 17), Displacement: -1 << 63}, {Displacement: 1<<63 - 1, Type: catalog.TypeInt}},
			Conflicts: []catalog.Conflict{{Rank: 1, Field: nasty, Here: nasty, Root: nasty}}},
	}
	c.Sources = []catalog.Source{{Name: nasty, Description: nasty, Order: catalog.SourceOrder(0x40000000 + 9), TicksPerSecond: -1, MaxTicks: -1 << 63,
		Hints: []catalog.Hint{{Key: nasty, Value: nasty}}, Status: catalog.StatusFaulty, Reason: nasty}}
	c.Enums = []catalog.Enum{{Name: nasty, Items: []catalog.Item{{Value: 1, Name: nasty}}}}
	return c
}

// many is a catalog of n control variables, some marked, with realistic lengths.
func many(n int) *catalog.Catalog {
	c := &catalog.Catalog{Job: job(4), Before: catalog.Stage{Read: true}, After: catalog.Stage{Read: true}}
	for i := range n {
		after := ok(ints(catalog.TypeInt, int64(i)))
		if i%5 == 0 {
			after = nil
		}
		v := cvar(fmt.Sprintf("btl_component_variable_name_%06d", i), catalog.TypeInt, ok(ints(catalog.TypeInt, 7)), after)
		v.Description, v.Categories = strings.Repeat("What it is good for. ", 5), []string{"btl_component"}
		if i%50 == 1 {
			v.Ranks = []catalog.RankReading{on(2, ok(ints(catalog.TypeInt, -1)))}
		}
		c.Cvars = append(c.Cvars, v)
	}
	return c
}
