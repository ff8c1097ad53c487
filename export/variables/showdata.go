package variables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"mpitx/catalog"
	"mpitx/export"
)

// ShowSchema identifies the document that Show writes.
const (
	ShowSchema        = "mpitx.show"
	ShowSchemaVersion = 1
)

// showLists are the lists of the document; only the first is there if it is empty.
var showLists = []struct {
	word  string
	kinds catalog.Kind
}{{"variables", catalog.Variables}, {"events", catalog.Events}, {"sources", catalog.Sources}}

// showData writes entries as in a catalog, with their kind, their enumeration and how to set them: as one document, or one on each
// line.
func showData(w io.Writer, c *catalog.Catalog, entries []catalog.Entry, opts ShowOptions) error {
	var b bytes.Buffer
	if opts.Format == export.FormatNDJSON {
		for _, e := range entries {
			object, err := showObject(c, e, opts)
			if err != nil {
				return err
			}
			b.Write(append(object, '\n'))
		}
		_, err := b.WriteTo(w)
		return err
	}
	fmt.Fprintf(&b, "{\n  \"schema\": %q,\n  \"version\": %d", ShowSchema, ShowSchemaVersion)
	for i, l := range showLists {
		n := 0
		for _, e := range entries {
			if !l.kinds.Has(kindOf(e)) {
				continue
			}
			object, err := showObject(c, e, opts)
			if err != nil {
				return err
			}
			if n++; n == 1 {
				fmt.Fprintf(&b, ",\n  %q: [\n    ", l.word)
			} else {
				b.WriteString(",\n    ")
			}
			if err := json.Indent(&b, object, "    ", "  "); err != nil {
				return err
			}
		}
		switch {
		case n > 0:
			b.WriteString("\n  ]")
		case i == 0:
			fmt.Fprintf(&b, ",\n  %q: []", l.word)
		}
	}
	b.WriteString("\n}\n")
	_, err := b.WriteTo(w)
	return err
}

func kindOf(e catalog.Entry) catalog.Kind {
	switch e := e.(type) {
	case *catalog.Variable:
		return e.Kind
	case *catalog.Event:
		return catalog.Events
	}
	return catalog.Sources
}

// showObject encodes one entry on one line.
func showObject(c *catalog.Catalog, e catalog.Entry, opts ShowOptions) ([]byte, error) {
	v, _ := e.(*catalog.Variable)
	if v != nil {
		e = c.WithItems(v)
	}
	b, err := appendKind(nil, kindOf(e).Info().One, e)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	name := ""
	if event, ok := e.(*catalog.Event); ok {
		name = event.Enum
	} else if v != nil {
		name = v.Enum
	}
	if items := c.Enum(name); items != nil {
		if b, err = catalog.AppendJSON(append(b, `,"enumeration":`...), items); err != nil {
			return nil, err
		}
	}
	if opts.HowToSet != nil && v != nil && v.Kind == catalog.Cvars {
		if b, err = export.AppendJSON(append(b, `,"how_to_set":`...), nonNil(opts.HowToSet(v))); err != nil {
			return nil, err
		}
	}
	if opts.Effect != nil && v != nil && v.Kind == catalog.Cvars {
		if effect := opts.Effect(v); !effect.IsZero() {
			if b, err = export.AppendJSON(append(b, `,"effect":`...), effect); err != nil {
				return nil, err
			}
		}
	}
	return append(b, '}'), nil
}
