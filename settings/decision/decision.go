// Package decision reads, interprets and writes the files by which MPI libraries choose the algorithms of collectives: the rules of
// Open MPI's component coll tuned, in their classic form and in JSON, and MPICH's selection trees. It reads them as the library of a
// release does, with its mistakes: see [Read] and [Table.Serve].
package decision

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Form is the form of a file.
type Form string

// The forms.
const (
	Classic   Form = "classic rules of coll tuned"
	JSON      Form = "JSON rules of coll tuned"
	Selection Form = "selection tree of MPICH"
	Composed  Form = "selection tree of MPICH's device ch4"
)

// Table is a file as a library understands it: rules in the order in which it tries them. The first that matches serves a call.
type Table struct {
	Form     Form
	Rules    []*Rule
	Problems []Problem // by line
	Crashes  bool      // the library does not survive reading the file
	library  *Library
}

// Rejected reports whether the library does not use the file: it falls back to its own rules, or aborts.
func (t *Table) Rejected() bool {
	return slices.ContainsFunc(t.Problems, func(p Problem) bool { return p.Rejects })
}

// Wrong reports whether the library rejects the file, or calls that a line serves fail.
func (t *Table) Wrong() bool {
	return t.Rejected() || slices.ContainsFunc(t.Rules, func(r *Rule) bool { return r.Fails != "" && r.Never == "" })
}

// Problem is something wrong with a file.
type Problem struct {
	Line    int    `json:"line"`
	Text    string `json:"text"`    // "-2, expected the number of collectives (0 to 22)"
	Rejects bool   `json:"rejects"` // the library does not use the file at all
}

func (p Problem) String() string { return fmt.Sprintf("line %d: %s", p.Line, p.Text) }

func (t *Table) problem(line int, rejects bool, format string, args ...any) {
	t.Problems = append(t.Problems, Problem{line, fmt.Sprintf(format, args...), rejects})
}

// Quantity is a number that rules compare.
type Quantity int

// The quantities.
const (
	Ranks   Quantity = iota // size of the communicator
	Bytes                   // size of the message as the rules of this function count it: Library.Counted
	Total                   // MPICH: of all ranks, in total_msg_size
	Count                   // MPICH: elements
	PerNode                 // MPICH: average number of ranks on a node
	quantities
)

// Range is an interval of integers, both ends included.
type Range struct{ Min, Max int64 }

// All is the range without limits.
var All = Range{0, math.MaxInt64}

// Empty reports whether no number is in the range.
func (r Range) Empty() bool { return r.Min > r.Max }

// Has reports whether n is in the range.
func (r Range) Has(n int64) bool { return r.Min <= n && n <= r.Max }

func (r Range) and(o Range) Range { return Range{max(r.Min, o.Min), min(r.Max, o.Max)} }

