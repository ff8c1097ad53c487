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

var qmpiRules = section{subject: "QMPI", needs: "QMPI", stage: bare, file: binding.QMPITools, rules: []rule{
	{Rule: promise("qmpi-register", draft, "Before MPI is initialized, a tool can be registered, with several names."), run: onQMPI(qmpiRegister)},
	{Rule: promise("qmpi-init", draft, "The initialization of MPI calls the init function of each tool that the user lists, in this order, and of no other."), item: "the list " + listed, run: onQMPI(qmpiInit)},
	{Rule: promise("qmpi-numbers", draft, "Each instance of a tool has a number of its own, which is not the library's."), item: "the list " + listed, run: onQMPI(qmpiNumbers)},
	{Rule: promise("qmpi-storage", draft, "MPI_Get_tool_storage returns what this instance of the tool registered."), item: "MPI_Query_thread", run: onQMPI(qmpiStorage)},
	{Rule: promise("qmpi-order", draft, "A call passes through the tools that intercept the function, in the user's order, once each."), item: "MPI_Query_thread and MPI_Initialized", run: onQMPI(qmpiOrder)},
	{Rule: promise("qmpi-arguments", draft, "A tool gets the arguments of the application or of the tool before it, and the application what the first tool returns."), item: "MPI_Query_thread", run: onQMPI(qmpiArguments)},
	{Rule: promise("qmpi-next", draft, "MPI_Get_next_tool_function returns the next tool that intercepts the function, at last the library, and always the same."), item: "MPI_Query_thread", run: onQMPI(qmpiNext)},
	{Rule: promise("qmpi-address", draft, "MPI_Get_calling_address returns the address from which the application called MPI."), item: "MPI_Query_thread", run: onQMPI(qmpiAddress)},
	{Rule: promise("qmpi-name-shift", draft, "Each function of MPI has an entry point with the prefix QMPI_."), run: onQMPI(qmpiNameShift)},
	{Rule: lenient("qmpi-name-twice", draft, "The name of a tool is unique: a second tool of this name is refused.", unneeded), item: "a second tool called outer", alone: true, run: onQMPI(qmpiNameTwice)},
	{Rule: lenient("qmpi-unknown-function", draft, "The number of a function that does not exist is refused.", unneeded), alone: true, run: onQMPI(qmpiUnknownFunction)},
	{Rule: lenient("qmpi-unknown-tool", draft, "The number of a tool that does not exist is refused.", unneeded), alone: true, run: onQMPI(qmpiUnknownTool)},
}}

// qmpi is a library that has QMPI.
type qmpi struct {
	*mpi
	*binding.RawQMPI
}

func onQMPI(f func(q qmpi)) func(*mpi) {
	return func(m *mpi) { f(qmpi{m, m.lib.QMPI()}) }
}

// listed is the list of tools; its first letters are those of the notes.
const listed, letters = "outer:inner:outer", "oio"

// registerTools registers the tools.
func (q qmpi) registerTools() bool {
	q.line("setenv(\"MPIR_CVAR_QMPI_TOOL_LIST\", %q, 1);", listed)
	q.line("tool_start((void *)%s, (void *)%s, (void *)%s, (void *)%s, (void *)%s, (void *)QMPI_Query_thread, (void *)QMPI_Initialized, MPI_QUERY_THREAD_T, MPI_INITIALIZED_T);",
		q.Name("MPI_Register_tool_storage"), q.Name("MPI_Register_tool_function"), q.Name("MPI_Get_next_tool_function"), q.Name("MPI_Get_tool_storage"), q.Name("MPI_Get_calling_address"))
	q.ListTools(listed)
	for k, name := range []string{"outer", "inner", "unlisted"} {
		if !q.succeeds(q.registerTool(name, name, k)) {
			return false
		}
	}
	return true
}

// registerTool registers a tool by a name.
func (q qmpi) registerTool(name, tool string, k int) code {
	return q.call(q.Name("MPI_Register_tool_name"), func() binding.Error { return q.Register(name, k) }, lit("%q", name), lit("tool_init_%s", tool))
}

// tools registers the tools and initializes MPI.
func (q qmpi) tools() bool {
	return q.registerTools() && q.succeeds(q.initMPI())
}

// query calls MPI_Query_thread through the tools.
func (q qmpi) query() (result int, c code) {
	level := q.num("level", untouched)
	c = q.call("MPI_Query_thread", func() binding.Error { result = q.QueryThread(&level.v); return 0 }, lit("&%s", level.c))
	return result, c
}

// right expects that the tools noted nothing wrong.
func (q qmpi) right(field string, n int, expected string) bool {
	return q.expect(named("tool_notes."+field, n).is(0).as("%s", expected).but("%d times not", n))
}

