package decision

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// selection reads a tree as parse_json_tree, validate_tree, MPIR_Csel_prune and MPIR_Csel_search in src/mpi/coll/src/csel.c do. Each algorithm
// becomes a rule with the conditions on the way to it, also those that were not met before.
type selection struct {
	*Table
	operation string
}

// selected are the operations that MPICH's trees may have.
var selected = func() (all []string) {
	for operation := range strings.FieldsSeq(`allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv
		neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw reduce reduce_scatter
		reduce_scatter_block scan scatter scatterv`) {
		all = append(all, operation, "i"+operation)
	}
	return all
}()

// defined are the operations for which a condition is defined; for others, MPICH aborts in the call. Nonblocking ones are as blocking ones.
var defined = map[string]string{
	"avg_msg_size":       "allreduce bcast reduce alltoall",
	"total_msg_size":     "allreduce bcast reduce alltoall alltoallv alltoallw allgather allgatherv gather scatter reduce_scatter reduce_scatter_block",
	"count":              "bcast allreduce reduce allgather allgatherv reduce_scatter reduce_scatter_block",
	"is_commutative":     "allreduce reduce reduce_scatter reduce_scatter_block",
	"is_op_built_in":     "allreduce reduce",
	"is_block_regular":   "reduce_scatter",
	"is_sendbuf_inplace": "alltoall alltoallv alltoallw",
}

// way is what holds on the way to a place of the tree.
type way struct {
	of    [quantities]Range
	needs []Need
	calls bool // a condition on the call was met before: conditions on the communicator are then evaluated in each call
}

func (w way) with(q Quantity, r Range) way {
	w.of[q] = w.of[q].and(r)
	return w
}

func (w way) needing(text string, met func(*Call) bool) way {
	w.needs = append(slices.Clone(w.needs), Need{text, met})
	return w
}

func readSelection(root *node, l *Library, form Form) *Table {
	s := &selection{Table: &Table{Form: form, library: l}}
	w := way{}
	for q := range w.of {
		w.of[q] = All
	}
	s.top(root, root.line, w)
	s.finish()
	return s.Table
}

// top reads the collectives. Conditions on the communicator may come before them, as MPIR_Csel_prune follows them.
func (s *selection) top(n *node, line int, w way) {
	if n.kind != '{' || len(n.keys) == 0 {
		s.problem(line, true, `expected keys such as "collective=allreduce"`)
		return
	}
	follows := false // a collective
	for k, name := range n.keys {
		name, line := squeeze(name), n.lines[k]
		operation, ok := strings.CutPrefix(name, "collective=")
		c, problem := condition{}, "not a collective"
		if !ok && !follows {
			s.operation = ""
			c, problem = s.condition(name, w)
		}
		switch {
		case ok && slices.Contains(selected, operation):
			s.operation, follows = operation, true
			s.tree(n.members[k], line, w)
		case ok || problem != "" || c.calls:
			s.problem(line, true, `%q, expected a collective, such as "collective=allreduce"`, name)
		case c.compares && k == len(n.keys)-1:
			s.problem(line, true, `%q must be followed by another condition, such as "comm_size=any"`, name)
		default:
			s.top(n.members[k], line, c.met(w))
			w = c.unmet(w)
		}
	}
}

// what a tree selects.
func (s *selection) what() string {
	if s.library.composed {
		return "composition"
	}
	return "algorithm"
}

func (s *selection) article() string {
	return map[string]string{"algorithm": "an algorithm", "composition": "a composition"}[s.what()]
}

func (s *selection) example() string {
	return map[string]string{"algorithm": "algorithm=MPIR_", "composition": "composition=MPIDI_"}[s.what()]
}

// squeeze removes spaces, as MPL_strdup_no_spaces.
func squeeze(name string) string { return strings.ReplaceAll(name, " ", "") }

// tree reads the conditions at one place: the first that is met leads on, and nothing leads back.
func (s *selection) tree(n *node, line int, w way) {
	if n.kind != '{' || len(n.keys) == 0 {
		s.problem(line, true, `expected conditions or %s, such as "%s…"`, s.article(), s.example())
		return
	}
	for k, name := range n.keys {
		name, line := squeeze(name), n.lines[k]
		if algorithm, ok := strings.CutPrefix(name, s.what()+"="); ok {
			s.leaf(algorithm, n.members[k], line, w)
			if k > 0 {
				s.problem(line, true, "%s must not follow a condition at the same place", s.article())
			}
			return
		}
		c, problem := s.condition(name, w)
		if problem != "" {
			s.problem(line, true, "%s", problem)
			return
		}
		last := k == len(n.keys)-1
		switch {
		case c.any && !last:
			s.problem(n.lines[k+1], true, "nothing may follow %q", name)
		case c.compares && last:
			s.problem(line, true, `%q must be followed by another condition, such as "comm_size=any"`, name)
		}
		s.tree(n.members[k], line, c.met(w))
		if c.any {
			return
		}
		w = c.unmet(w)
		w.calls = w.calls || c.calls
	}
	if !contradictory(w.needs) {
		s.Rules = append(s.Rules, s.rule(line, w, true))
	}
}

