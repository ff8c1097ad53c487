package export

import (
	"strconv"
	"strings"
	"time"

	"mpitx/catalog"
)

var eventView = view{
	fields: map[string]func(catalog.Entry) any{
		"verbosity":   of(func(e *catalog.Event) any { return numbered(e.Verbosity) }),
		"bind":        of(func(e *catalog.Event) any { return numbered(e.Bind) }),
		"stage":       of(func(e *catalog.Event) any { return stageText(e.Before, e.After) }),
		"category":    of(func(e *catalog.Event) any { return list(e.Categories) }),
		"enum":        of(func(e *catalog.Event) any { return e.Enum }),
		"count":       of(func(e *catalog.Event) any { return len(e.Elements) }),
		"status":      of(func(e *catalog.Event) any { return string(e.Status) }),
		"reason":      of(func(e *catalog.Event) any { return e.Reason }),
		"conflicts":   of(func(e *catalog.Event) any { return list(e.Conflicts) }),
		"description": of(func(e *catalog.Event) any { return e.Description }),
		"elements":    of(func(e *catalog.Event) any { return list(e.Elements) }),
		"hints":       of(func(e *catalog.Event) any { return list(e.Hints) }),
		"interface":   of(func(e *catalog.Event) any { return either(e.Interface, "mpi_t") }),
		"section":     of(func(e *catalog.Event) any { return e.Section }),
		"support":     of(func(e *catalog.Event) any { return string(e.Support) }),
		"queue_scope": of(func(e *catalog.Event) any { return e.QueueScope }),
	},
	columns: []viewColumn{
		{column: column{header: "ELEMENTS", flex: true, floor: 12, soft: 36}, text: of(func(e *catalog.Event) string { return elementNames(e) })},
		{column: column{header: "BIND"}, text: of(func(e *catalog.Event) string { return numbered(e.Bind) })},
		{column: column{header: "STAGE"}, text: of(func(e *catalog.Event) string { return stageText(e.Before, e.After) })},
		{column: column{header: "STATUS"}, text: of(func(e *catalog.Event) string { return unusual(e.Status) }), spare: true},
		{column: column{header: "VERBOSITY"}, text: of(func(e *catalog.Event) string { return numbered(e.Verbosity) })},
		{column: categoryHeader, text: of(func(e *catalog.Event) string { return strings.Join(e.Categories, ",") })},
		{column: column{header: "DESCRIPTION", flex: true, floor: 16}, text: of(func(e *catalog.Event) string { return oneLine(e.Description) })},
	},
	must: 2,
}

// peruseView are the columns of events of PERUSE, in a table of their own.
var peruseView = view{
	columns: []viewColumn{
		{column: column{header: "SUPPORT"}, text: of(func(e *catalog.Event) string { return either(string(e.Support), "unknown") })},
		{column: column{header: "SECTION"}, text: of(func(e *catalog.Event) string { return either(e.Section, "(library)") })},
		{column: column{header: "QUEUE OF EACH"}, text: of(func(e *catalog.Event) string { return e.QueueScope }), spare: true},
		{column: column{header: "DESCRIPTION", flex: true, floor: 16}, text: of(func(e *catalog.Event) string { return oneLine(e.Description) })},
	},
	must: 2,
}

var categoryHeader = column{header: "CATEGORY", flex: true, floor: 12}

var sourceView = view{
	fields: map[string]func(catalog.Entry) any{
		"stage":            of(func(s *catalog.Source) any { return stageText(s.Before, s.After) }),
		"status":           of(func(s *catalog.Source) any { return string(s.Status) }),
		"reason":           of(func(s *catalog.Source) any { return s.Reason }),
		"conflicts":        of(func(s *catalog.Source) any { return list(s.Conflicts) }),
		"description":      of(func(s *catalog.Source) any { return s.Description }),
		"order":            of(func(s *catalog.Source) any { return numbered(s.Order) }),
		"ticks_per_second": of(func(s *catalog.Source) any { return s.TicksPerSecond }),
		"max_ticks":        of(func(s *catalog.Source) any { return s.MaxTicks }),
		"readable":         of(func(s *catalog.Source) any { return s.Readable }),
		"hints":            of(func(s *catalog.Source) any { return list(s.Hints) }),
	},
	columns: []viewColumn{
		{column: column{header: "ORDER"}, text: of(func(s *catalog.Source) string { return numbered(s.Order) })},
		{column: column{header: "TICKS/S"}, text: of(func(s *catalog.Source) string { return strconv.FormatInt(s.TicksPerSecond, 10) })},
		{column: column{header: "WRAPS"}, text: of(func(s *catalog.Source) string { return wraps(s) })},
		{column: column{header: "CLOCK"}, text: of(func(s *catalog.Source) string {
			if s.Readable {
				return "any time"
			}
			return "in events"
		})},
		{column: column{header: "STAGE"}, text: of(func(s *catalog.Source) string { return stageText(s.Before, s.After) })},
		{column: column{header: "STATUS"}, text: of(func(s *catalog.Source) string { return unusual(s.Status) }), spare: true},
		{column: column{header: "DESCRIPTION", flex: true, floor: 16}, text: of(func(s *catalog.Source) string { return oneLine(s.Description) })},
	},
	must: 3,
}

// elementNames lists an event's elements: their names, or else their types.
func elementNames(e *catalog.Event) string {
	return joinFunc(e.Elements, ", ", func(x catalog.Element) string { return either(x.Name, numbered(x.Type)) })
}

// elementText is an element in CSV: "peer int32@0".
func elementText(x catalog.Element) string {
	return strings.TrimSpace(x.Name+" "+numbered(x.Type)) + "@" + strconv.FormatInt(x.Displacement, 10)
}

func hintText(h catalog.Hint) string { return h.Key + "=" + h.Value }

// unusual is a status other than ok.
func unusual(s catalog.Status) string {
	if s == catalog.StatusOK {
		return ""
	}
	return string(s)
}

// wraps is the time after which a source's clock starts again from 0; "" for one that takes too long to matter.
func wraps(s *catalog.Source) string {
	d := s.Wraps()
	switch {
	case d == 0:
		return ""
	case d > time.Hour:
		d = d.Round(time.Minute)
	case d > time.Second:
		d = d.Round(time.Millisecond)
	}
	return strings.Replace(d.String(), "µ", "u", 1)
}
