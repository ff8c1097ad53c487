package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mpitx/check"
)

// The journal is what a worker has done so far: a file of lines, each a letter and a text. It is written before each call, so that it
// survives a crash.
const (
	noteItem         = 'I' // the next item begins
	noteSkipped      = 'K' // an item that an earlier process tested
	noteName         = 'M' // the item's name
	noteLine         = 'L' // C that calls nothing
	noteCall         = 'C' // a call of the library, in C
	noteQuiet        = 'B' // lines and calls that programs leave out begin, unless the process ends in them
	noteQuietLine    = 'R'
	noteQuietCall    = 'Q'
	noteLoud         = 'A' // they end
	noteViolation    = 'V' // JSON
	noteInapplicable = 'N' // why
	noteFact         = 'F' // NAME VALUE, for reports
	noteShared       = 'S' // two quoted strings: a name, and what all ranks must have for it
	noteMore         = 'P' // the next item needs a process of its own
	noteAbsent       = 'D' // the item is not there, so that nothing was tested
	noteFailed       = 'X' // why the rule cannot be tested
	noteEnd          = 'E' // the rule has ended
)

// journal is what one worker left.
type journal struct {
	items        int
	item         string
	preamble     []string
	lines        []string // of the last item
	quiet        []string // those that follow, and that programs leave out
	call         string   // the last
	violations   []check.Violation
	inapplicable string
	failed       string
	absent       int // items
	facts        map[string]string
	shared       map[string]string
	more         bool
	ended        bool
}

// notedViolation is a violation with its program, which reports do not have.
type notedViolation struct {
	check.Violation
	Program string
}

func readJournal(text string) *journal {
	j := &journal{facts: map[string]string{}, shared: map[string]string{}}
	for _, line := range strings.Split(text, "\n") {
		if len(line) < 2 {
			continue
		}
		kind, text := line[0], line[2:]
		switch kind {
		case noteItem, noteSkipped:
			if j.items++; j.items == 1 {
				j.preamble = j.lines
			}
			j.item, j.lines, j.quiet, j.call = text, nil, nil, ""
		case noteName:
			j.item = text
		case noteLine, noteCall:
			j.lines = append(j.lines, text)
			if kind == noteCall {
				j.call = text
			}
		case noteQuiet, noteLoud:
			j.quiet = nil
		case noteQuietLine, noteQuietCall:
			j.quiet = append(j.quiet, "    "+text)
			if kind == noteQuietCall {
				j.call = text
			}
		case noteViolation:
			var v notedViolation
			if json.Unmarshal([]byte(text), &v) == nil {
				v.Violation.Program = v.Program
				j.violations = append(j.violations, v.Violation)
			}
		case noteInapplicable:
			j.inapplicable = cmp.Or(j.inapplicable, text)
		case noteAbsent:
			j.absent++
		case noteFailed:
			j.failed = text
		case noteFact:
			name, value, _ := strings.Cut(text, " ")
			j.facts[name] = value
		case noteShared:
			var key, value string
			if n, _ := fmt.Sscanf(text, "%q %q", &key, &value); n == 2 {
				j.shared[key] = value
			}
		case noteMore:
			j.more = true
		case noteEnd:
			j.ended = true
		}
	}
	return j
}

func (j *journal) sharedKeys() []string { return slices.Sorted(maps.Keys(j.shared)) }

// lastCall is the last call in the form of the standard.
func (j *journal) lastCall() string {
	_, text, _ := strings.Cut(j.call, "CALL(")
	_, text, _ = strings.Cut(text, ", ")
	return strings.TrimSuffix(text, ");")
}