// contradictory reports whether no call meets all needs.
func contradictory(needs []Need) bool {
	return slices.ContainsFunc(needs, func(n Need) bool {
		return slices.ContainsFunc(needs, func(m Need) bool { return m.Text == opposite(n.Text) })
	})
}

// opposite is the condition that holds if one does not.
func opposite(name string) string {
	what, value, _ := strings.Cut(name, "=")
	for _, pair := range [][2]string{{"yes", "no"}, {"no", "yes"}, {"intra", "inter"}, {"inter", "intra"}} {
		if value == pair[0] {
			return what + "=" + pair[1]
		}
	}
	if positive, ok := strings.CutPrefix(name, "not "); ok {
		return positive
	}
	return "not " + name
}

func (s *selection) rule(line int, w way, missing bool) *Rule {
	return &Rule{Line: line, Function: Function(s.operation), Of: w.of, Needs: w.needs, Missing: missing}
}

// leaf is an algorithm and its parameters.
func (s *selection) leaf(name string, parameters *node, line int, w way) {
	r := s.rule(line, w, false)
	r.Algorithm, r.Parameters = name, parameters.keys
	of := regexp.MustCompile(`(?i)^MPIR_` + s.operation + `_(intra|inter|allcomm)_`)
	names := s.library.Algorithms[s.operation]
	if s.library.composed {
		of, names = regexp.MustCompile(`(?i)^MPIDI_`+s.operation+`_(intra|inter|allcomm)_composition_`), s.library.compositions
	}
	switch {
	case len(s.library.Algorithms) > 0 && !slices.Contains(names, name) && len(names) > 0:
		s.problem(line, true, "%s has no %s %q of %s", s.library.Text(), s.what(), name, r.Function)
	case !of.MatchString(name):
		r.Fails = "it is not " + s.article() + " of " + r.Function + ", so MPICH aborts in the call"
	}
	if contradictory(w.needs) {
		r.Never = "its conditions contradict each other"
	}
	s.Rules = append(s.Rules, r)
}

// condition is one key.
type condition struct {
	any      bool
	compares bool // another key must follow
	calls    bool // it depends on the call, not only on the communicator
	met      func(way) way
	unmet    func(way) way
}

var comparison = regexp.MustCompile(`^(comm_size|comm_avg_ppn|avg_msg_size|total_msg_size|count)(<=|<)(\d+)$`)

// condition reads a key; problem says why MPICH aborts.
func (s *selection) condition(name string, w way) (c condition, problem string) {
	what, _, _ := strings.Cut(strings.ReplaceAll(name, "<", "="), "=")
	if operations, ok := defined[what]; ok && name != what+"=any" && !slices.Contains(strings.Fields(operations), strings.TrimPrefix(s.operation, "i")) {
		return c, fmt.Sprintf("%s is not defined for %s: MPICH aborts in the call; it is for %s", what, Function(s.operation), operations)
	}
	_, c.calls = defined[what]
	c.calls = c.calls || what == "is_multi_threaded"
	if found := comparison.FindStringSubmatch(name); found != nil {
		c.compares = true
		return c, s.compare(&c, found[1], found[2], found[3], w)
	}
	value := strings.TrimPrefix(name, what+"=")
	same := func(w way) way { return w }
	both := func(of func(*Call) bool) {
		wanted := value != "no"
		c.met = func(w way) way {
			w = w.needing(name, func(call *Call) bool { return of(call) == wanted })
			w.calls = w.calls || c.calls
			return w
		}
		c.unmet = func(w way) way {
			return w.needing(opposite(name), func(call *Call) bool { return of(call) != wanted })
		}
	}
	yesNo := map[string]func(*Call) bool{
		"is_multi_threaded": func(c *Call) bool { return c.Threads }, "is_commutative": func(c *Call) bool { return !c.NotCommutative },
		"is_sendbuf_inplace": func(c *Call) bool { return c.InPlace }, "is_op_built_in": func(c *Call) bool { return !c.UserOp },
		"is_block_regular": func(c *Call) bool { return !c.Irregular }, "is_node_consecutive": s.library.isConsecutive,
	}
	switch of := yesNo[what]; {
	case of != nil && (value == "yes" || value == "no"):
		both(of)
	case name == "comm_type=intra":
		both(func(*Call) bool { return true })
	case name == "comm_type=inter":
		both(func(*Call) bool { return false })
	case name == "comm_size=pow2":
		c.compares = true
		both(func(c *Call) bool { return c.Ranks&(c.Ranks-1) == 0 })
	case name == "comm_size=node_comm_size":
		c.compares = true
		both(func(c *Call) bool { return c.Nodes <= 1 && c.Ranks > 1 && !s.library.onNode(c) })
	case name == "count<pow2":
		c.compares = true
		both(func(call *Call) bool { return s.library.amount(call, Count) < int64(power(call.Ranks)) })
	case name == "comm_hierarchy=parent":
		both(s.library.isParent)
	case name == "comm_hierarchy=flat" || s.library.since(5) && (name == "comm_hierarchy=node" || name == "comm_hierarchy=node_roots"):
		both(func(c *Call) bool { return !s.library.isParent(c) && (s.library.since(5) || !s.library.onNode(c)) })
	case name == "comm_hierarchy=node":
		both(s.library.onNode)
	case name == "comm_hierarchy=node_roots":
		both(func(*Call) bool { return false })
	case s.library.isAny(name):
		c.any, c.met, c.unmet = true, same, same
	default:
		return c, fmt.Sprintf("%q, expected a condition, such as %q, or \"algorithm=…\"", name, "comm_size<=8")
	}
	return c, ""
}

