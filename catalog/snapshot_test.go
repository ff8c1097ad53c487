package catalog

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/mutate"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var compareValues = cmp.Options{cmp.AllowUnexported(Value{}), cmpopts.EquateEmpty()}

func write(t testing.TB, c *Catalog) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSnapshotRoundTrip(t *testing.T) {
	c := sampleCatalog()
	doc := write(t, c)
	if !strings.HasSuffix(doc, "}\n") {
		t.Error("no newline at the end")
	}
	back, err := Read(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	c.sort()
	if d := cmp.Diff(c, back, compareValues); d != "" {
		t.Error(d)
	}
	if again := write(t, back); again != doc {
		t.Error("written again, the document differs")
	}
}

// A catalog with every field set, and one with none, are equal when read back.
func TestEveryField(t *testing.T) {
	for _, c := range []*Catalog{drawCatalogExample(t), {Schema: SchemaName, Version: SchemaVersion}} {
		back, err := Read(strings.NewReader(write(t, c)))
		if err != nil {
			t.Fatal(err)
		}
		c.setKinds()
		if d := cmp.Diff(c, back, compareValues); d != "" {
			t.Error(d)
		}
	}
}

// drawCatalogExample sets every field of every struct.
func drawCatalogExample(t testing.TB) *Catalog {
	c := new(Catalog)
	fill(t, reflect.ValueOf(c).Elem())
	c.Job.Ranks[0].Settings, c.Job.Ranks[0].Binding = nil, "" // not in documents
	c.Schema, c.Version, c.Created = SchemaName, SchemaVersion, time.Unix(1e9, 5).UTC()
	return c
}

func fill(t testing.TB, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *Value:
		*x = NewValue(TypeInt, []byte{1, 2, 3, 4})
		return
	case *time.Time:
		return
	case *Status:
		*x = StatusOK
		return
	case *Writable:
		*x = WritableNotNow
		return
	case *Support:
		*x = SupportDerived
		return
	case *OriginKind:
		*x = OriginFile
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint16:
		v.SetUint(uint64(Cvars))
	case reflect.Float64:
		v.SetFloat(1.5)
	default:
		t.Fatalf("no example for %s", v.Type())
	}
}

