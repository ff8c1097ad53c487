package export

import (
	"fmt"
	"slices"
	"strings"
)

// Format is an output format.
type Format string

// The formats of -o.
const (
	FormatTable  Format = "table"
	FormatWide   Format = "wide"
	FormatJSON   Format = "json"
	FormatNDJSON Format = "ndjson"
	FormatCSV    Format = "csv"
	FormatNames  Format = "names"
)

// Formats are all formats, for help and completion.
var Formats = []Format{FormatTable, FormatWide, FormatJSON, FormatNDJSON, FormatCSV, FormatNames}

// ParseFormat parses a -o flag; "" is the table.
func ParseFormat(s string) (Format, error) {
	if s == "" {
		return FormatTable, nil
	}
	if f := Format(strings.ToLower(s)); slices.Contains(Formats, f) {
		return f, nil
	}
	names := make([]string, len(Formats))
	for i, f := range Formats {
		names[i] = string(f)
	}
	return "", fmt.Errorf("unknown output format %q; use %s", s, strings.Join(names, ", "))
}
