//go:build cgo && linux

package rules

import (
	"fmt"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

func pause() { time.Sleep(100 * time.Millisecond) }

var initRules = section{"initialization", []rule{
	{Rule: promise("not-initialized", "MPI-3.1, Table 14.6", "Before MPI_T_init_thread, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: bare, run: func(m *mpi) { uninitialized(m) }},
	{Rule: promise("not-initialized-after", "MPI-3.1, 14.3.4", "After the last MPI_T_finalize, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: before, run: func(m *mpi) { m.finalizeTool(); uninitialized(m) }},
	{Rule: promise("init-counts", "MPI-3.1, 14.3.4", "MPI_T stays initialized until MPI_T_finalize was called as often as MPI_T_init_thread."), stage: bare, run: initCounts},
	{Rule: promise("finalize-too-often", "MPI-3.1, 14.3.4", "Calling MPI_T_finalize more often than MPI_T_init_thread returns an error."), stage: before, run: finalizeTooOften},
	{Rule: promise("init-again", "MPI-3.1, 14.3.4", "MPI_T can be initialized again after it was finalized, twice in a row."), stage: bare, run: initAgain},
	{Rule: promise("cycle-before-init", "MPI-3.1, 14.3", "A complete cycle of MPI_T before MPI_Init leaves MPI usable, and MPI_T can be initialized again after it."), stage: bare, run: cycleBeforeInit},
	{Rule: promise("cycle-after-init", "MPI-3.1, 14.3", "Complete cycles of MPI_T between MPI_Init and MPI_Finalize leave MPI usable."), stage: bare, run: cycleAfterInit},
	{Rule: promise("numbers-kept-by-cycle", "MPI-3.1, 14.3.6 to 14.3.8", "The numbers of variables and categories do not fall when MPI_T is finalized and initialized again."), stage: bare, run: numbersKeptByCycle},
	{Rule: promise("use-before-mpi-init", "MPI-3.1, 14.3", "MPI_T can be used before MPI_Init: each control variable that is listed can be read, or its calls return an error."), stage: before, run: cvarsOpen},
	{Rule: promise("use-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be used after MPI_Finalize."), stage: after, run: useAfterFinalize},
	{Rule: promise("finalize-after-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called after MPI_Finalize."), stage: after, run: func(m *mpi) { finalizeAfter(m) }},
	{Rule: promise("finalize-before-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called before MPI_Finalize, and leaves MPI usable."), stage: after, run: finalizeBefore},
	{Rule: promise("init-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be initialized after MPI_Finalize."), stage: bare, run: initAfterFinalize},
	{Rule: promise("strings-kept", "MPI-3.1, 14.3.6", "The text of control variables is the same after MPI_T was finalized and initialized again."), stage: after, run: stringsKept},
	{Rule: promise("cvars-across-init", "MPI-3.1, 14.3.6", "With MPI_T initialized before MPI_Init, each control variable that is listed after it can be read, or its calls return an error."), stage: across, run: cvarsOpen},
}}

var threadRules = section{"threads", []rule{
	{Rule: promise("thread-level-kept", "MPI-3.1, 12.4.3 and 14.3.4", "MPI_T_init_thread does not change the thread level of MPI that MPI_Query_thread returns."), stage: bare, run: threadKept},
	{Rule: promise("thread-provided", "MPI-3.1, 14.3.4", "MPI_T_init_thread returns one of the four thread levels as provided."), stage: bare, run: threadProvided},
}}

// uninitialized calls routines that need no handle.
func uninitialized(m *mpi) {
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			c, _ := m.count(l)
			m.wants(c, binding.ErrNotInitialized)
		}
		if m.item("%s_get_info", l.prefix) {
			m.wants(m.entry(l, 0).code, binding.ErrNotInitialized)
		}
		if m.item("%s_get_index", l.prefix) {
			like := &entry{}
			like.pvar.Class = 7
			if c, _ := m.indexOf(l, "mpitx_no_such_name", like); c.rc != binding.ErrNotProvided {
				m.wants(c, binding.ErrNotInitialized)
			}
		}
	}
	for name, num := range map[string]func(*int32) binding.Error{"MPI_T_event_get_num": m.raw.NumEvents, "MPI_T_source_get_num": m.raw.NumSources} {
		if m.lib.Has(name) && m.item("%s", name) {
			n := m.num("num", untouched)
			m.wants(m.call(name, func() binding.Error { return num(n.p()) }, n.out()), binding.ErrNotInitialized)
		}
	}
	if m.item("MPI_T_pvar_session_create") {
		s := m.session()
		m.wants(m.call("MPI_T_pvar_session_create", func() binding.Error { return m.raw.CreateSession(&s.v) }, s.out()), binding.ErrNotInitialized)
	}
	if m.item("MPI_T_category_changed") {
		c, _ := m.stamp()
		m.wants(c, binding.ErrNotInitialized)
	}
}

// usable expects that the numbers can be queried.
func (m *mpi) usable() bool {
	for _, l := range lists(m) {
		if c, _ := m.count(l); !m.succeeds(c) {
			return false
		}
	}
	return true
}

func initCounts(m *mpi) {
	if !m.item("three of MPI_T_init_thread") {
		return
	}
	for range 3 {
		c, _ := m.initTool(catalog.ThreadSingle)
		m.succeeds(c)
	}
	for range 2 {
		if m.succeeds(m.finalizeTool()) {
			m.usable()
		}
	}
	if m.succeeds(m.finalizeTool()) {
		c, _ := m.count(cvars(m))
		m.wants(c, binding.ErrNotInitialized)
	}
}

func finalizeTooOften(m *mpi) {
	if m.item("MPI_T_finalize") {
		m.succeeds(m.finalizeTool())
		c := m.finalizeTool()
		m.expect(!c.ok(), c.c+" != MPI_SUCCESS", "an error", codeName(c.rc))
	}
}

func initAgain(m *mpi) {
	if !m.item("two cycles") {
		return
	}
	for range 3 {
		if c, _ := m.initTool(catalog.ThreadSingle); !m.succeeds(c) || !m.usable() || !m.succeeds(m.finalizeTool()) {
			return
		}
	}
}

// mpiWorks expects that MPI can be used.
func (m *mpi) mpiWorks() {
	rank, size := m.num("rank", untouched), int32(0)
	c := m.call("MPI_Comm_rank", func() binding.Error { return m.raw.World(rank.p(), &size) }, lit("MPI_COMM_WORLD"), rank.out())
	if !m.expect(c.ok() && rank.v == 0, fmt.Sprintf("%s == MPI_SUCCESS && %s == 0", c.c, rank.c), "rank 0", fmt.Sprintf("%s, %d", codeName(c.rc), rank.v)) {
		return
	}
	m.line("MPI_Comm duplicate;") // a collective call reads control variables
	m.succeeds(m.call("MPI_Comm_dup", func() binding.Error { return m.raw.DupWorld() }, lit("MPI_COMM_WORLD"), lit("&duplicate")))
}

func cycleBeforeInit(m *mpi) {
	if !m.item("MPI_T_init_thread, MPI_T_finalize, MPI_Init") {
		return
	}
	m.initTool(catalog.ThreadSingle)
	m.finalizeTool()
	if m.succeeds(m.initMPI()) {
		m.mpiWorks()
		if c, _ := m.initTool(catalog.ThreadSingle); m.succeeds(c) {
			m.usable()
		}
	}
}

func cycleAfterInit(m *mpi) {
	if !m.item("two cycles") {
		return
	}
	m.initMPI()
	for range 2 {
		if c, _ := m.initTool(catalog.ThreadSingle); !m.succeeds(c) || !m.usable() || !m.succeeds(m.finalizeTool()) {
			return
		}
		m.mpiWorks()
	}
	m.succeeds(m.finalizeMPI())
}

func numbersKeptByCycle(m *mpi) {
	for _, l := range lists(m) {
		if !m.item("%s_get_num", l.prefix) {
			continue
		}
		m.initTool(catalog.ThreadSingle)
		_, a := m.count(l)
		m.finalizeTool()
		m.initTool(catalog.ThreadSingle)
		c, b := m.count(l)
		m.expect(c.ok() && b.v >= a.v, fmt.Sprintf("%s == MPI_SUCCESS && %s >= %s", c.c, b.c, a.c), fmt.Sprintf("at least %d", a.v), fmt.Sprintf("%s, %d", codeName(c.rc), b.v))
		m.finalizeTool()
	}
}

func useAfterFinalize(m *mpi) {
	m.finalizeMPI()
	for _, l := range lists(m) {
		if m.item("%s", l.what) {
			c, n := m.count(l)
			if m.succeeds(c) && n.v > 0 {
				m.entry(l, 0)
			}
		}
	}
	if !m.item("MPI_T_cvar_read") {
		return
	}
	if all := m.openableCvars(); len(all) > 0 {
		if h, _, c := m.allocCvar(all[0].index, binding.NoObject); c.ok() {
			m.readCvar(h, m.value(int32(all[0].typ), 8192))
		}
	}
}

func finalizeAfter(m *mpi) {
	m.finalizeMPI()
	if m.item("MPI_T_finalize") {
		m.succeeds(m.finalizeTool())
	}
}

func finalizeBefore(m *mpi) {
	if m.item("MPI_T_finalize, MPI_Finalize") {
		m.succeeds(m.finalizeTool())
		m.mpiWorks()
		m.succeeds(m.finalizeMPI())
	}
}

func initAfterFinalize(m *mpi) {
	if !m.item("MPI_Finalize, MPI_T_init_thread") {
		return
	}
	m.initMPI()
	m.finalizeMPI()
	if c, _ := m.initTool(catalog.ThreadSingle); m.succeeds(c) {
		m.usable()
	}
}

// stringsKept compares by name, as indices may move.
func stringsKept(m *mpi) {
	type old struct{ name, value string }
	var all []old
	for _, v := range m.openableCvars() {
		if v.typ != catalog.TypeChar {
			continue
		}
		m.quietly(func() *entry {
			h, count, c := m.allocCvar(v.index, v.object)
			if c.ok() && count.v > 0 && count.v < 1<<20 {
				buf := m.value(int32(v.typ), int(count.v))
				if m.readCvar(h, buf).ok() {
					all = append(all, old{v.name, (&text{b: buf.b}).String()})
				}
			}
			return nil
		})
	}
	m.finalizeTool()
	m.initTool(catalog.ThreadSingle)
	for _, was := range all {
		if !m.item("%s", was.name) {
			continue
		}
		c, index := m.indexOf(cvars(m), was.name, nil)
		if !c.ok() {
			continue
		}
		h, count, c := m.allocCvar(int(index.v), binding.NoObject)
		if !c.ok() || count.v > 1<<20 {
			continue
		}
		buf := m.value(int32(catalog.TypeChar), int(count.v))
		if m.readCvar(h, buf).ok() {
			now := (&text{b: buf.b}).String()
			m.expect(now == was.value, fmt.Sprintf("strcmp(%s, %s) == 0", buf.c, quoted(was.value)), fmt.Sprintf("%.60q", was.value), fmt.Sprintf("%.60q", now))
		}
	}
	if len(all) == 0 {
		m.notApplicable("no control variable has text")
	}
}

func threadKept(m *mpi) {
	if !m.item("MPI_T_init_thread(MPI_THREAD_MULTIPLE)") {
		return
	}
	m.initMPI()
	c, a := m.queryThread()
	if c.rc == binding.ErrNotProvided || !m.succeeds(c) {
		return
	}
	m.initTool(catalog.ThreadMultiple)
	c, b := m.queryThread()
	m.expect(c.ok() && a.v == b.v, fmt.Sprintf("%s == MPI_SUCCESS && %s == %s", c.c, a.c, b.c), threadName(a.v)+" as before", threadName(b.v))
}

func threadProvided(m *mpi) {
	for level := catalog.ThreadSingle; level <= catalog.ThreadMultiple; level++ {
		if m.item("%s", threadName(int32(level))) {
			c, p := m.initTool(level)
			m.expect(c.ok() && p.v >= 1 && p.v <= 4, fmt.Sprintf("%s == MPI_SUCCESS && (%s)", c.c, isOneOf(p.c, []string{"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"})),
				"a thread level", fmt.Sprintf("%s, %s", codeName(c.rc), threadName(p.v)))
		}
	}
}