func TestReadErrors(t *testing.T) {
	head := "{\"schema\": \"mpitx.catalog\", \"version\": 1,\n"
	variable := func(s string) string { return head + ` "cvars": [{"name": "a", "type": "int8"` + s + `}]}` }
	for _, test := range []struct{ doc, want string }{
		{"", "line 1, column 1: the file is empty"},
		{"  \n", "line 2, column 1: the file is empty"},
		{"\x7fELF", "line 1, column 1: invalid character '\\x7f' at start of value"},
		{"\xff\xfe{\x00", "line 1, column 1: invalid character '\\xff' at start of value"},
		{"[]", "line 1, column 1: expected an object, not a list"},
		{"{}", `line 1, column 1: "schema" is missing`},
		{`{"schema": "other"}`, `line 1, column 12: schema: the document is a "other", not a catalog ("mpitx.catalog")`},
		{`{"schema": "mpitx.catalog", "version": 2, "cvars": 7}`,
			"line 1, column 40: version: version 2 was written by a newer mpitx; this one reads versions up to 1"},
		{head, "line 2, column 1: the file is truncated: unexpected EOF"},
		{head + ` "created": "yesterday"}`, `line 2, column 13: created: not an RFC 3339 time`},
		{head + ` "job": {"size": "4"}}`, `line 2, column 18: job.size: expected a number, not a string`},
		{head + ` "job": {"size": 1.5}}`, "line 2, column 18: job.size: 1.5 is not a whole number"},
		{head + ` "job": {"size": -1}}`, "line 2, column 18: job.size: -1 is out of range"},
		{head + ` "job": {"size": 99999999999999999999}}`, "line 2, column 18: job.size: 99999999999999999999 is out of range"},
		{head + ` "job": {"size": 01}}`, `line 2, column 19: job: invalid character '1' after object value (expecting ',' or '}')`},
		{head + ` "cvars": [{"name": "a"}]}`, `line 2, column 12: cvars[0]: "type" is missing`},
		{head + ` "cvars": [{"name": "a", "name": "b"}]}`, "line 2, column 26: cvars[0].name: duplicate object member name"},
		{head + ` "cvars": [{"name": "a", "type": "int"}, {"name": "a", "type": "int"}]}`,
			"line 2, column 42: cvars[1]: duplicate of a at [0]"},
		{variable(`, "verbosity": "loud"`), `line 2, column 55: cvars[0].verbosity: "loud" is not a verbosity level; ` +
			`use one of user-basic, user-detail, user-all, tuner-basic, tuner-detail, tuner-all, mpidev-basic, mpidev-detail, mpidev-all`},
		{variable(`, "after": {"value": 5}`), `line 2, column 51: cvars[0].after: "status" is missing`},
		{variable(`, "after": {"status": "well"}`),
			`line 2, column 62: cvars[0].after.status: "well" is not one of "ok", "faulty", "error", "unbound", "missing"`},
		{variable(`, "after": {"value": 5, "status": "faulty"}`), `line 2, column 61: cvars[0].after.value: a reading with status "faulty" cannot have a value`},
		{variable(`, "after": {"status": "ok", "value": 128}`),
			`line 2, column 77: cvars[0].after.value: "128" is not a value of type int8: a whole number from -128 to 127`},
		{variable(`, "after": {"status": "ok", "value": [1, "x"]}`), `line 2, column 81: cvars[0].after.value[1]: expected a number, not a string`},
		{variable(`, "after": {"status": "ok", "type": "float", "value": 1e99}`),
			`line 2, column 94: cvars[0].after.value: "1e99" is not a value of type float: the number is too large`},
		{variable(`, "ranks": [{"rank": 1, "status": "ok"}, {"rank": 1, "status": "ok"}]`),
			"line 2, column 81: cvars[0].ranks[1]: duplicate of 1 at [0]"},
		{head + ` "x": "` + "\xff" + `"}`, "line 2, column 8: x: invalid UTF-8"},
		{head + ` "x": "` + "\n" + `"}`, "line 2, column 8: x: invalid character '\\n' in string (expecting non-control character)"},
		{head + ` "x": "\ud800"}`, "line 2, column 8: x: invalid surrogate pair `\\ud800\"}` in string"},
		{head + ` "x": "\q"}`, "line 2, column 8: x: invalid escape sequence `\\q` in string"},
		{head + ` "creator": {"byte": ""}}`,
			`line 2, column 13: creator: expected a string or {"bytes":"…"}, not another object`},
		{head + ` "x": ` + strings.Repeat("[", 1e6), "line 2, column 10006: x" + strings.Repeat("[0]", 34) + "…: exceeded max depth"},
		{head + ` "x": {"a": [1, {}, [], null, true, -1.5e3}}`, `line 2, column 43: x.a: invalid character '}' after array element (expecting ',' or ']')`},
		{head + ` "x": 1} x`, "line 2, column 10: invalid character 'x' after top-level value"},
		{head + ` "x": 1} ` + "\x00", "line 2, column 10: invalid character '\\x00' after top-level value"},
	} {
		c, err := Read(strings.NewReader(test.doc))
		if err == nil || c != nil || err.Error() != test.want {
			t.Errorf("%.90q:\n got %v\nwant %s", test.doc, err, test.want)
		}
	}
}

func TestReadTruncated(t *testing.T) {
	doc := write(t, drawCatalogExample(t))
	for i := range len(doc) - 2 {
		_, err := Read(strings.NewReader(doc[:i]))
		var re *ReadError
		if !errors.As(err, &re) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d (…%s): %v", i, doc[max(0, i-20):i], err)
		}
	}
}

