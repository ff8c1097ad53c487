package catalog

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// The JSON form of a catalog (docs/schema.md) follows the tags of the model, except for readings, whose values are decoded by
// the variable's type, and for texts that are not UTF-8.

// plainVariable is a Variable without its JSON methods.
type plainVariable Variable

// readingForm is a Reading as a JSON object.
type readingForm struct {
	Status   Status   `json:"status"`
	Reason   string   `json:"reason,omitzero"`
	Type     Datatype `json:"type,omitzero"` // if it differs from the variable's, against Table 14.1
	Value    Value    `json:"value,omitzero"`
	Count    int      `json:"count,omitzero"`
	Writable Writable `json:"writable,omitzero"`
}

// rankReadingForm is a RankReading as a JSON object.
type rankReadingForm struct {
	Rank int `json:"rank"`
	readingForm
}

// undecoded is the type of a Value that still is JSON because its type is not known yet.
const undecoded Datatype = math.MinInt32

// MarshalJSONTo writes a variable.
func (v *Variable) MarshalJSONTo(e *jsontext.Encoder) error {
	plain := plainVariable(*v)
	plain.Before, plain.After = v.Before.markForeign(v.Type), v.After.markForeign(v.Type)
	plain.Ranks, plain.Nodes = markForeign(v.Ranks, v.Type), markForeign(v.Nodes, v.Type)
	return json.MarshalEncode(e, &plain)
}

func markForeign(list []RankReading, variable Datatype) []RankReading {
	marked := slices.Clone(list)
	for i := range marked {
		marked[i].Reading = *marked[i].markForeign(variable)
	}
	return marked
}

// markForeign marks a value whose type differs from its variable's by the type's complement, as no type is negative.
func (g *Reading) markForeign(variable Datatype) *Reading {
	if g == nil || g.Value.typ == 0 || g.Value.typ == variable {
		return g
	}
	marked := *g
	marked.Value.typ = ^marked.Value.typ
	return &marked
}

func (g *Reading) form() readingForm {
	f := readingForm{Status: g.Status, Reason: g.Reason, Value: g.Value, Count: g.Count, Writable: g.Writable}
	if f.Value.typ < 0 {
		f.Value.typ = ^f.Value.typ
		f.Type = f.Value.typ
	}
	return f
}

// MarshalJSONTo writes a reading.
func (g *Reading) MarshalJSONTo(e *jsontext.Encoder) error {
	f := g.form()
	return json.MarshalEncode(e, &f)
}

// MarshalJSONTo writes a reading and its rank.
func (k *RankReading) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, &rankReadingForm{k.Rank, k.form()})
}

// UnmarshalJSONFrom reads a variable.
func (v *Variable) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if err := json.UnmarshalDecode(d, (*plainVariable)(v)); err != nil {
		return err
	}
	if v.Type == 0 {
		return problemf(d, "", `"type" is missing`)
	}
	if v.Before != nil {
		if err := v.Before.Value.decode(v.Type); err != nil {
			return within(d, "/before/value", err)
		}
	}
	if v.After != nil {
		if err := v.After.Value.decode(v.Type); err != nil {
			return within(d, "/after/value", err)
		}
	}
	if err := decodeRanks(&v.Ranks, v.Type); err != nil {
		return within(d, "/ranks", err)
	}
	if err := decodeRanks(&v.Nodes, v.Type); err != nil {
		return within(d, "/nodes", err)
	}
	return nil
}

// decodeRanks decodes the values of a list of readings and sorts it.
func decodeRanks(list *[]RankReading, t Datatype) error {
	for i := range *list {
		if err := (*list)[i].Value.decode(t); err != nil {
			return inElement(i, "/value", err)
		}
	}
	if err := unique(*list, func(k *RankReading) int { return k.Rank }); err != nil {
		return err
	}
	sortBy(list, func(a, b *RankReading) int { return cmp.Compare(a.Rank, b.Rank) })
	return nil
}

// decode decodes an undecoded value.
func (v *Value) decode(t Datatype) (err error) {
	if v.typ == undecoded {
		*v, err = parseJSON(jsontext.Value(v.raw), t)
	}
	return err
}

// UnmarshalJSONFrom reads a reading. Without a type of its own, its value stays undecoded until the variable's type is known.
func (g *Reading) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var f readingForm
	if err := json.UnmarshalDecode(d, &f); err != nil {
		return err
	}
	return g.from(d, &f)
}

