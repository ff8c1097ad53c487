package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/text"
)

// The enumerations of section 14.3, in the order of the standard's tables. Zero means "not given". Every type is printed as the
// standard's constant without its prefix, in lower case with dashes ("user-basic"), and numbers that are in no table as
// "unknown(17)".

// unknownBase is added to a number of the library that is in no table, which may be negative.
const unknownBase = 0x40000000

// Verbosity is a verbosity level (MPI-3.1 section 14.3.1, Table 14.2), 1 (user-basic) to 9 (mpidev-all).
type Verbosity int32

// The verbosity levels of Table 14.2.
const (
	VerbosityUserBasic Verbosity = iota + 1
	VerbosityUserDetail
	VerbosityUserAll
	VerbosityTunerBasic
	VerbosityTunerDetail
	VerbosityTunerAll
	VerbosityMPIDevBasic
	VerbosityMPIDevDetail
	VerbosityMPIDevAll
)

// Bind is the kind of MPI object that a variable must be bound to (section 14.3.2, Table 14.3; MPI-4 adds sessions).
type Bind int32

// The kinds of object of Table 14.3.
const (
	BindNoObject Bind = iota + 1
	BindComm
	BindDatatype
	BindErrhandler
	BindFile
	BindGroup
	BindOp
	BindRequest
	BindWin
	BindMessage
	BindInfo
	BindSession
)

// Scope is the processes that a change of a control variable concerns (Table 14.5). It is advice: only a trial write shows
// whether a variable can be written.
type Scope int32

// The scopes of Table 14.5.
const (
	ScopeConstant Scope = iota + 1
	ScopeReadonly
	ScopeLocal
	ScopeGroup
	ScopeGroupEq
	ScopeAll
	ScopeAllEq
)

// Class is the class of a performance variable (section 14.3.7).
type Class int32

// The performance variable classes of section 14.3.7.
const (
	ClassState Class = iota + 1
	ClassLevel
	ClassSize
	ClassPercentage
	ClassHighWatermark
	ClassLowWatermark
	ClassCounter
	ClassAggregate
	ClassTimer
	ClassGeneric
)

// ThreadLevel is a level of thread support (MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE).
type ThreadLevel int32

// The levels of thread support.
const (
	ThreadSingle ThreadLevel = iota + 1
	ThreadFunneled
	ThreadSerialized
	ThreadMultiple
)

// Datatype is the type of a variable's elements: the seven types of Table 14.4, those added by MPI-4.1, and others that real
// libraries use.
type Datatype int32

// The datatypes, in the order of enum mpitx_datatype.
const (
	TypeInt Datatype = iota + 1
	TypeUnsigned
	TypeUnsignedLong
	TypeUnsignedLongLong
	TypeCount
	TypeChar
	TypeDouble
	TypeInt32
	TypeInt64
	TypeUint32
	TypeUint64
	TypeBool
	TypeLong
	TypeLongLong
	TypeShort
	TypeUnsignedShort
	TypeSignedChar
	TypeUnsignedChar
	TypeFloat
	TypeInt8
	TypeInt16
	TypeUint8
	TypeUint16
	TypeAint
	TypeOffset
	TypeByte
)

// Form is the encoding of an element.
type Form uint8

// The forms of an element.
const (
	FormUnknown Form = iota
	FormSigned
	FormUnsigned
	FormFloat
	FormBool
	FormText // MPI_CHAR: the elements together are one string
)