func TestReadForeignOrder(t *testing.T) {
	doc := "\ufeff" + `{"enums": [], "later": {"x": [1, {"y": null}]}, "version": 1, "schema": "mpitx.catalog", "cvars": [
		{"ranks": [{"value": 2, "rank": 9, "status": "ok"}, {"type": "char", "value": {"bytes": "ff"}, "status": "ok", "rank": 2}],
		 "after": {"value": [1.0e0, "NaN", "-Inf"], "status": "ok"}, "before": null, "type": "double", "name": "b\u0000\ud83d\ude00\/"},
		{"name": "a", "type": "unknown(-7)", "after": {"status": "ok", "value": "0x00ff"}}]}`
	c, err := Read(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{
		{Kind: Cvars, Name: "a", Type: unknownBase - 7, After: &Reading{Status: StatusOK, Value: Value{unknownBase - 7, "\x00\xff"}}},
		{Kind: Cvars, Name: "b\x00😀/", Type: TypeDouble, After: &Reading{Status: StatusOK, Value: doubles(1, nan, math.Inf(-1))},
			Ranks: []RankReading{{2, Reading{Status: StatusOK, Value: NewText("\xff")}}, {9, Reading{Status: StatusOK, Value: doubles(2)}}}},
	}
	if d := cmp.Diff(want, c.Cvars, compareValues); d != "" {
		t.Error(d)
	}
}

func TestReadBounded(t *testing.T) {
	head := `{"schema": "mpitx.catalog", "version": 1, `
	for _, doc := range []string{
		head + `"job": {"ranks": [` + strings.Repeat(`{"rank":1},`, 1e5),
		head + `"categories": [{"name": "a", "cvars": [` + strings.Repeat(`"",`, 1e5),
		head + `"cvars": [{"name": "a", "type": "int8", "after": {"status": "ok", "value": [` + strings.Repeat("1,", 2e6) + "1]}}]}",
	} {
		_, err := readLimited(strings.NewReader(doc), MaxFileSize, 1e6)
		if err == nil || !strings.Contains(err.Error(), "too many elements") {
			t.Error(err)
		}
	}
	if _, err := readLimited(endless{}, 1<<20, 1e6); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	if _, err := Load(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("{\n}"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || err.Error() != path+`:1:1: "schema" is missing` {
		t.Error(err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, c := range []*Catalog{
		{Lists: Lists{Cvars: []Variable{{Name: "a"}, {Name: "b"}, {Name: "a"}}}},
		{Lists: Lists{Pvars: []Variable{{Name: "a", Class: 1}, {Name: "a", Class: 1}}}},
		{Lists: Lists{Enums: []Enum{{Name: "a"}, {Name: "a"}}}},
		{Lists: Lists{Categories: []Category{{Name: "a"}, {Name: "a"}}}},
		{Job: Job{Ranks: []Rank{{}, {}}}},
		{Created: time.Unix(1e15, 0)},
	} {
		if err := Write(io.Discard, c); err == nil {
			t.Errorf("%+v was written", c)
		}
	}
}

func TestSnapshotProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalog(t)
		var b bytes.Buffer
		if err := Write(&b, c); err != nil {
			t.Fatal(err)
		}
		back, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if d := cmp.Diff(c, back, compareValues); d != "" {
			t.Fatalf("%s\n%s", d, b.Bytes())
		}
	})
}

// smallCatalog has some of everything in a few kilobytes.
func smallCatalog() *Catalog {
	c := sampleCatalog()
	c.Cvars, c.Pvars, c.Categories = c.Cvars[:6], c.Pvars[:1], c.Categories[:1]
	c.Categories[0].Cvars = c.Categories[0].Cvars[:2]
	c.Cvars[0].Ranks = []RankReading{{Rank: 2, Reading: Reading{Status: StatusFaulty, Reason: "crashes"}}}
	c.Events = []Event{{Name: "e", Verbosity: 1, Bind: BindNoObject, Elements: []Element{{"n", TypeInt, 4}}, Hints: []Hint{{"k", "v"}}, Status: StatusOK, After: true}}
	c.Sources = []Source{{Name: "s", Order: Unordered, TicksPerSecond: 1000, MaxTicks: 4095, Status: StatusOK, Before: true}}
	return c
}

// An input is a document, or nothing for a small built-in one, and edits of it.
func FuzzRead(f *testing.F) {
	small := []byte(write(f, smallCatalog()))
	f.Add([]byte{}, []byte{})
	f.Add([]byte{}, []byte("\x00\x09\x00\x05\x00"))
	f.Add([]byte{}, []byte("\x01\x29\x00\x03\x00\x02\x80\x00\x0f\x00"))
	f.Add([]byte(`{"schema":"mpitx-catalog","version":1}`), []byte{})
	f.Add([]byte("\xff{"), []byte{})
	f.Fuzz(func(t *testing.T, doc, script []byte) {
		if len(doc) == 0 {
			doc = small
		}
		doc = mutate.JSON(doc, script)
		c, err := Read(bytes.NewReader(doc))
		var re *ReadError
		if err != nil {
			if !errors.As(err, &re) || re.Line < 1 || re.Column < 1 {
				t.Fatalf("no position: %v", err)
			}
			return
		}
		var once, twice bytes.Buffer
		if err := Write(&once, c); err != nil {
			t.Fatalf("read, but cannot be written: %v", err)
		}
		back, err := Read(bytes.NewReader(once.Bytes()))
		if err != nil {
			t.Fatalf("%v\n%s", err, once.Bytes())
		}
		if err := Write(&twice, back); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("%v: written\n%s\nand read back\n%s", err, once.Bytes(), twice.Bytes())
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	c := sampleCatalog()
	for b.Loop() {
		if err := Write(io.Discard, c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	doc := []byte(write(b, sampleCatalog()))
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(doc)); err != nil {
			b.Fatal(err)
		}
	}
}
