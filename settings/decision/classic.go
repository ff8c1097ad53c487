package decision

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mpitx/text"
)

// collectives are the operations by their number in files of rules (COLLTYPE_T in ompi/mca/coll/base/coll_base_functions.h).
var collectives = strings.Fields(`allgather allgatherv allreduce alltoall alltoallv alltoallw barrier bcast exscan gather gatherv reduce
	reduce_scatter reduce_scatter_block scan scatter scatterv neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv
	neighbor_alltoallw`)

// tuned are those that coll tuned serves (COLL_TUNED_EXECUTE_IF_DYNAMIC in coll_tuned_module.c).
var tuned = strings.Fields(`allgather allgatherv allreduce alltoall alltoallv barrier bcast exscan gather reduce reduce_scatter reduce_scatter_block
	scan scatter`)

// scanner reads numbers as ompi_coll_base_file_getnext_long does: fscanf with %li; it skips comments and any other text.
type scanner struct {
	data    []byte
	at      int
	line    int
	decimal bool // numbers have no other base, as %zu reads them
	skipped func(line int, text string)
	was     struct { // text that was skipped last
		line, start int
	}
}

// next is the next number, and its line; ok is false at the end.
func (s *scanner) next() (n int64, line int, ok bool) {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '\n':
			s.line++
			s.at++
		case c == ' ' || '\t' <= c && c <= '\r':
			s.at++
		case c == '#':
			if end := bytes.IndexByte(s.data[s.at:], '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.data)
			}
		default:
			length, base := numberLength(s.data[s.at:]), 0
			if s.decimal {
				length, base = len(decimal.Find(s.data[s.at:])), 10
			}
			if length > 0 {
				digits := string(s.data[s.at : s.at+length])
				s.at += length
				n, _ := strconv.ParseInt(digits, base, 64) // out of range: the nearest, as strtol
				return n, s.line, true
			}
			start := s.at
			s.at++
			if start != s.was.start || s.line != s.was.line {
				end := start
				for end < len(s.data) && s.data[end] > ' ' {
					end++
				}
				s.skipped(s.line, string(s.data[start:end]))
			}
			s.was.line, s.was.start = s.line, s.at
		}
	}
	return 0, s.line, false
}

var decimal = regexp.MustCompile(`^[+-]?[0-9]+`)

// numberLength is the length of the number at the start of a text, as %li reads it; 0 if there is none.
func numberLength(s []byte) int {
	n := 0
	if n < len(s) && (s[n] == '+' || s[n] == '-') {
		n++
	}
	digits, start := "0123456789", n
	if n+1 < len(s) && s[n] == '0' && (s[n+1]|0x20) == 'x' {
		digits, start = "0123456789abcdefABCDEF", n+2
	} else if n < len(s) && s[n] == '0' {
		digits = "01234567"
	}
	for n = start; n < len(s) && strings.IndexByte(digits, s[n]) >= 0; n++ {
	}
	if n == start {
		return 0
	}
	return n
}

// digitFollows reports whether the next character on the line that is no blank is a digit.
func (s *scanner) digitFollows() bool {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t') {
		s.at++
	}
	return s.at < len(s.data) && '0' <= s.data[s.at] && s.data[s.at] <= '9'
}

// classic is the reader of ompi_coll_tuned_read_rules_config_file.
type classic struct {
	*Table
	scanner
	version int
}

// block are the rules of one size of communicators.
type block struct {
	line  int
	size  int64
	rules []*Rule
	sizes []int64 // of messages
}

func readClassic(data []byte, l *Library) *Table {
	r := &classic{Table: &Table{Form: Classic, library: l}, version: 1}
	r.scanner = scanner{data: data, line: 1, skipped: func(line int, word string) {
		r.problem(line, false, "the text %q is skipped, but numbers in it are read; comments start with #", word)
	}}
	if rest, ok := strings.CutPrefix(string(data), "rule-file-version-"); ok && l.hasVersionLine() {
		if n := numberLength([]byte(rest)); n > 0 {
			r.at = len(data) - len(rest) + n
			r.version, _ = strconv.Atoi(rest[:n])
		}
	} else if k := bytes.Index(data, []byte("rule-file-version-")); k >= 0 {
		why := "must be the first text of the file: it is read as a negative number"
		if !l.hasVersionLine() {
			why = "is not known to " + l.Text() + ", which reads it as a negative number"
		}
		r.problem(1+bytes.Count(data[:k], []byte("\n")), false, "the version line %s", why)
	}
	r.read()
	r.finish()
	return r.Table
}