var datatypes = []struct {
	name string
	size int
	form Form
}{
	TypeInt:              {"int", 4, FormSigned},
	TypeUnsigned:         {"unsigned", 4, FormUnsigned},
	TypeUnsignedLong:     {"unsigned-long", 8, FormUnsigned},
	TypeUnsignedLongLong: {"unsigned-long-long", 8, FormUnsigned},
	TypeCount:            {"count", 8, FormSigned},
	TypeChar:             {"char", 1, FormText},
	TypeDouble:           {"double", 8, FormFloat},
	TypeInt32:            {"int32", 4, FormSigned},
	TypeInt64:            {"int64", 8, FormSigned},
	TypeUint32:           {"uint32", 4, FormUnsigned},
	TypeUint64:           {"uint64", 8, FormUnsigned},
	TypeBool:             {"bool", 1, FormBool},
	TypeLong:             {"long", 8, FormSigned},
	TypeLongLong:         {"long-long", 8, FormSigned},
	TypeShort:            {"short", 2, FormSigned},
	TypeUnsignedShort:    {"unsigned-short", 2, FormUnsigned},
	TypeSignedChar:       {"signed-char", 1, FormSigned},
	TypeUnsignedChar:     {"unsigned-char", 1, FormUnsigned},
	TypeFloat:            {"float", 4, FormFloat},
	TypeInt8:             {"int8", 1, FormSigned},
	TypeInt16:            {"int16", 2, FormSigned},
	TypeUint8:            {"uint8", 1, FormUnsigned},
	TypeUint16:           {"uint16", 2, FormUnsigned},
	TypeAint:             {"aint", 8, FormSigned},
	TypeOffset:           {"offset", 8, FormSigned},
	TypeByte:             {"byte", 1, FormUnsigned},
}

// Size is the number of bytes of one element on LP64 systems, on which MPI libraries run; 0 for an unknown type. It has its own
// table because MPI_Type_size aborts before MPI_Init.
func (t Datatype) Size() int {
	if t < 1 || int(t) >= len(datatypes) {
		return 0
	}
	return datatypes[t].size
}

// Form returns the encoding of an element of this type.
func (t Datatype) Form() Form {
	if t < 1 || int(t) >= len(datatypes) {
		return FormUnknown
	}
	return datatypes[t].form
}

var (
	verbosityNames = []string{"", "user-basic", "user-detail", "user-all", "tuner-basic", "tuner-detail", "tuner-all",
		"mpidev-basic", "mpidev-detail", "mpidev-all"}
	bindNames = []string{"", "none", "comm", "datatype", "errhandler", "file", "group", "op", "request", "win",
		"message", "info", "session"}
	scopeNames = []string{"", "constant", "readonly", "local", "group", "group-eq", "all", "all-eq"}
	classNames = []string{"", "state", "level", "size", "percentage", "highwatermark", "lowwatermark", "counter",
		"aggregate", "timer", "generic"}
	threadNames   = []string{"", "single", "funneled", "serialized", "multiple"}
	datatypeNames = func() []string {
		names := make([]string, len(datatypes))
		for i, d := range datatypes {
			names[i] = d.name
		}
		return names
	}()
)

func enumString(names []string, n int32) string {
	switch {
	case n >= 0 && int(n) < len(names):
		return names[n]
	case n >= unknownBase/2:
		return "unknown(" + strconv.Itoa(int(n-unknownBase)) + ")"
	default:
		return "unknown(" + strconv.Itoa(int(n)) + ")"
	}
}

// enumParse parses a name of enumString. It accepts upper case, underscores and the standard's spelling
// ("MPI_T_SCOPE_ALL_EQ").
func enumParse(what, prefix string, names []string, s string) (int32, error) {
	norm := strings.ReplaceAll(text.Lower(s), "_", "-")
	for _, p := range []string{prefix, "mpi-"} {
		if rest, ok := strings.CutPrefix(norm, p); ok && p != "" {
			norm = rest
			break
		}
	}
	for i, n := range names {
		if n == norm {
			return int32(i), nil
		}
	}
	if rest, ok := strings.CutPrefix(norm, "unknown("); ok {
		if num, ok := strings.CutSuffix(rest, ")"); ok {
			if v, err := strconv.ParseInt(num, 10, 32); err == nil && v >= -unknownBase/2 && v < unknownBase {
				return int32(v) + unknownBase, nil
			}
		}
	}
	return 0, fmt.Errorf("%q is not a %s; use one of %s", s, what, strings.Join(names[1:], ", "))
}