// isParent reports whether a communicator has several ranks of a node, so that MPICH makes communicators of the nodes for it.
// With 5.0.2, comm_hierarchy=parent was not met on one node.
func (l *Library) isParent(c *Call) bool {
	return c.Ranks > max(c.Nodes, 1) && !l.onNode(c) && (c.Nodes > 1 || !l.since(5))
}

// onNode reports whether MPICH chooses the algorithm for its communicator of the node: what ch4 calls on one node (src/mpid/ch4/src/ch4_coll_impl.h).
func (l *Library) onNode(c *Call) bool {
	return l.ch4 && c.Nodes <= 1 && c.Ranks > 1 && slices.Contains([]string{"barrier", "bcast", "reduce", "scan"}, key(c.Function))
}

// isConsecutive reports whether is_node_consecutive holds if the ranks of each node follow one another. From 5.0 on, it never holds on one node, nor if
// each rank has a node of its own (src/mpi/comm/commutil.c).
func (l *Library) isConsecutive(c *Call) bool {
	return !l.onNode(c) && (!l.since(5) || c.Nodes > 1 && c.Ranks > c.Nodes)
}

func power(ranks int) int {
	p := 1
	for p*2 <= ranks {
		p *= 2
	}
	return p
}

// isAny reports whether a key matches anything.
func (l *Library) isAny(name string) bool {
	if !l.since(4, 2) {
		return slices.Contains([]string{"comm_size=any", "avg_msg_size=any", "total_msg_size=any", "count=any", "comm_hierarchy=any"}, name)
	}
	return name == "any" || strings.HasSuffix(name, "=any")
}

// compare reads a comparison with a number.
func (s *selection) compare(c *condition, what, operator, digits string, w way) (problem string) {
	number, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return fmt.Sprintf("%s, expected at most %d", digits, math.MaxInt32)
	}
	q := map[string]Quantity{"comm_size": Ranks, "comm_avg_ppn": PerNode, "avg_msg_size": Bytes, "total_msg_size": Total, "count": Count}[what]
	if what == "comm_avg_ppn" && operator == "<" && !s.library.since(4, 2) || what == "count" && operator == "<" {
		return fmt.Sprintf("%s%s is not known, expected %s<=", what, operator, what)
	}
	if operator == "<" && !(what == "comm_size" && w.calls) { // MPIR_Csel_search compares sizes of communicators with <=
		number--
	}
	c.met = func(w way) way {
		w.calls = w.calls || c.calls
		return w.with(q, Range{0, number})
	}
	c.unmet = func(w way) way { return w.with(q, Range{number + 1, math.MaxInt64}) }
	return ""
}

// total is what total_msg_size compares (get_total_msgsize). Of gather and scatter, it leaves out the size of the datatype.
func (l *Library) total(c *Call) int64 {
	n := c.Bytes * int64(c.Ranks)
	if slices.Contains([]string{"gather", "scatter", "igather", "iscatter", "ireduce_scatter_block"}, key(c.Function)) {
		n /= c.element()
	}
	return n
}
