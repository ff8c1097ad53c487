//go:build cgo && linux

package rules

import (
	"strings"

	"mpitx/agent"
	"mpitx/binding"
)

const (
	draft    = "QMPI draft, 15.2.2"
	unneeded = "the draft does not say that the library must check it"
)

var qmpiRules = section{subject: "QMPI", rules: []rule{
	qmpiRule("qmpi-register", "Before MPI is initialized, a tool can be registered, with several names.", qmpiRegister),
	qmpiRule("qmpi-init", "The initialization of MPI calls the init function of each tool that the user lists, in this order, and of no other.", qmpiInit),
	qmpiRule("qmpi-numbers", "Each instance of a tool has a number of its own, which is not the library's.", qmpiNumbers),
	qmpiRule("qmpi-storage", "MPI_Get_tool_storage returns what this instance of the tool registered.", qmpiStorage),
	qmpiRule("qmpi-order", "A call passes through the tools that intercept the function, in the user's order, once each.", qmpiOrder),
	qmpiRule("qmpi-arguments", "A tool gets the arguments of the application or of the tool before it, and the application what the first tool returns.", qmpiArguments),
	qmpiRule("qmpi-next", "MPI_Get_next_tool_function returns the next tool that intercepts the function, at last the library, and always the same.", qmpiNext),
	qmpiRule("qmpi-address", "MPI_Get_calling_address returns the address from which the application called MPI.", qmpiAddress),
	qmpiRule("qmpi-name-shift", "Each function of MPI has an entry point with the prefix QMPI_.", qmpiNameShift),
	may(qmpiRule("qmpi-name-twice", "The name of a tool is unique: a second tool of this name is refused.", qmpiNameTwice)),
	may(qmpiRule("qmpi-unknown-function", "The number of a function that does not exist is refused.", qmpiUnknownFunction)),
	may(qmpiRule("qmpi-unknown-tool", "The number of a tool that does not exist is refused.", qmpiUnknownTool)),
}}

func qmpiRule(name, text string, run func(*mpi, *binding.RawQMPI)) rule {
	return rule{Rule: promise(name, draft, text), stage: bare, file: binding.QMPITools, run: func(m *mpi) {
		if q := m.lib.QMPI(); q != nil {
			run(m, q)
		} else {
			m.notApplicable("the library does not have QMPI")
		}
	}}
}

func may(r rule) rule {
	r.Allowed, r.alone = unneeded, true
	return r
}

// listed is the list of tools; its first letters are those of the notes.
const listed, letters = "outer:inner:outer", "oio"

// registerTools registers the tools.
func (m *mpi) registerTools(q *binding.RawQMPI) bool {
	m.line("setenv(\"MPIR_CVAR_QMPI_TOOL_LIST\", %q, 1);", listed)
	m.line("tool_start((void *)%s, (void *)%s, (void *)%s, (void *)%s, (void *)%s, (void *)QMPI_Query_thread, (void *)QMPI_Initialized, MPI_QUERY_THREAD_T, MPI_INITIALIZED_T);",
		q.Name("MPI_Register_tool_storage"), q.Name("MPI_Register_tool_function"), q.Name("MPI_Get_next_tool_function"), q.Name("MPI_Get_tool_storage"), q.Name("MPI_Get_calling_address"))
	q.ListTools(listed)
	for k, name := range []string{"outer", "inner", "unlisted"} {
		if !m.succeeds(m.registerTool(q, name, name, k)) {
			return false
		}
	}
	return true
}

// registerTool registers a tool by a name.
func (m *mpi) registerTool(q *binding.RawQMPI, name, tool string, k int) code {
	return m.call(q.Name("MPI_Register_tool_name"), func() binding.Error { return q.Register(name, k) }, lit("%q", name), lit("tool_init_%s", tool))
}

// tools registers the tools and initializes MPI.
func (m *mpi) tools(q *binding.RawQMPI) bool {
	return m.registerTools(q) && m.succeeds(m.initMPI())
}

// query calls MPI_Query_thread through the tools.
func (m *mpi) query(q *binding.RawQMPI) (result int, c code) {
	level := m.num("level", untouched)
	c = m.call("MPI_Query_thread", func() binding.Error { result = q.QueryThread(&level.v); return 0 }, lit("&%s", level.c))
	return result, c
}

// right expects that the tools noted nothing wrong.
func (m *mpi) right(field string, n int, expected string) bool {
	return m.expect(named("tool_notes."+field, n).is(0).as("%s", expected).but("%d times not", n))
}

// passed expects the letters of the tools that a call passed through.
func (m *mpi) passed(field, got, want, what string) bool {
	notes := &buffer{b: []byte(got), c: "tool_notes." + field}
	return m.expect(notes.reads(want).as("%s %s", what, spelled(want)).but("%s", spelled(got)))
}

