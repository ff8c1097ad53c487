//go:build cgo && linux

package rules

import (
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

const (
	mayChange = "the standard says that a value stays only for the scope MPI_T_SCOPE_CONSTANT (Table 14.5)"
	noText    = "no control variable has text"
)

func pause() { time.Sleep(100 * time.Millisecond) }

var initRules = section{subject: "initialization", rules: []rule{
	{Rule: promise("not-initialized", "MPI-3.1, Table 14.6", "Before MPI_T_init_thread, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: bare, run: uninitialized},
	{Rule: promise("not-initialized-after", "MPI-3.1, 14.3.4", "After the last MPI_T_finalize, routines return MPI_T_ERR_NOT_INITIALIZED."), stage: before, run: func(m *mpi) { m.finalizeTool(); uninitialized(m) }},
	{Rule: promise("init-counts", "MPI-3.1, 14.3.4", "MPI_T stays initialized until MPI_T_finalize was called as often as MPI_T_init_thread."), stage: bare, item: "three of MPI_T_init_thread", run: initCounts},
	{Rule: promise("finalize-too-often", "MPI-3.1, 14.3.4", "Calling MPI_T_finalize more often than MPI_T_init_thread returns an error."), stage: before, item: "MPI_T_finalize", run: finalizeTooOften},
	{Rule: promise("init-twice", "MPI-3.1, 14.3.4", "MPI_T_init_thread has no effect but for the count if MPI_T is initialized: a control variable keeps the value that was written."), stage: before, none: noCvars, run: eachCvar(changeable, initTwice)},
	{Rule: promise("init-again", "MPI-3.1, 14.3.4", "MPI_T can be initialized again after it was finalized, twice in a row."), stage: bare, item: "two cycles", run: initAgain},
	{Rule: promise("cycle-before-init", "MPI-3.1, 14.3", "A complete cycle of MPI_T before MPI_Init leaves MPI usable, and MPI_T can be initialized again after it."), stage: bare, item: "MPI_T_init_thread MPI_T_finalize MPI_Init", run: cycleBeforeInit},
	{Rule: promise("cycle-after-init", "MPI-3.1, 14.3", "Complete cycles of MPI_T between MPI_Init and MPI_Finalize leave MPI usable."), stage: bare, item: "two cycles", run: cycleAfterInit},
	{Rule: promise("cycle-nested", "MPI-3.1, 14.3 and 14.3.4", "Cycles of MPI_T within each other, before, around and after MPI_Init and MPI_Finalize, leave MPI and MPI_T usable, and the last MPI_T_finalize ends MPI_T."), stage: bare, alone: true, run: cycleNested},
	{Rule: promise("numbers-kept-by-cycle", "MPI-3.1, 14.3.6 to 14.3.8", "The numbers of variables and categories do not fall when MPI_T is finalized and initialized again."), stage: bare, run: numbersKeptByCycle},
	{Rule: promise("use-before-mpi-init", "MPI-3.1, 14.3", "MPI_T can be used before MPI_Init: each control variable that is listed can be read, or its calls return an error."), stage: before, none: noListed, run: cvarsOpen},
	{Rule: promise("pvars-before-mpi-init", "MPI-3.1, 14.3", "Before MPI_Init each performance variable that is listed and not bound to an object can be read, or its calls return an error."), stage: before, none: "no performance variable is listed that is not bound to an object", run: pvarsBeforeInit},
	{Rule: promise("use-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be used after MPI_Finalize: the numbers can be queried, and each variable can be described and read, or its calls return an error."), run: useAfterFinalize},
	{Rule: promise("finalize-after-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called after MPI_Finalize."), run: finalizeAfter},
	{Rule: promise("finalize-before-mpi", "MPI-3.1, 14.3.4", "MPI_T_finalize can be called before MPI_Finalize, and leaves MPI usable."), item: "MPI_T_finalize MPI_Finalize", run: finalizeBefore},
	{Rule: promise("init-after-mpi-finalize", "MPI-3.1, 14.3", "MPI_T can be initialized after MPI_Finalize."), stage: bare, item: "MPI_Finalize MPI_T_init_thread", run: initAfterFinalize},
	{Rule: lenient("strings-kept", "MPI-3.1, 14.3.6 and Table 14.5", "The text of control variables is the same after MPI_T was finalized and initialized again.", mayChange), none: noText, run: stringsKept},
	{Rule: lenient("strings-kept-after-mpi", "MPI-3.1, 14.3.6 and Table 14.5", "The text of control variables that can be read after MPI_Finalize is the same as before it.", mayChange), none: noText, run: stringsKeptAfterMPI},
	{Rule: promise("cvars-across-init", "MPI-3.1, 14.3.6", "With MPI_T initialized before MPI_Init, each control variable that is listed after it can be read, or its calls return an error."), stage: across, none: noListed, run: cvarsOpen},
}}

var threadRules = section{subject: "threads", rules: []rule{
	{Rule: promise("thread-level-kept", "MPI-3.1, 12.4.3 and 14.3.4", "MPI_Query_thread returns the level that MPI_Init_thread provided, also after MPI_T_init_thread."), stage: bare, item: "MPI_T_init_thread(MPI_THREAD_MULTIPLE)", run: threadKept},
	{Rule: promise("thread-provided", "MPI-3.1, 14.3.4", "MPI_T_init_thread returns one of the four thread levels as provided."), stage: bare, run: threadProvided},
	{Rule: promise("thread-reads", "MPI-3.1, 12.4 and 14.3.4", "If MPI_T provides MPI_THREAD_MULTIPLE, control variables can be read in another thread, and in two threads at the same time."), stage: bare, file: binding.CheckWatch, none: "no control variable can be read", run: readInThreads},
}}

// uninitialized calls routines that need no handle.
func uninitialized(m *mpi) {
	none := func(c code) { m.expect(c.is(binding.ErrNotInitialized)) }
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			none(m.number(l).code)
		}
		if m.item("%s_get_info", l.prefix) {
			none(m.entry(l, 0).code)
		}
		if m.item("%s_get_index", l.prefix) {
			if c := m.noSuchName(l); c.rc != binding.ErrNotProvided {
				none(c)
			}
		}
	}
	for _, l := range eventLists(m) {
		if m.item("%s_get_num", l.prefix) {
			none(m.number(l).code)
		}
	}
	if m.item("MPI_T_pvar_session_create") {
		none(m.createSession().code)
	}
	if m.item("MPI_T_category_changed") {
		none(m.stamp().code)
	}
}

// usable expects that the numbers can be queried.
func (m *mpi) usable() bool {
	for _, l := range lists(m) {
		if !m.succeeds(m.number(l).code) {
			return false
		}
	}
	return true
}

// ended expects that MPI_T is not initialized any more.
func (m *mpi) ended() bool { return m.expect(m.number(cvars(m)).code.is(binding.ErrNotInitialized)) }

func initCounts(m *mpi) {
	for range 3 {
		m.succeeds(m.startTool())
	}
	for range 2 {
		if m.succeeds(m.finalizeTool()) {
			m.usable()
		}
	}
	if m.succeeds(m.finalizeTool()) {
		m.ended()
	}
}

func finalizeTooOften(m *mpi) {
	m.succeeds(m.finalizeTool())
	m.expect(m.finalizeTool().fails())
}

// rank calls MPI_Comm_rank.
func (m *mpi) rank() *num {
	return m.ask("MPI_Comm_rank", "rank", func(rank *int32) binding.Error { return m.raw.World(rank, new(int32)) }, lit("MPI_COMM_WORLD"))
}

// mpiWorks expects that MPI can be used.
func (m *mpi) mpiWorks() {
	rank := m.rank()
	if !m.expect(rank.code.is(0), rank.is(0)) {
		return
	}
	duplicate := m.fresh("duplicate")
	m.line("MPI_Comm %s;", duplicate) // a collective call reads control variables
	m.succeeds(m.call("MPI_Comm_dup", m.raw.DupWorld, lit("MPI_COMM_WORLD"), lit("&%s", duplicate)))
}

func pvarsBeforeInit(m *mpi) {
	for e := range m.listed(pvars(m)) {
		if !e.unbound() || !m.item("%s", e.item()) {
			continue
		}
		if o := m.open(variable{entry: e, typ: e.datatype()}); o.ok() && o.count.v < 1<<20 && o.runs() {
			o.readInto(m.value(o.typ, int(o.count.v)))
		}
	}
}

// useAfterFinalize describes and reads what could be read before MPI_Finalize.
func useAfterFinalize(m *mpi) {
	all := m.openableCvars()
	m.finalizeMPI()
	for _, l := range lists(m) {
		if m.item("%s_get_num", l.prefix) {
			m.succeeds(m.number(l).code)
		}
		m.entries(l, func(*entry) {})
	}
	for _, v := range all {
		if m.item("%s (value)", v.name) {
			v.object = binding.NoObject
			if o := m.open(v); o.ok() {
				o.read()
			}
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
	m.succeeds(m.finalizeTool())
	m.mpiWorks()
	m.succeeds(m.finalizeMPI())
}

func initAfterFinalize(m *mpi) {
	m.initMPI()
	m.finalizeMPI()
	if m.succeeds(m.startTool()) {
		m.usable()
	}
}

func threadKept(m *mpi) {
	m.initMPI()
	was := m.queryThread()
	if was.rc == binding.ErrNotProvided || !m.succeeds(was.code) {
		return
	}
	m.initTool(catalog.ThreadMultiple)
	now := m.queryThread()
	m.expect(now.code.is(0), now.is(was).as("%s as before", threadName(was.v)).but("%s", threadName(now.v)))
}

func threadProvided(m *mpi) {
	for level := catalog.ThreadSingle; level <= catalog.ThreadMultiple; level++ {
		if m.item("%s", threadName(int32(level))) {
			n := m.initTool(level)
			m.expect(n.code.is(0), n.oneOf(threadNames).as("a thread level").but("%s", threadName(n.v)))
		}
	}
}