func (v Verbosity) String() string   { return enumString(verbosityNames, int32(v)) }
func (b Bind) String() string        { return enumString(bindNames, int32(b)) }
func (s Scope) String() string       { return enumString(scopeNames, int32(s)) }
func (c Class) String() string       { return enumString(classNames, int32(c)) }
func (l ThreadLevel) String() string { return enumString(threadNames, int32(l)) }
func (t Datatype) String() string    { return enumString(datatypeNames, int32(t)) }

// ParseVerbosity parses a level's name or number, 1 to 9. An error lists the names.
func ParseVerbosity(s string) (Verbosity, error) {
	if n, err := strconv.Atoi(s); err == nil {
		if n < 1 || n >= len(verbosityNames) {
			return 0, fmt.Errorf("%q is not a verbosity level; use 1 to 9, or one of %s", s, strings.Join(verbosityNames[1:], ", "))
		}
		return Verbosity(n), nil
	}
	n, err := enumParse("verbosity level", "mpi-t-verbosity-", verbosityNames, s)
	return Verbosity(n), err
}

// ParseBind parses the name of a kind of object. An error lists the names.
func ParseBind(s string) (Bind, error) {
	s2 := strings.ReplaceAll(text.Lower(s), "_", "-")
	s2 = strings.TrimPrefix(strings.TrimPrefix(s2, "mpi-t-bind-"), "mpi-")
	if s2 == "no-object" {
		return BindNoObject, nil
	}
	n, err := enumParse("kind of object", "", bindNames, s2)
	return Bind(n), err
}

// ParseScope parses a scope's name. An error lists the names.
func ParseScope(s string) (Scope, error) {
	n, err := enumParse("scope", "mpi-t-scope-", scopeNames, s)
	return Scope(n), err
}

// ParseClass parses a performance variable class's name. An error lists the names.
func ParseClass(s string) (Class, error) {
	n, err := enumParse("class", "mpi-t-pvar-class-", classNames, s)
	return Class(n), err
}

// ParseThreadLevel parses a thread level's name. An error lists the names.
func ParseThreadLevel(s string) (ThreadLevel, error) {
	n, err := enumParse("thread level", "mpi-thread-", threadNames, s)
	return ThreadLevel(n), err
}

// DatatypeNames returns the names of all datatypes.
func DatatypeNames() []string { return slices.Clone(datatypeNames[1:]) }

// ParseDatatype parses a datatype's name. An error lists the names.
func ParseDatatype(s string) (Datatype, error) {
	n, err := enumParse("datatype", "mpi-", datatypeNames, s)
	return Datatype(n), err
}

// JSON has the text forms.

func (v Verbosity) MarshalText() ([]byte, error)   { return []byte(v.String()), nil }
func (b Bind) MarshalText() ([]byte, error)        { return []byte(b.String()), nil }
func (s Scope) MarshalText() ([]byte, error)       { return []byte(s.String()), nil }
func (c Class) MarshalText() ([]byte, error)       { return []byte(c.String()), nil }
func (l ThreadLevel) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
func (t Datatype) MarshalText() ([]byte, error)    { return []byte(t.String()), nil }

func (v *Verbosity) UnmarshalText(b []byte) (err error) { *v, err = ParseVerbosity(string(b)); return }
func (b *Bind) UnmarshalText(t []byte) (err error)      { *b, err = ParseBind(string(t)); return }
func (s *Scope) UnmarshalText(b []byte) (err error)     { *s, err = ParseScope(string(b)); return }
func (c *Class) UnmarshalText(b []byte) (err error)     { *c, err = ParseClass(string(b)); return }
func (l *ThreadLevel) UnmarshalText(b []byte) (err error) {
	*l, err = ParseThreadLevel(string(b))
	return
}
func (t *Datatype) UnmarshalText(b []byte) (err error) { *t, err = ParseDatatype(string(b)); return }

// readWord accepts one of the allowed words.
func readWord[S ~string](to *S, word S, allowed ...S) error {
	if !slices.Contains(allowed, word) {
		list := strings.Trim(fmt.Sprintf("%q", allowed), "[]")
		return fmt.Errorf("%q is not one of %s", clip(string(word)), strings.ReplaceAll(list, `" "`, `", "`))
	}
	*to = word
	return nil
}
