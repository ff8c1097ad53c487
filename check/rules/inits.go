//go:build cgo && linux

package rules

import (
	"fmt"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

const mayChange = "the standard says that a value stays only for the scope MPI_T_SCOPE_CONSTANT (Table 14.5)"

func pause() { time.Sleep(100 * time.Millisecond) }

var initRules = section{"initialization", []rule{
	{Rule: promise("not-initialized", "MPI-3.1, Table 14.6", "Before MPI_T_init_thread, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: bare, run: func(m *mpi) { uninitialized(m) }},
	{Rule: promise("not-initialized-after", "MPI-3.1, 14.3.4", "After the last MPI_T_finalize, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: before, run: func(m *mpi) { m.finalizeTool(); uninitialized(m) }},
	{Rule: promise("init-counts", "MPI-3.1, 14.3.4", "MPI_T stays initialized until MPI_T_finalize was called as often as MPI_T_init_thread."), stage: bare, run: initCounts},
	{Rule: promise("finalize-too-often", "MPI-3.1, 14.3.4", "Calling MPI_T_finalize more often than MPI_T_init_thread returns an error."), stage: before, run: finalizeTooOften},
	{Rule: promise("init-twice", "MPI-3.1, 14.3.4", "MPI_T_init_thread has no effect but for the count if MPI_T is initialized: a control variable keeps the value that was written."), stage: before, run: initTwice},
	{Rule: promise("init-again", "MPI-3.1, 14.3.4", "MPI_T can be initialized again after it was finalized, twice in a row."), stage: bare, run: initAgain},
	{Rule: promise("cycle-before-init", "MPI-3.1, 14.3", "A complete cycle of MPI_T before MPI_Init leaves MPI usable, and MPI_T can be initialized again after it."), stage: bare, run: cycleBeforeInit},
	{Rule: promise("cycle-after-init", "MPI-3.1, 14.3", "Complete cycles of MPI_T between MPI_Init and MPI_Finalize leave MPI usable."), stage: bare, run: cycleAfterInit},
	{Rule: promise("cycle-nested", "MPI-3.1, 14.3 and 14.3.4", "Cycles of MPI_T within each other, before, around and after MPI_Init and MPI_Finalize, leave MPI and MPI_T usable, and the last MPI_T_finalize ends MPI_T."), stage: bare, alone: true, run: cycleNested},
	{Rule: promise("numbers-kept-by-cycle", "MPI-3.1, 14.3.6 to 14.3.8", "The numbers of variables and categories do not fall when MPI_T is finalized and initialized again."), stage: bare, run: numbersKeptByCycle},
	{Rule: promise("use-before-mpi-init", "MPI-3.1, 14.3", "MPI_T can be used before MPI_Init: each control variable that is listed can be read, or its calls return an error."), stage: before, run: cvarsOpen},
	{Rule: promise("pvars-before-mpi-init", "MPI-3.1, 14.3", "Before MPI_Init each performance variable that is listed and not bound to an object can be read, or its calls return an error."), stage: before, run: pvarsBeforeInit},
	{Rule: promise("use-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be used after MPI_Finalize: the numbers can be queried, and each variable can be described and read, or its calls return an error."), stage: after, run: useAfterFinalize},
	{Rule: promise("finalize-after-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called after MPI_Finalize."), stage: after, run: func(m *mpi) { finalizeAfter(m) }},
	{Rule: promise("finalize-before-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called before MPI_Finalize, and leaves MPI usable."), stage: after, run: finalizeBefore},
	{Rule: promise("init-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be initialized after MPI_Finalize."), stage: bare, run: initAfterFinalize},
	{Rule: lenient("strings-kept", "MPI-3.1, 14.3.6 and Table 14.5", "The text of control variables is the same after MPI_T was finalized and initialized again.", mayChange), stage: after, run: stringsKept},
	{Rule: lenient("strings-kept-after-mpi", "MPI-3.1, 14.3.6 and Table 14.5", "The text of control variables that can be read after MPI_Finalize is the same as before it.", mayChange), stage: after, run: stringsKeptAfterMPI},
	{Rule: promise("cvars-across-init", "MPI-3.1, 14.3.6", "With MPI_T initialized before MPI_Init, each control variable that is listed after it can be read, or its calls return an error."), stage: across, run: cvarsOpen},
}}

var threadRules = section{"threads", []rule{
	{Rule: promise("thread-level-kept", "MPI-3.1, 12.4.3 and 14.3.4", "MPI_Query_thread returns the level that MPI_Init_thread provided, also after MPI_T_init_thread."), stage: bare, run: threadKept},
	{Rule: promise("thread-provided", "MPI-3.1, 14.3.4", "MPI_T_init_thread returns one of the four thread levels as provided."), stage: bare, run: threadProvided},
	{Rule: promise("thread-reads", "MPI-3.1, 12.4 and 14.3.4", "If MPI_T provides MPI_THREAD_MULTIPLE, control variables can be read in another thread, and in two threads at the same time."), stage: bare, file: binding.CheckWatch, run: readInThreads},
}}

// uninitialized calls routines that need no handle.
func uninitialized(m *mpi) {
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			c, _ := m.number(l)
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
	for _, l := range eventLists(m) {
		if m.item("%s_get_num", l.prefix) {
			c, _ := m.number(l)
			m.wants(c, binding.ErrNotInitialized)
		}
	}
	if m.item("MPI_T_pvar_session_create") {
		m.wants(m.createSession(m.session()), binding.ErrNotInitialized)
	}
	if m.item("MPI_T_category_changed") {
		c, _ := m.stamp()
		m.wants(c, binding.ErrNotInitialized)
	}
}

// usable expects that the numbers can be queried.
func (m *mpi) usable() bool {
	for _, l := range lists(m) {
		if c, _ := m.number(l); !m.succeeds(c) {
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
		c, _ := m.number(cvars(m))
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

// mpiWorks expects that MPI can be used.
func (m *mpi) mpiWorks() {
	rank, size := m.num("rank", untouched), int32(0)
	c := m.call("MPI_Comm_rank", func() binding.Error { return m.raw.World(rank.p(), &size) }, lit("MPI_COMM_WORLD"), rank.out())
	if !m.expect(c.ok() && rank.v == 0, fmt.Sprintf("%s == MPI_SUCCESS && %s == 0", c.c, rank.c), "rank 0", fmt.Sprintf("%s, %v", codeName(c.rc), rank)) {
		return
	}
	duplicate := m.fresh("duplicate")
	m.line("MPI_Comm %s;", duplicate) // a collective call reads control variables
	m.succeeds(m.call("MPI_Comm_dup", func() binding.Error { return m.raw.DupWorld() }, lit("MPI_COMM_WORLD"), lit("&%s", duplicate)))
}

func pvarsBeforeInit(m *mpi) {
	_, n := m.count(pvars(m))
	for k := range int(n.v) {
		e := m.quietly(func() *entry { return m.entry(pvars(m), k) })
		v := variable{index: k, name: e.label(), pvar: e.pvar}
		if !e.ok() || e.pvar.Bind != int32(catalog.BindNoObject) || !m.item("%s", v.label()) {
			continue
		}
		s := m.newSession()
		if h, count, c := m.allocPvar(s, v); c.ok() && count.v < 1<<20 && (v.pvar.Continuous != 0 || m.startPvar(s, h).ok()) {
			m.readPvar(s, h, m.value(v.pvar.Datatype, int(count.v)))
		}
	}
	if m.items == 0 {
		m.notApplicable("no performance variable is listed that is not bound to an object")
	}
}

// useAfterFinalize describes and reads what could be read before MPI_Finalize.
func useAfterFinalize(m *mpi) {
	all := m.openableCvars()
	m.finalizeMPI()
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			c, _ := m.number(l)
			m.succeeds(c)
		}
		m.entries(l, func(*entry) {})
	}
	for _, v := range all {
		if !m.item("%s (value)", v.name) {
			continue
		}
		if h, count, c := m.allocCvar(v.index, binding.NoObject); c.ok() && count.v < 1<<20 {
			m.readCvar(h, m.value(int32(v.typ), int(count.v)))
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
	if m.item("MPI_T_finalize MPI_Finalize") {
		m.succeeds(m.finalizeTool())
		m.mpiWorks()
		m.succeeds(m.finalizeMPI())
	}
}

func initAfterFinalize(m *mpi) {
	if !m.item("MPI_Finalize MPI_T_init_thread") {
		return
	}
	m.initMPI()
	m.finalizeMPI()
	if c, _ := m.initTool(catalog.ThreadSingle); m.succeeds(c) {
		m.usable()
	}
}

func stringsKept(m *mpi) {
	all := m.texts()
	m.finalizeTool()
	m.initTool(catalog.ThreadSingle)
	m.sameTexts(all)
}

func stringsKeptAfterMPI(m *mpi) {
	all := m.texts()
	m.finalizeMPI()
	m.sameTexts(all)
}

// reading is a control variable that has text, the C variable with its text, and the calls that read it.
type reading struct {
	name, text, c string
	earlier
}

// texts reads the control variables that have text.
func (m *mpi) texts() (all []reading) {
	for _, v := range m.openableCvars() {
		if v.typ != catalog.TypeChar {
			continue
		}
		one, ok := reading{name: v.name}, false
		one.earlier = m.early(func() { one.text, one.c, ok = m.readText(v.index, v.object) })
		if ok {
			all = append(all, one)
		}
	}
	return all
}

// readText reads a control variable that has text, which is also in the C variable c.
func (m *mpi) readText(index int, object binding.Object) (s, c string, ok bool) {
	h, count, rc := m.allocCvar(index, object)
	if !rc.ok() || count.v < 1 || count.v > 1<<20 {
		return "", "", false
	}
	buf := m.value(int32(catalog.TypeChar), int(count.v))
	ok = m.readCvar(h, buf).ok()
	return (&text{b: buf.b}).String(), buf.c, ok
}

// sameTexts reads control variables again, by name, as indices may move.
func (m *mpi) sameTexts(all []reading) {
	for _, was := range all {
		if !m.item("%s", was.name) {
			continue
		}
		m.after(was.earlier, func() {
			if c, index := m.indexOf(cvars(m), was.name, nil); c.ok() {
				if now, buf, ok := m.readText(int(index.v), binding.NoObject); ok {
					m.expect(now == was.text, fmt.Sprintf("strcmp(%s, %s) == 0", buf, was.c), "the text as before", excerpt(now, 60)+", and "+excerpt(was.text, 60)+" before")
				}
			}
		})
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
