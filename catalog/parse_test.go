package catalog

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	boolEnum  = &Enum{Name: "auto_boolean", Items: []Item{{0, "false"}, {1, "true"}, {-1, "auto"}}}
	flagsEnum = &Enum{Name: "btl_flags", Flags: true, Items: []Item{{1, "send"}, {2, "put"}, {8, "get"}, {math.MinInt32, "high"}}}
)

func TestParseValue(t *testing.T) {
	for _, test := range []struct {
		typ   Datatype
		enum  *Enum
		count int
		text  string
		want  string // of Value.String, or of the error
	}{
		{TypeInt, nil, 1, "-12", "-12"},
		{TypeInt, nil, 1, " 0x7fffffff ", "2147483647"},
		{TypeInt, nil, 1, "010", "8"},
		{TypeUnsignedLong, nil, 1, "18446744073709551615", "18446744073709551615"},
		{TypeInt, nil, 1, "2147483648", `"2147483648" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeUnsigned, nil, 1, "-1", `"-1" is not a value of type unsigned: a whole number from 0 to 4294967295`},
		{TypeInt, nil, 1, "+5", "5"},
		{TypeUnsigned, nil, 1, "+3", "3"},
		{TypeUint8, nil, 1, "+0x1f", "31"},
		{TypeUnsigned, nil, 1, "+-1", `"+-1" is not a value of type unsigned: a whole number from 0 to 4294967295`},
		{TypeInt8, nil, 1, "x", `"x" is not a value of type int8: a whole number from -128 to 127`},
		{TypeInt, nil, 1, "", `"" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeInt, nil, 3, "1,2, 3", "1,2,3"},
		{TypeUnsignedLong, nil, 1, "8k", "8192"},
		{TypeInt, nil, 2, "0x10K,-2m", "16384,-2097152"},
		{TypeInt, nil, 1, "-2G", "-2147483648"},
		{TypeInt, nil, 1, "2g", `"2g" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeUnsignedLong, nil, 1, "16777216t", `"16777216t" is not a value of type unsigned-long: a whole number from 0 to 18446744073709551615`},
		{TypeUnsignedLong, nil, 1, "16777215t", "18446742974197923840"},
		{TypeInt, nil, 1, "k", `"k" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeInt, nil, 1, "8kk", `"8kk" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeInt, nil, 1, "8 k", `"8 k" is not a value of type int: a whole number from -2147483648 to 2147483647`},
		{TypeInt, nil, 2, "1", `"1" is not a value of type int: expected 2 elements, separated by commas, not 1`},
		{TypeInt, nil, 1, "1,2", `"1,2" is not a value of type int: expected 1 element, separated by commas, not 2`},
		{TypeInt, nil, 0, "", ""},
		{TypeBool, nil, 1, "Yes", "true"},
		{TypeBool, nil, 1, "off", "false"},
		{TypeBool, nil, 1, "2", `"2" is not a value of type bool: true, false, yes, no, on, off, 1 or 0`},
		{TypeDouble, nil, 1, "1e-3", "0.001"},
		{TypeDouble, nil, 2, "NaN,-inf", "NaN,-Inf"},
		{TypeFloat, nil, 1, "1e39", `"1e39" is not a value of type float: the number is too large`},
		{TypeDouble, nil, 1, "one", `"one" is not a value of type double: a number`},
		{TypeChar, nil, 7, "a,b é", "a,b é"},
		{TypeChar, nil, 7, "a,b éx", `"a,b éx" is not a value of type char: expected at most 6 bytes, not 7`},
		{TypeChar, nil, 0, "", `"" is not a value of type char: expected at most 0 bytes, not 0`},
		{TypeChar, nil, 9, "a\x00", `"a\x00" is not a value of type char: text without null characters`},
		{TypeInt, boolEnum, 1, "AUTO", "-1"},
		{TypeInt, boolEnum, 1, "7", "7"},
		{TypeInt, boolEnum, 1, "maybe", `"maybe" is not one of its values: false, true, auto; or a whole number from -2147483648 to 2147483647`},
		{TypeBool, boolEnum, 1, "auto", `"auto" is not a value of type bool: its value -1 is out of range: 0 to 255`},
		{TypeUnsigned, flagsEnum, 1, "send|Get | 0x10", "25"},
		{TypeUnsigned, flagsEnum, 1, "high|send", "2147483649"},
		{TypeInt, flagsEnum, 1, "high", "-2147483648"},
		{TypeInt, flagsEnum, 1, "high|send", "-2147483647"},
		{TypeUnsigned, flagsEnum, 1, "send|x", `"send|x" is not a value of type unsigned: any of send, put, get, high, several joined by |; or a whole number from 0 to 4294967295`},
		{unknownBase + 9, nil, 1, "1", `"1" is not a value of type unknown(9): values of this type cannot be written`},
	} {
		v, err := ParseValue(&Variable{Type: test.typ}, test.enum, test.count, test.text)
		got := v.String()
		if err != nil {
			var pe *ParseError
			if !errors.As(err, &pe) || !v.IsZero() {
				t.Errorf("%v with %v", err, v)
			}
			got = err.Error()
		} else if v.Type() != test.typ {
			t.Errorf("%q has type %s", test.text, v.Type())
		}
		if got != test.want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.typ, test.text, got, test.want)
		}
	}
}

// The printed form of a value can be written back.
func TestParseValueProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := Datatype(rapid.IntRange(1, len(datatypes)-1).Draw(t, "type"))
		v := drawValue(t, typ)
		count := v.Len()
		if typ.Form() == FormText {
			count = len(v.raw) + 1
		}
		if typ.Form() == FormBool && strings.Trim(v.raw, "\x00\x01") != "" {
			t.Skip("neither true nor false")
		}
		back, err := ParseValue(&Variable{Type: typ}, nil, count, v.String())
		if err != nil || back.String() != v.String() {
			t.Fatalf("%q became %q: %v", v, back, err)
		}
	})
}

func FuzzParseValue(f *testing.F) {
	f.Add(int32(TypeInt), 2, "1,0x2", false)
	f.Add(int32(TypeUnsigned), 1, "send|put|4", true)
	f.Add(int32(TypeChar), 5, "text", false)
	f.Add(int32(TypeFloat), 1, "-Inf", false)
	f.Fuzz(func(t *testing.T, typ int32, count int, text string, flags bool) {
		var e *Enum
		if flags {
			e = flagsEnum
		}
		variable := &Variable{Type: Datatype(typ)}
		v, err := ParseValue(variable, e, count, text)
		if err != nil {
			if err.Error() == "" || !v.IsZero() {
				t.Fatal(v, err)
			}
			return
		}
		if v.Type() != variable.Type || !v.valid() {
			t.Fatalf("%v of type %s", v, v.Type())
		}
		if v.typ.Form() != FormText && v.Len() != count {
			t.Fatalf("%d elements, not %d", v.Len(), count)
		}
		if Settable(variable, e) == "" {
			t.Fatal("nothing is settable")
		}
	})
}

func TestSummarise(t *testing.T) {
	c := filterCatalog()
	c.After = Stage{Read: true, DeadCvars: 2, DeadCats: 1, DeadEvents: 1}
	c.Events, c.Sources = []Event{{Name: "v"}, {Name: "w", Conflicts: []Conflict{{}}}}, []Source{{Name: "s"}}
	c.Job.Ranks = []Rank{{}, {Rank: 1, Error: "x"}}
	c.Pvars[0].Ranks = []RankReading{{1, Reading{Status: StatusFaulty}}}
	c.Pvars[1].After = &Reading{Status: StatusUnbound}
	want := Summary{Cvars: 4, Pvars: 3, Categories: 3, Enums: 2, Set: 1, Differing: 2, Writable: 1, Faulty: 1, Unread: 1, Dead: 4, Lost: 1,
		Events: 2, Sources: 1, Conflicts: 1}
	if got := Summarise(c); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestNamesOfConstants(t *testing.T) {
	for n := int32(1); n < int32(len(datatypes)); n++ {
		if back, err := ParseDatatype(Datatype(n).String()); err != nil || back != Datatype(n) {
			t.Error(n, back, err)
		}
	}
	for text, want := range map[string]Scope{"ALL_EQ": ScopeAllEq, "MPI_T_SCOPE_LOCAL": ScopeLocal, "unknown(17)": unknownBase + 17, "unknown(-3)": unknownBase - 3} {
		if got, err := ParseScope(text); err != nil || got != want {
			t.Error(text, got, err)
		}
	}
}
