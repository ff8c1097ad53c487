package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Event is an event type of MPI_T (MPI-4.0, section 15.3.8), or an event of PERUSE. Metadata other than hints must be equal in all
// processes.
type Event struct {
	Name        string     `json:"name"`
	Verbosity   Verbosity  `json:"verbosity"`
	Bind        Bind       `json:"bind"`
	Elements    []Element  `json:"elements,omitempty"`     // of its data, in the library's order
	Enum        string     `json:"enum,omitzero"`          // name of the enumeration that names the elements
	Hints       []Hint     `json:"hints,omitempty"`        // of the type, by key
	HandleHints []Hint     `json:"handle_hints,omitempty"` // of a handle that is allocated without hints: what the library uses, by key
	Description string     `json:"description,omitzero"`   //
	Categories  []string   `json:"categories,omitempty"`   // names of the categories that list it, sorted
	Status      Status     `json:"status,omitzero"`        // the result of registering a callback, in a process that is discarded
	Reason      string     `json:"reason,omitzero"`        // why the status is not StatusOK, or else why HandleHints are unknown
	Before      bool       `json:"before,omitzero"`        // exists before MPI_Init
	After       bool       `json:"after,omitzero"`         // exists after MPI_Init
	Conflicts   []Conflict `json:"conflicts,omitempty"`    // metadata that differ between processes

	Interface  string  `json:"interface,omitzero"`   // InterfacePeruse; "": MPI_T
	Also       string  `json:"also,omitzero"`        // PERUSE: the specification's other spelling of the name
	Section    string  `json:"section,omitzero"`     // PERUSE: of its specification; "": an event of this library
	QueueScope string  `json:"queue_scope,omitzero"` // PERUSE: what has a queue of its own: "communicator", "tag", "source", "peer", "global"
	Support    Support `json:"support,omitzero"`     // PERUSE; Reason says how it is derived, or why it is unavailable
}

// ConflictExists is the field of a Conflict about an event or event source that only some ranks have, which the standard allows.
const ConflictExists = "exists"

// Element is one element of an event's data.
type Element struct {
	Name         string   `json:"name,omitzero"` // "" if the library does not name it
	Type         Datatype `json:"type"`
	Displacement int64    `json:"displacement"` // bytes from the start of the data that MPI_T_event_copy returns
}

// Hint is a key of an MPI_Info object and its value.
type Hint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// ID is the event's name.
func (e *Event) ID() string { return e.Name }

// Size is the size of the event's data in bytes, as far as the sizes of its elements are known.
func (e *Event) Size() int64 {
	end := int64(0)
	for _, x := range e.Elements {
		end = max(end, x.Displacement+int64(x.Type.Size()))
	}
	return end
}

// NameElements names the elements by the items of an enumeration, whose values are the elements' indices. Libraries also number them
// otherwise; then the items name the elements in order, if there are as many.
func (e *Event) NameElements(items []Item) {
	inOrder := len(items) == len(e.Elements) &&
		slices.ContainsFunc(items, func(it Item) bool { return it.Value < 0 || it.Value >= len(e.Elements) })
	for i, it := range items {
		if !inOrder {
			i = it.Value
		}
		if i >= 0 && i < len(e.Elements) {
			e.Elements[i].Name = it.Name
		}
	}
}

func (e *Event) conflicts() *[]Conflict { return &e.Conflicts }

func (e *Event) compare(o *Event) int { return cmp.Compare(e.Name, o.Name) }

func (e *Event) eachText(visit func(*string, textKind)) {
	visit(&e.Description, proseText)
	visit(&e.Reason, dataText)
	hintTexts(e.Hints, visit)
	hintTexts(e.HandleHints, visit)
}

func hintTexts(hints []Hint, visit func(*string, textKind)) {
	for i := range hints {
		visit(&hints[i].Value, dataText)
	}
}

func (e *Event) code(c *coder) {
	c.string(&e.Name)
	code32(c, &e.Verbosity)
	code32(c, &e.Bind)
	codeList(c, &e.Elements, 3, (*coder).element)
	c.string(&e.Enum)
	codeList(c, &e.Hints, 2, (*coder).hint)
	codeList(c, &e.HandleHints, 2, (*coder).hint)
	c.string(&e.Description)
	c.status(&e.Status)
	c.string(&e.Reason)
	for _, s := range []*string{&e.Interface, &e.Also, &e.Section, &e.QueueScope, (*string)(&e.Support)} {
		c.string(s)
	}
}

func (c *coder) element(x *Element) {
	c.string(&x.Name)
	code32(c, &x.Type)
	x.Displacement = c.int64(x.Displacement)
}

func (c *coder) hint(h *Hint) {
	c.string(&h.Key)
	c.string(&h.Value)
}

func (e *Event) merge(rank int, here *Event) {
	e.Conflicts = appendEventConflicts(e.Conflicts, rank, here, e)
	worse(&e.Status, &e.Reason, rank, here.Status, here.Reason)
}

func (e *Event) join(b *Event) Event {
	out := *cmp.Or(e, b)
	if e != nil && b != nil {
		out.Conflicts = joinConflicts(e.Conflicts, b.Conflicts, appendEventConflicts(nil, BeforeRank, b, e))
	}
	out.Before, out.After = b != nil, e != nil
	return out
}

func appendEventConflicts(to []Conflict, rank int, here, root *Event) []Conflict {
	to = appendConflict(to, rank, "verbosity", here.Verbosity.String(), root.Verbosity.String())
	to = appendConflict(to, rank, "bind", here.Bind.String(), root.Bind.String())
	if !slices.Equal(here.Elements, root.Elements) {
		to = appendConflict(to, rank, "elements", elementList(here.Elements), elementList(root.Elements))
	}
	to = appendConflict(to, rank, "enum", here.Enum, root.Enum)
	to = appendConflict(to, rank, "queue_scope", here.QueueScope, root.QueueScope)
	return appendConflict(to, rank, "description", here.Description, root.Description)
}

// elementList is the elements as text: "peer int32 at 0, tag int32 at 4".
func elementList(elements []Element) string {
	list := make([]string, len(elements))
	for i, x := range elements {
		list[i] = strings.TrimSpace(fmt.Sprintf("%s %s at %d", x.Name, x.Type, x.Displacement))
	}
	return strings.Join(list, ", ")
}

// addPresence adds a conflict to each event and event source that only one of a process and the reference process has.
func (m *merger) addPresence(p *Process) {
	type key struct {
		kind *KindInfo
		id   string
	}
	there, here := map[key]bool{}, map[key]bool{}
	for at, lists := range map[*map[key]bool]*Lists{&there: &m.ref.Meta.Lists, &here: &p.Meta.Lists} {
		for k, e := range lists.Entries(Events | Sources) {
			(*at)[key{k, e.ID()}] = true
		}
	}
	answer := map[bool]string{true: "yes", false: "no"}
	for k, e := range m.out.Entries(Events | Sources) {
		if id := (key{k, e.ID()}); there[id] != here[id] {
			*e.conflicts() = append(*e.conflicts(), Conflict{p.Rank, ConflictExists, answer[here[id]], answer[there[id]]})
		}
	}
}

// severity orders statuses by how little an entry can be used.
var severity = map[Status]int{StatusOK: 1, StatusUnbound: 2, StatusError: 3, StatusFaulty: 4}

// worse takes over the status of a rank on which an entry can be used less than here.
func worse(status *Status, reason *string, rank int, there Status, why string) {
	if severity[there] > severity[*status] {
		*status, *reason = there, fmt.Sprintf("on rank %d: %s", rank, why)
	}
}
