package variables

import (
	"fmt"
	"strings"

	"mpitx/catalog"
)

// Explanations of the standard's terms (sections 14.3.1 to 14.3.7).

var scopeWords = map[catalog.Scope]string{
	catalog.ScopeConstant: "never changes",
	catalog.ScopeReadonly: "may change, but cannot be written",
	catalog.ScopeLocal:    "may be set on each process independently",
	catalog.ScopeGroup:    "must be set on a group of processes, to consistent values (the description names the group)",
	catalog.ScopeGroupEq:  "must be set to the same value on a group of processes (the description names the group)",
	catalog.ScopeAll:      "must be set on all processes, to consistent values",
	catalog.ScopeAllEq:    "must be set to the same value on all processes",
}

var classWords = map[catalog.Class]string{
	catalog.ClassState:         "one of a set of discrete states",
	catalog.ClassLevel:         "the amount of a resource in use",
	catalog.ClassSize:          "the fixed size of a resource",
	catalog.ClassPercentage:    "the fraction of a resource in use, 0 to 1",
	catalog.ClassHighWatermark: "the highest utilisation since it was started or reset",
	catalog.ClassLowWatermark:  "the lowest utilisation since it was started or reset",
	catalog.ClassCounter:       "the number of occurrences of an event",
	catalog.ClassAggregate:     "a sum over the occurrences of an event",
	catalog.ClassTimer:         "the time spent on an event or a piece of code",
	catalog.ClassGeneric:       "none of the other classes; see the description",
}

var bindWords = map[catalog.Bind]string{
	catalog.BindNoObject:   "one for the whole process",
	catalog.BindComm:       "one for each communicator",
	catalog.BindDatatype:   "one for each datatype",
	catalog.BindErrhandler: "one for each error handler",
	catalog.BindFile:       "one for each file handle",
	catalog.BindGroup:      "one for each group",
	catalog.BindOp:         "one for each reduction operation",
	catalog.BindRequest:    "one for each request",
	catalog.BindWin:        "one for each window",
	catalog.BindMessage:    "one for each message",
	catalog.BindInfo:       "one for each info object",
	catalog.BindSession:    "one for each session",
}

var verbosityWords = []string{"for end users", "for tuning", "for developers of the MPI library"}

var writableWords = map[catalog.Writable]string{
	catalog.WritableYes:    "yes: writing back the current value succeeded",
	catalog.WritableNotNow: "not now: the library refuses a write at this time",
	catalog.WritableNever:  "never: the library refuses every write",
}

var originWords = map[catalog.OriginKind]string{
	catalog.OriginEnvironment: "the environment variable",
	catalog.OriginLauncher:    "the launcher's option",
	catalog.OriginFile:        "the file",
}

// worded adds the explanation to a term of the standard.
func worded[T comparable](name string, key T, words map[T]string) string {
	if w := words[key]; w != "" {
		return name + ": " + w
	}
	return name
}

func verbosityText(v catalog.Verbosity) string {
	if v < catalog.VerbosityUserBasic || v > catalog.VerbosityMPIDevAll {
		return numbered(v)
	}
	return fmt.Sprintf("%d of 9, %s: %s", v, v, verbosityWords[(v-1)/3])
}

func stageWords(c *catalog.Catalog, v *catalog.Variable) string {
	switch stageText(v.Before != nil, existsAfter(v)) {
	case "both":
		return "before and after MPI_Init"
	case "before":
		if !c.After.Read {
			return "before MPI_Init; the library was not read after it"
		}
		return "only before MPI_Init: its component was not selected and is unloaded"
	case "after":
		return "only after MPI_Init"
	}
	return "neither before nor after MPI_Init"
}

// numbered returns the name of a constant; "" if it is not set.
func numbered[T interface {
	~int32
	String() string
}](n T) string {
	if n == 0 {
		return ""
	}
	return n.String()
}

// nonNil replaces nil, so that JSON has an empty list and not null.
func nonNil[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func joinFunc[T any](l []T, sep string, f func(T) string) string {
	parts := make([]string, len(l))
	for i, x := range l {
		parts[i] = f(x)
	}
	return strings.Join(parts, sep)
}

// stageText names the stages in which an entry exists.
func stageText(before, after bool) string {
	switch {
	case before && after:
		return "both"
	case before:
		return "before"
	case after:
		return "after"
	}
	return ""
}

// existsAfter reports whether a variable exists after MPI_Init on some rank.
func existsAfter(v *catalog.Variable) bool { return v.After != nil || len(v.Ranks) > 0 }

// either returns text, or otherwise if it is empty.
func either(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// appendKind appends an object on one line, with the kind as its first member.
func appendKind(b []byte, kind string, x any) ([]byte, error) {
	b = fmt.Appendf(b, `{"kind":%q,`, kind)
	start := len(b)
	b, err := catalog.AppendJSON(b, x)
	return append(b[:start], b[start+1:]...), err // without the opening brace
}