// hasVersionLine reports whether the release knows the line rule-file-version-2.
func (l *Library) hasVersionLine() bool {
	return l.since(5, 0, 7) || l.since(4, 1, 8) && !l.since(5)
}

// number reads a number of a range. An error rejects the file.
func (r *classic) number(most int64, format string, args ...any) (n int64, line int, ok bool) {
	n, line, ok = r.next()
	what := fmt.Sprintf(format, args...)
	if most < math.MaxInt32 {
		what += fmt.Sprintf(" (0 to %d)", most)
	}
	switch {
	case !ok:
		line = 1 + bytes.Count(bytes.TrimRight(r.data, " \t\r\n"), []byte("\n"))
		r.problem(line, true, "end of the file, expected %s", what)
	case n < 0 || n > most:
		r.problem(line, true, "%d, expected %s", n, what)
		ok = false
	}
	return n, line, ok
}

func (r *classic) read() {
	count, first, ok := r.number(int64(len(collectives)), "the number of collectives")
	for range count {
		if !ok {
			return
		}
		ok = r.collective(first, count)
	}
	if !ok {
		return
	}
	if _, line, more := r.next(); more {
		r.problem(line, false, "the library does not read this and what follows: line %d announces %s", first, text.Count(count, "collective"))
	}
}

// collective reads the rules of one collective.
func (r *classic) collective(announced int, of int64) bool {
	id, line, ok := r.number(int64(len(collectives)-1), "the number of the next collective, as line %d announces %d", announced, of)
	if !ok {
		return false
	}
	operation := collectives[id]
	function := Function(operation)
	for _, rule := range r.Rules {
		if rule.Function == function {
			rule.Never = fmt.Sprintf("line %d starts the rules of %s anew", line, function)
		}
	}
	sizes, at, ok := r.number(math.MaxInt32, "how many sizes of communicators follow for %s", function)
	var blocks []*block
	for range sizes {
		b := &block{}
		if ok {
			ok = r.block(b, operation, at, sizes)
		}
		if !ok {
			return false
		}
		blocks = append(blocks, b)
	}
	if !slices.Contains(tuned, operation) && len(blocks) > 0 {
		r.problem(line, false, "coll tuned has no algorithms of %s: these rules have no effect", function)
	}
	r.place(blocks, operation)
	return ok
}

// block reads the rules of one size of communicators.
func (r *classic) block(b *block, operation string, announced int, of int64) (ok bool) {
	function := Function(operation)
	if b.size, b.line, ok = r.number(math.MaxInt32, "a size of communicators for %s, as line %d announces %d", function, announced, of); !ok {
		return false
	}
	count, at, ok := r.number(math.MaxInt32, "how many rules follow for %s", function)
	for k := range count {
		if !ok {
			return false
		}
		size, line, fine := r.number(math.MaxInt64, "a size of messages for %s, as line %d announces %s", function, at, text.Count(count, "rule"))
		rule := newRule(line, function)
		if fine && k == 0 && size != 0 {
			r.problem(line, true, "%d, expected 0: the first rule must be for messages of 0 bytes and more", size)
			return false
		}
		var number, fanout, requests int64
		read := func(to *int64, most int64, what string) {
			if fine {
				*to, _, fine = r.number(most, "%s", what)
			}
		}
		read(&number, math.MaxInt32, "the number of an algorithm of "+function)
		read(&fanout, math.MaxInt32, "a fan in/out (0: as the library has it)")
		read(&rule.Segment, math.MaxInt32, "a segment size in bytes (0: no segments)")
		if fine && r.version > 1 && r.digitFollows() {
			read(&requests, math.MaxInt32, "a number of requests")
		}
		rule.Number, rule.Fanout, rule.Requests = int(number), int(fanout), int(requests)
		b.rules, b.sizes, ok = append(b.rules, rule), append(b.sizes, size), fine
	}
	return ok
}