// spelled spells the letters of tools out.
func spelled(letters string) string {
	var words []string
	for _, c := range letters {
		words = append(words, map[rune]string{'o': "outer", 'i': "inner", 'u': "unlisted"}[c])
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func qmpiRegister(m *mpi, q *binding.RawQMPI) {
	if m.item("%s", q.Name("MPI_Register_tool_name")) {
		m.registerTools(q)
	}
}

func qmpiInit(m *mpi, q *binding.RawQMPI) {
	if m.item("the list "+listed) && m.registerTools(q) {
		m.passed("inits", q.Notes().Inits, "", "before the initialization of MPI:")
		if m.succeeds(m.initMPI()) {
			m.passed("inits", q.Notes().Inits, letters, "initialized:")
		}
	}
}

func qmpiNumbers(m *mpi, q *binding.RawQMPI) {
	if m.item("the list "+listed) && m.tools(q) {
		m.right("numbers", q.Notes().Numbers, "each number is new, and not 0")
	}
}

func qmpiStorage(m *mpi, q *binding.RawQMPI) {
	if m.item("MPI_Query_thread") && m.tools(q) {
		m.right("refused", q.Notes().Refused, "storage and functions can be registered")
		m.query(q)
		m.right("storage", q.Notes().Storage, "the storage of the instance")
	}
}

func qmpiOrder(m *mpi, q *binding.RawQMPI) {
	if !m.item("MPI_Query_thread and MPI_Initialized") || !m.tools(q) {
		return
	}
	m.query(q)
	m.passed("all", q.Notes().All, letters, "MPI_Query_thread passes through")
	flag := m.num("flag", untouched)
	m.line("memset(tool_notes.outer, 0, sizeof tool_notes.outer);") // the library may have called it before
	before := len(q.Notes().Outer)
	m.call("MPI_Initialized", func() binding.Error { return binding.Error(q.Initialized(&flag.v)) }, flag.out())
	m.passed("outer", q.Notes().Outer[before:], "oo", "MPI_Initialized, which only outer intercepts, passes through")
}

func qmpiArguments(m *mpi, q *binding.RawQMPI) {
	if m.item("MPI_Query_thread") && m.tools(q) {
		result, c := m.query(q)
		m.right("arguments", q.Notes().Arguments, "the argument of the tool before it")
		m.expect(named(c.c, result).is(len(letters)).as("MPI_Query_thread returns 3, as each of three tools adds 1"))
	}
}

func qmpiNext(m *mpi, q *binding.RawQMPI) {
	if m.item("MPI_Query_thread") && m.tools(q) {
		m.query(q)
		m.right("changed", q.Notes().Changed, "the same answer again")
		m.right("next", q.Notes().Next, "the next tool of the list, or QMPI_Query_thread and 0")
	}
}

func qmpiAddress(m *mpi, q *binding.RawQMPI) {
	if m.item("MPI_Query_thread") {
		q.NoteAddresses()
		m.line("tool_wrapper = (tool_any *)tool_wrap_address;")
		if m.tools(q) {
			m.query(q)
			m.right("address", q.Notes().Address, "an address in the program")
		}
	}
}

func qmpiNameShift(m *mpi, _ *binding.RawQMPI) {
	names, _ := agent.Sources.ReadFile("qmpi/functions.txt")
	for _, name := range strings.Fields(string(names)) {
		if m.raw.Symbol(name) && m.item("%s", name) {
			m.line("void *function = dlsym(RTLD_DEFAULT, \"Q%s\");", name)
			m.expect(cond{m.raw.Symbol("Q" + name), "function != NULL", "Q" + name + " exists", "the library does not have it"})
		}
	}
}

func qmpiNameTwice(m *mpi, q *binding.RawQMPI) {
	if m.item("a second tool called outer") && m.registerTools(q) {
		m.expect(m.registerTool(q, "outer", "inner", 1).fails())
	}
}

const wrongNumber = 30000

// refusals tests three routines, each in a process of its own.
func (m *mpi) refusals(q *binding.RawQMPI, what string, tool, function int) {
	in := func(routine string) bool { return m.item("%s with %s", q.Name(routine), what) }
	if in("MPI_Register_tool_function") {
		q.Wrong(function, tool)
		m.line("tool_wrong_function = %d, tool_wrong_tool = %d;", function, tool)
		if m.tools(q) {
			m.expect(named("tool_notes.refused", q.Notes().Refused).is(len(letters)).as("an error in each of three calls"))
		}
	}
	if in("MPI_Get_next_tool_function") && m.tools(q) {
		m.line("void (*f)(void); int next;")
		c := m.call(q.Name("MPI_Get_next_tool_function"), func() binding.Error { return q.Next(1+tool, q.Function()+function) },
			lit("%d", 1+tool), lit("MPI_QUERY_THREAD_T + %d", function), lit("&f"), lit("&next"))
		m.expect(c.fails())
	}
}

func qmpiUnknownFunction(m *mpi, q *binding.RawQMPI) {
	m.refusals(q, "an unknown function", 0, wrongNumber)
}

func qmpiUnknownTool(m *mpi, q *binding.RawQMPI) {
	m.refusals(q, "an unknown tool", wrongNumber, 0)
	if m.item("%s with an unknown tool", q.Name("MPI_Register_tool_storage")) && m.tools(q) {
		c := m.call(q.Name("MPI_Register_tool_storage"), func() binding.Error { return q.Storage(1 + wrongNumber) }, lit("%d", 1+wrongNumber), lit("NULL"))
		m.expect(c.fails())
	}
}