// passed expects the letters of the tools that a call passed through.
func (q qmpi) passed(field, got, want, what string) bool {
	notes := &buffer{b: []byte(got), c: "tool_notes." + field}
	return q.expect(notes.reads(want).as("%s %s", what, spelled(want)).but("%s", spelled(got)))
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

func qmpiRegister(q qmpi) {
	if q.item("%s", q.Name("MPI_Register_tool_name")) {
		q.registerTools()
	}
}

func qmpiInit(q qmpi) {
	if q.registerTools() {
		q.passed("inits", q.Notes().Inits, "", "before the initialization of MPI:")
		if q.succeeds(q.initMPI()) {
			q.passed("inits", q.Notes().Inits, letters, "initialized:")
		}
	}
}

func qmpiNumbers(q qmpi) {
	if q.tools() {
		q.right("numbers", q.Notes().Numbers, "each number is new, and not 0")
	}
}

func qmpiStorage(q qmpi) {
	if q.tools() {
		q.right("refused", q.Notes().Refused, "storage and functions can be registered")
		q.query()
		q.right("storage", q.Notes().Storage, "the storage of the instance")
	}
}

func qmpiOrder(q qmpi) {
	if !q.tools() {
		return
	}
	q.query()
	q.passed("all", q.Notes().All, letters, "MPI_Query_thread passes through")
	flag := q.num("flag", untouched)
	q.line("memset(tool_notes.outer, 0, sizeof tool_notes.outer);") // the library may have called it before
	before := len(q.Notes().Outer)
	q.call("MPI_Initialized", func() binding.Error { return binding.Error(q.Initialized(&flag.v)) }, flag.out())
	q.passed("outer", q.Notes().Outer[before:], "oo", "MPI_Initialized, which only outer intercepts, passes through")
}

func qmpiArguments(q qmpi) {
	if q.tools() {
		result, c := q.query()
		q.right("arguments", q.Notes().Arguments, "the argument of the tool before it")
		q.expect(named(c.c, result).is(len(letters)).as("MPI_Query_thread returns 3, as each of three tools adds 1"))
	}
}

func qmpiNext(q qmpi) {
	if q.tools() {
		q.query()
		q.right("changed", q.Notes().Changed, "the same answer again")
		q.right("next", q.Notes().Next, "the next tool of the list, or QMPI_Query_thread and 0")
	}
}

func qmpiAddress(q qmpi) {
	q.NoteAddresses()
	q.line("tool_wrapper = (tool_any *)tool_wrap_address;")
	if q.tools() {
		q.query()
		q.right("address", q.Notes().Address, "an address in the program")
	}
}

func qmpiNameShift(q qmpi) {
	names, _ := agent.Sources.ReadFile("qmpi/functions.txt")
	for _, name := range strings.Fields(string(names)) {
		if q.raw.Symbol(name) && q.item("%s", name) {
			q.line("void *function = dlsym(RTLD_DEFAULT, \"Q%s\");", name)
			q.expect(cond{q.raw.Symbol("Q" + name), "function != NULL", "Q" + name + " exists", "the library does not have it"})
		}
	}
}

func qmpiNameTwice(q qmpi) {
	if q.registerTools() {
		q.expect(q.registerTool("outer", "inner", 1).fails())
	}
}

const wrongNumber = 30000

// refusals tests three routines, each in a process of its own.
func (q qmpi) refusals(what string, tool, function int) {
	in := func(routine string) bool { return q.item("%s with %s", q.Name(routine), what) }
	if in("MPI_Register_tool_function") {
		q.Wrong(function, tool)
		q.line("tool_wrong_function = %d, tool_wrong_tool = %d;", function, tool)
		if q.tools() {
			q.expect(named("tool_notes.refused", q.Notes().Refused).is(len(letters)).as("an error in each of three calls"))
		}
	}
	if in("MPI_Get_next_tool_function") && q.tools() {
		q.line("void (*f)(void); int next;")
		c := q.call(q.Name("MPI_Get_next_tool_function"), func() binding.Error { return q.Next(1+tool, q.Function()+function) },
			lit("%d", 1+tool), lit("MPI_QUERY_THREAD_T + %d", function), lit("&f"), lit("&next"))
		q.expect(c.fails())
	}
}

func qmpiUnknownFunction(q qmpi) {
	q.refusals("an unknown function", 0, wrongNumber)
}

func qmpiUnknownTool(q qmpi) {
	q.refusals("an unknown tool", wrongNumber, 0)
	if q.item("%s with an unknown tool", q.Name("MPI_Register_tool_storage")) && q.tools() {
		c := q.call(q.Name("MPI_Register_tool_storage"), func() binding.Error { return q.Storage(1 + wrongNumber) }, lit("%d", 1+wrongNumber), lit("NULL"))
		q.expect(c.fails())
	}
}
