//go:build cgo && linux

// Package rules holds the rules of mpitx check. Each rule calls the library without mpitx's own checks, in a process of its own. Every
// call is traced as a line of C, so that a violation can be shown by a program without mpitx.
//
//	rule.go       what a rule is, and the list of all
//	cond.go       conditions: what rules expect, in Go, in C and in words
//	trace.go      the traced process: items, calls, expectations
//	args.go       the arguments of calls, and what calls return
//	calls.go      the routines as rules call them
//	variables.go  variables with handles, and their routines
//	worker.go     the process that runs one rule
//	runner.go     starts workers and collects results
//	names.go …    the rules, one file per subject
package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"mpitx/binding"
	"mpitx/check"
)

// mpi is the library in the process of one rule.
type mpi struct {
	raw      binding.Raw
	lib      *binding.Library
	rule     *rule
	version  string // of the library, and of MPI
	standard string // the latter

	journal  *os.File // what the runner reads after this process's end, in the form of journal.go
	pending  []byte   // of the journal, to be written before the next call
	skip     int      // items that an earlier process tested
	items    int
	itemName string
	bad      bool   // the item has a violation
	quiet    bool   // calls are not part of programs
	dry      bool   // trace calls without making them
	shift    string // "P": calls have their shifted names in programs
	preamble []string
	lines    []string // of the item, in C
	called   []string // of the item, with results
	setup    []string // called before the first item
	names    map[string]int
	first    map[string]int // names after the preamble
	judge    func(code)     // looks at each call of the rule
	limit    time.Duration  // of a call, after which it hangs
	sessions []*handle      // of performance variables: those of this item, and those that earlier items left
	earlier  []*handle
}

// note adds a line to the journal.
func (m *mpi) note(kind byte, text string) {
	m.pending = append(m.pending, kind, ' ')
	m.pending = append(m.pending, strings.ReplaceAll(text, "\n", "\\n")...)
	m.pending = append(m.pending, '\n')
}

func (m *mpi) flush() {
	m.journal.Write(m.pending)
	m.pending = m.pending[:0]
}

// item begins what is tested next. It returns false if an earlier process of this rule tested it. Calls before the first item are part
// of every item's program.
func (m *mpi) item(format string, args ...any) bool {
	if m.rule.alone && m.items > m.skip {
		if m.items == m.skip+1 {
			m.note(noteMore, "")
		}
		return false
	}
	if m.items == 0 {
		m.preamble, m.setup, m.first = m.lines, m.called, m.names
	}
	m.items++
	m.earlier, m.sessions = append(m.earlier, m.sessions...), nil
	m.bad, m.lines, m.called = false, nil, nil
	m.names = make(map[string]int, len(m.first)+8)
	for k, v := range m.first {
		m.names[k] = v
	}
	if m.items <= m.skip {
		m.note(noteSkipped, "")
		return false
	}
	m.note(noteItem, fmt.Sprintf(format, args...))
	m.itemName = fmt.Sprintf(format, args...)
	return true
}

// rename gives the item the name of what it turned out to be.
func (m *mpi) rename(name string) {
	m.itemName = name
	m.note(noteName, name)
}

// fresh returns a new C identifier.
func (m *mpi) fresh(name string) string {
	m.names[name]++
	return fmt.Sprintf("%s%d", name, m.names[name])
}

// line adds C code that calls nothing of the library.
func (m *mpi) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	m.lines = append(m.lines, text)
	if m.quiet {
		m.note(noteQuietLine, text)
	} else {
		m.note(noteLine, text)
	}
}

// arg is an argument of a traced call.
type arg struct {
	c     string
	show  func() string // the value after the call; nil for an input
	print string        // C that prints the value
}

func lit(format string, args ...any) arg { return arg{c: fmt.Sprintf(format, args...)} }

// code is a return code.
type code struct {
	rc      binding.Error
	c       string // its C variable
	routine string
}

func (c code) ok() bool { return c.rc == 0 }