// place gives the rules their ranges and names.
func (r *classic) place(blocks []*block, operation string) {
	var sizes []int64
	for _, b := range blocks {
		sizes = append(sizes, b.size)
	}
	ranks, usual := r.library.blocks(sizes), between(sizes)
	for k, b := range blocks {
		bytes := between(b.sizes)
		if r.library.since(6) {
			bytes = untilNext(b.sizes)
		}
		if ranks[k] != usual[k] {
			serves := "serves communicators of " + ranks[k].String() + " ranks"
			if ranks[k].Empty() {
				serves = "serves no communicator"
			}
			r.problem(b.line, false, "%s %s with these lines; releases before 6.0 serve %s", r.library.Text(), serves, usual[k])
		}
		for i, rule := range b.rules {
			rule.Of[Ranks], rule.Of[Bytes] = ranks[k], bytes[i]
			r.library.judge(rule, operation)
			r.Rules = append(r.Rules, rule)
		}
	}
}

// between are the ranges of sizes in a list that is searched up to the first that is too large; the first one is also for anything smaller
// (ompi_coll_tuned_get_com_rule_ptr, ompi_coll_tuned_get_target_method_params in coll_tuned_dynamic_rules.c).
func between(sizes []int64) (ranges []Range) {
	from := int64(0)
	for k, size := range sizes {
		r := All
		if k > 0 {
			from = max(from, size, sizes[0])
			r.Min = from
		}
		if k+1 < len(sizes) {
			r.Max = sizes[k+1] - 1
		}
		if k == 0 && len(sizes) > 1 {
			r.Max = max(sizes[0], sizes[1]) - 1
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// untilNext are the ranges from each size to the next one.
func untilNext(sizes []int64) (ranges []Range) {
	for k, size := range sizes {
		r := Range{size, math.MaxInt64}
		if k+1 < len(sizes) && sizes[k+1] > 0 { // 0: its predecessor is the greatest number
			r.Max = sizes[k+1] - 1
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// blocks are the ranges of sizes of communicators. 6.0 gives each rule the sizes below its own, down to the one before it, and the last one
// the rest (ompi_coll_tuned_read_rules_config_file_classic).
func (l *Library) blocks(sizes []int64) (ranges []Range) {
	if !l.since(6) {
		return between(sizes)
	}
	for k, size := range sizes {
		r := Range{0, size - 1}
		if k > 0 {
			r.Min = sizes[k-1]
		}
		if k+1 == len(sizes) {
			r.Max = math.MaxInt64
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// judge names the algorithm of a rule of coll tuned, and says what a reader might not expect.
func (l *Library) judge(r *Rule, operation string) {
	names := l.Algorithms[operation]
	switch {
	case !slices.Contains(tuned, operation):
		r.Never = "coll tuned does not serve " + r.Function
		return
	case r.Number > 0 && len(names) > 0 && (r.Number >= len(names) || names[r.Number] == ""):
		r.Fails = fmt.Sprintf("%s has no algorithm %d of %s, 1 to %d: the call fails with MPI_ERR_ARG", l.Text(), r.Number, r.Function, len(names)-1)
	case r.Number > 0 && len(names) > 0:
		r.Algorithm = names[r.Number]
	}
	if r.Algorithm == "two_proc" && r.Of[Ranks] != (Range{2, 2}) {
		r.Note = "two_proc serves two ranks; with more, the call fails"
	}
	if counted := countedAs(operation); r.Note == "" && counted == "nothing" && r.Of[Bytes].Min > 0 {
		r.Never = "the library counts no bytes for " + r.Function + ": it takes the first rule"
	} else if r.Note == "" && (operation == "gather" || operation == "scatter") && r.Of[Bytes] != All {
		r.Note = "each rank counts its own send count and type, also where MPI ignores them: if they differ, ranks may take different lines"
	}
}
