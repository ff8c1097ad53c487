package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"mpitx/catalog"
)

// ShowSchema identifies the document that Show writes.
const (
	ShowSchema        = "mpitx.show"
	ShowSchemaVersion = 1
)

// showData writes variables as in a catalog, with their kind, their enumeration and how to set them: as one document, or one on each
// line.
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
	b, err := appendKind(nil, v.Kind.Info().One, v)
	if err != nil {
		return nil, err
	}
	b = b[:len(b)-1]
	if e := c.Enum(v.Enum); e != nil {
		if b, err = catalog.AppendJSON(append(b, `,"enumeration":`...), e); err != nil {
			return nil, err
		}
	}
	if opts.HowToSet != nil && v.Kind == catalog.Cvars {
		if b, err = appendJSON(append(b, `,"how_to_set":`...), list(opts.HowToSet(v))); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}