// UnmarshalJSONFrom reads a reading and its rank.
func (k *RankReading) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var f rankReadingForm
	if err := json.UnmarshalDecode(d, &f); err != nil {
		return err
	}
	k.Rank = f.Rank
	return k.from(d, &f.readingForm)
}

func (g *Reading) from(d *jsontext.Decoder, f *readingForm) error {
	*g = Reading{f.Status, f.Reason, f.Value, f.Count, f.Writable}
	switch {
	case f.Status == "":
		return problemf(d, "", `"status" is missing`)
	case f.Status != StatusOK && !f.Value.IsZero():
		return problemf(d, "/value", "a reading with status %q cannot have a value", f.Status)
	case f.Count < 0 || f.Count > math.MaxInt32:
		return problemf(d, "/count", "%d is out of range", f.Count)
	case f.Type != 0:
		if err := g.Value.decode(f.Type); err != nil {
			return within(d, "/value", err)
		}
	}
	return nil
}

// UnmarshalJSONFrom keeps a value's JSON until its type is known.
func (v *Value) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	raw, err := d.ReadValue()
	if err == nil && raw.Kind() != 'n' {
		*v = Value{undecoded, string(raw)}
	}
	return err
}

// AppendJSON appends any part of a catalog on one line, in the form that Write uses.
func AppendJSON(b []byte, x any) ([]byte, error) {
	raw, err := marshal(x)
	return appendPrintable(b, raw), err
}

// marshal writes durations as nanoseconds.
func marshal(x any) ([]byte, error) {
	b, err := json.Marshal(x, asUsual)
	if err != nil {
		b, err = json.Marshal(x, asUsual, marshalBytes, jsontext.AllowInvalidUTF8(true)) // with an encoding for invalid UTF-8
	}
	return b, err
}

var asUsual = json.JoinOptions(json.Deterministic(true), jsonv1.FormatDurationAsNano(true))

// Texts that are not UTF-8 are objects, {"bytes":"6869ff"}. Checking for them slows everything down, so it is only the second try.
var (
	marshalBytes = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, s string) error {
		if utf8.ValidString(s) {
			return errors.ErrUnsupported // as usual
		}
		return e.WriteValue(AppendText(nil, s))
	}))
	unmarshalBytes = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, s *string) error {
		if d.PeekKind() != '{' {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		if err == nil {
			*s, err = bytesText(raw)
		}
		return err
	}))
)

func bytesText(raw jsontext.Value) (string, error) {
	var object struct {
		Bytes *string `json:"bytes"`
	}
	if err := json.Unmarshal(raw, &object); err != nil || object.Bytes == nil {
		return "", errors.New(`expected a string or {"bytes":"…"}, not another object`)
	}
	b, err := hex.DecodeString(*object.Bytes)
	if err != nil {
		return "", fmt.Errorf("not hexadecimal: %w", err)
	}
	return string(b), nil
}

// problem is an error in a document that is valid JSON.
type problem struct {
	at  jsontext.Pointer
	err error
}

func (p *problem) Error() string { return p.err.Error() }

// problemf returns a problem with the value read last, or a part of it.
func problemf(d *jsontext.Decoder, part string, format string, args ...any) error {
	return within(d, part, fmt.Errorf(format, args...))
}

// within returns a problem with a part of the value read last.
func within(d *jsontext.Decoder, part string, err error) error {
	return at(string(d.StackPointer())+part, err)
}

// at adds the place in the document to an error.
func at(place string, err error) error {
	if err == nil {
		return nil
	}
	p := &problem{err: err}
	errors.As(err, &p)
	return &problem{jsontext.Pointer(place) + p.at, p.err}
}

// inElement returns a problem with a part of a list's element.
func inElement(i int, part string, err error) error {
	return at("/"+strconv.Itoa(i)+part, err)
}

// unique fails if two elements have the same key.
func unique[E any, K comparable](list []E, key func(*E) K) error {
	seen := make(map[K]int, len(list))
	for i := range list {
		k := key(&list[i])
		if first, ok := seen[k]; ok {
			return inElement(i, "", fmt.Errorf("duplicate of %v at [%d]", k, first))
		}
		seen[k] = i
	}
	return nil
}
