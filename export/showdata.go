package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"mpitx/catalog"
)

// ShowSchema is the schema name of the document that Show writes.
const (
	ShowSchema        = "mpitx.show"
	ShowSchemaVersion = 1
)

// showData writes variables as catalogs do, with their kind, their enumeration and how to set them: as a document, or
// one on a line.
func showData(w io.Writer, c *catalog.Catalog, vars []*catalog.Variable, opts ShowOptions) error {
	var b bytes.Buffer
	if opts.Format == FormatJSON {
		fmt.Fprintf(&b, "{\n  \"schema\": %q,\n  \"version\": %d,\n  \"variables\": [", ShowSchema, ShowSchemaVersion)
	}
	for i, v := range vars {
		object, err := showObject(c, v, opts)
		if err != nil {
			return err
		}
		if opts.Format == FormatNDJSON {
			b.Write(append(object, '\n'))
			continue
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		if err := json.Indent(&b, object, "    ", "  "); err != nil {
			return err
		}
	}
	if opts.Format == FormatJSON {
		if len(vars) > 0 {
			b.WriteString("\n  ")
		}
		b.WriteString("]\n}\n")
	}
	_, err := b.WriteTo(w)
	return err
}

// showObject encodes one variable on one line.
func showObject(c *catalog.Catalog, v *catalog.Variable, opts ShowOptions) ([]byte, error) {
	alone := subset(&catalog.Catalog{}, []*catalog.Variable{v})
	e := c.Enum(v.Enum)
	if e != nil {
		alone.Enums = []catalog.Enum{*e}
	}
	d, err := elements(alone)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, object := range slices.Concat(d.Cvars, d.Pvars, d.Virtual) {
		if err := appendKind(&b, kindName(v.Kind), object); err != nil {
			return nil, err
		}
	}
	if b.Len() == 0 {
		return nil, fmt.Errorf("%q was not encoded", v.Name)
	}
	b.Truncate(b.Len() - 1)
	for _, object := range d.Enums {
		b.WriteString(`,"enumeration":`)
		if err := json.Compact(&b, object); err != nil {
			return nil, err
		}
	}
	if opts.HowToSet != nil && v.Kind == catalog.Cvar {
		how, err := appendJSON(nil, list(opts.HowToSet(v)))
		if err != nil {
			return nil, err
		}
		b.WriteString(`,"how_to_set":`)
		b.Write(how)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