// String is "any", "8", "8 and more", "0 to 7", "none".
func (r Range) String() string {
	switch {
	case r.Empty():
		return "none"
	case r == All:
		return "any"
	case r.Max == math.MaxInt64:
		return fmt.Sprint(r.Min, " and more")
	case r.Min == r.Max:
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprint(r.Min, " to ", r.Max)
}

// Rule says which algorithm serves some calls.
type Rule struct {
	Line     int
	Function string            // "MPI_Allreduce"
	Of       [quantities]Range // what the numbers of a call must be
	Needs    []Need            // what else must hold

	Algorithm  string // "ring", "MPIR_Allreduce_intra_recursive_doubling"; "": unknown
	Number     int    // Open MPI: of the algorithm; 0: the library decides as without a file
	Fanout     int
	Segment    int64
	Requests   int
	Parameters []string // MPICH: of the algorithm: "k=4"

	Missing bool   // no algorithm: the rules for these communicators are searched no further
	Fails   string // why calls that this rule serves fail; "": they do not
	Never   string // why it serves no call; "": it does
	Note    string // what a reader might not expect
}

// Need is a condition that is true or not.
type Need struct {
	Text string // "is_commutative=yes"
	Met  func(*Call) bool
}

// newRule is a rule for any call of a function.
func newRule(line int, function string) *Rule {
	r := &Rule{Line: line, Function: function}
	for q := range r.Of {
		r.Of[q] = All
	}
	return r
}

// matches reports whether the rule serves a call.
func (r *Rule) matches(l *Library, c *Call) bool {
	if r.Never != "" {
		return false
	}
	for q := range r.Of {
		if r.Of[q] != All && !r.Of[q].Has(l.amount(c, Quantity(q))) {
			return false
		}
	}
	return !slices.ContainsFunc(r.Needs, func(n Need) bool { return !n.Met(c) })
}

// Call is a call of a collective function on an intracommunicator.
type Call struct {
	Function       string // "MPI_Allreduce"
	Ranks          int
	Bytes          int64 // the count of one rank, times the size of the datatype
	Element        int64 // the size of the datatype; 0: 1
	Nodes          int   // of the communicator; 0: 1
	NotCommutative bool
	UserOp         bool // the operation is not predefined
	InPlace        bool
	Threads        bool // MPI_THREAD_MULTIPLE
	Irregular      bool // the counts of ranks differ
}

func (c *Call) element() int64 { return max(c.Element, 1) }

// Answer is what serves a call.
type Answer struct {
	Rule    *Rule  // nil: none, so that the library decides as without a file
	Counted int64  // the size of the message as the rules of this function count it
	Text    string // "line 7: ring"
}

// Serve finds the rule that serves a call.
func (t *Table) Serve(c Call) Answer {
	a := Answer{Counted: t.library.Counted(&c)}
	switch {
	case t.Crashes:
		a.Text = "nothing: MPI_Init crashes"
		return a
	case t.Rejected() && t.library.Family == "mpich":
		a.Text = "nothing: MPI_Init or a collective aborts"
		return a
	case t.Form == Han && c.Nodes < 2:
		a.Text = "another component: coll han serves communicators of several nodes"
		return a
	case c.Ranks < 2 && t.library.Family != "mpich":
		a.Text = "the library's own rules: coll tuned does not serve communicators of one rank"
		return a
	case t.Rejected():
		a.Text = "the library's own rules: it rejects the file"
		return a
	}
	if k := slices.IndexFunc(t.Rules, func(r *Rule) bool { return r.Function == c.Function && r.matches(t.library, &c) }); k >= 0 {
		a.Rule = t.Rules[k]
	}
	switch r := a.Rule; {
	case t.Form == Composed && (r == nil || r.Missing):
		a.Text = "MPICH's own algorithms, as MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE says: no composition matches"
	case r == nil && t.Form == Selection:
		a.Text = "nothing: the file has no " + key(c.Function) + ", and the library aborts"
	case r == nil && t.Form == Han:
		a.Text = "coll_han_" + key(c.Function) + "_dynamic_global_communicator_module: no line of the file matches"
	case r == nil:
		a.Text = "the library's own rules: no line of the file matches"
	case r.Missing && t.Form == JSON:
		a.Text = fmt.Sprintf("line %d: the library's own rules: no rule below it matches", r.Line)
	case r.Missing:
		a.Text = fmt.Sprintf("line %d: nothing below it matches, and the library aborts", r.Line)
	case r.Fails != "":
		a.Text = fmt.Sprintf("line %d: %s: %s", r.Line, r.AlgorithmText(), r.Fails)
	case r.Number == 0 && r.Algorithm == "":
		a.Text = fmt.Sprintf("line %d: %s", r.Line, t.library.unruled(c.Function))
	default:
		a.Text = fmt.Sprintf("line %d: %s", r.Line, r.AlgorithmText())
	}
	return a
}

// AlgorithmText is "ring (4)", "MPIR_Bcast_intra_binomial", "0".
func (r *Rule) AlgorithmText() string {
	switch {
	case r.Missing:
		return "none"
	case r.Number == 0 && r.Algorithm != "", slices.Contains(components, r.Algorithm):
		return r.Algorithm
	case r.Number == 0 || r.Algorithm == "":
		return fmt.Sprint(r.Number)
	}
	return fmt.Sprintf("%s (%d)", r.Algorithm, r.Number)
}

const most = 5000 // rules that are compared with each other

// finish finds rules that serve no call because those before them serve all that they would, and sorts the problems.
func (t *Table) finish() {
	for k, r := range t.Rules {
		if r.Never != "" || r.Missing {
			continue
		}
		for q, of := range r.Of {
			if of.Empty() {
				r.Never = "lines before it serve all calls that it matches"
				if Quantity(q) == Ranks && (t.Form == Classic || t.Form == Han) {
					r.Never = "the sizes of communicators are not in increasing order"
				} else if Quantity(q) == Bytes && (t.Form == Classic || t.Form == Han) {
					r.Never = "the sizes of messages are not in increasing order"
				}
			}
		}
		if k > most {
			continue
		}
		for _, before := range t.Rules[:k] {
			if r.Never == "" && before.Function == r.Function && before.Never == "" && before.covers(r) {
				r.Never = fmt.Sprintf("line %d serves all calls that it matches", before.Line)
			}
		}
	}
	slices.SortStableFunc(t.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}

// covers reports whether the rule serves each call that the other one matches.
func (r *Rule) covers(o *Rule) bool {
	for q := range r.Of {
		if r.Of[q].Min > o.Of[q].Min || r.Of[q].Max < o.Of[q].Max {
			return false
		}
	}
	return !slices.ContainsFunc(r.Needs, func(n Need) bool {
		return !slices.ContainsFunc(o.Needs, func(m Need) bool { return m.Text == n.Text })
	})
}

// Function is the MPI function of an operation: "MPI_Allreduce" of "allreduce", "MPI_Allreduce", "mpi_allreduce".
func Function(operation string) string {
	word := key(operation)
	if word == "" {
		return ""
	}
	return "MPI_" + strings.ToUpper(word[:1]) + word[1:]
}

// key is the operation of a function: "allreduce".
func key(function string) string { return strings.TrimPrefix(strings.ToLower(function), "mpi_") }

// IsCollective reports whether files of some library may have rules for a function.
func IsCollective(function string) bool {
	return slices.Contains(collectives, key(function)) || slices.Contains(selected, key(function))
}

// MaxSize is the size up to which files are read.
const MaxSize = 1 << 20