// call traces a call and makes it.
func (m *mpi) call(routine string, f func() binding.Error, args ...arg) code {
	words := make([]string, len(args))
	for k, a := range args {
		words[k] = a.c
	}
	c := code{c: m.fresh("rc"), routine: routine}
	text := m.shift + routine + "(" + strings.Join(words, ", ") + ")"
	m.lines = append(m.lines, fmt.Sprintf("int %s; CALL(%s, %s);", c.c, c.c, text))
	kind := byte(noteCall)
	if m.quiet {
		kind = noteQuietCall
	}
	m.note(kind, m.lines[len(m.lines)-1])
	if m.dry {
		m.called = append(m.called, text)
		return c
	}
	m.flush()
	c.rc = f()
	result := text + " = " + codeName(c.rc)
	for _, a := range args {
		if a.show != nil {
			result += ", " + a.show()
			if a.print != "" {
				m.line("%s", a.print)
			}
		}
	}
	m.called = append(m.called, result)
	if m.judge != nil && !m.quiet {
		m.judge(c)
	}
	return c
}

// expect records a violation of the item unless all conditions hold, which it returns. The first violation of an item counts.
func (m *mpi) expect(some ...cond) bool {
	c := every(some...)
	if !c.ok && !m.bad {
		m.violation(check.Violated, c.c, c.want, c.got)
	}
	return c.ok
}

func (m *mpi) violation(status check.Status, kept, expected, got string) {
	m.bad = true
	p := check.Program{Rule: m.rule.Rule, Library: m.version, Item: m.itemName, Expected: expected, Got: got, Kept: kept,
		File: m.rule.file, Lines: slices.Concat(m.preamble, m.lines), Ranks: m.rule.ranks}
	v := check.Violation{Status: status, Item: m.itemName, Called: slices.Concat(m.setup, m.called), Expected: expected, Got: got}
	raw, _ := json.Marshal(notedViolation{v, p.String()})
	m.note(noteViolation, string(raw))
}

// succeeds expects MPI_SUCCESS.
func (m *mpi) succeeds(c code) bool { return m.expect(c.is(0)) }

// notApplicable ends a rule that says nothing about this library.
func (m *mpi) notApplicable(format string, args ...any) {
	m.note(noteInapplicable, fmt.Sprintf(format, args...))
}

// quietly makes calls that are not part of programs.
func (m *mpi) quietly(f func()) {
	lines, called, names := m.lines, m.called, m.names
	m.names = map[string]int{} // the lines are a block of their own
	m.quiet = true
	m.note(noteQuiet, "")
	f()
	m.quiet = false
	m.note(noteLoud, "")
	m.lines, m.called, m.names = lines, called, names
}

// absent notes that the item is not there.
func (m *mpi) absent() { m.note(noteAbsent, "") }

// untestable is a panic that ends a rule, because the library has more than mpitx tests, or says nonsense.
type untestable string

// most bounds the numbers of things that a library has, so that it cannot take all memory.
const most = 100_000

// few ends the rule if a number is not one that mpitx can work with.
func few(n int32, what string) {
	switch {
	case n < 0:
		panic(untestable(fmt.Sprintf("the library returns %d as the number of %s", n, what)))
	case n > most:
		panic(untestable(fmt.Sprintf("the library returns %d as the number of %s, and mpitx tests at most %d", n, what, most)))
	}
}

// violationOf notes a crash or hang that a forked child met, in the same words as for a process of its own.
func (m *mpi) violationOf(fault string) {
	status, got := check.Crashed, "the process ended"
	if strings.Contains(fault, "timed out") {
		status, got = check.Hung, ending{hung: true, limit: m.trialLimit()}.String()
	} else if _, name, ok := strings.Cut(strings.TrimSuffix(fault, ")"), "("); ok {
		got = ending{signal: unix.SignalNum(name)}.String()
	}
	last := ""
	if len(m.called) > 0 {
		last = m.called[len(m.called)-1]
	}
	m.violation(status, "", last+" returns", got)
}

// fact notes what other ranks must have, too.
func (m *mpi) fact(key, text string) { m.note(noteShared, fmt.Sprintf("%q %q", key, text)) }
