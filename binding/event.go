package binding

// #include "call.h"
import "C"

// EventInfo is what MPI_T_event_get_info returns.
type EventInfo struct {
	Name        string
	Description string
	Verbosity   Verbosity
	Bind        Bind
	Elements    []EventElement
	Enum        EnumHandle // names the elements: an item's value is an element's index
	Hints       Hints
}

// EventElement is one element of an event's data.
type EventElement struct {
	Type         Datatype
	Displacement int64 // in bytes, in the data that MPI_T_event_copy returns
}

const (
	maxElements     = 1 << 12 // bounds an event type's claimed number of elements
	maxEventBytes   = 1 << 20 // bounds the claimed size of its data
	firstElements   = 16
	eventBytesSlack = 512 // for libraries that write more than the elements
)

// NumEvents is MPI_T_event_get_num (MPI-4.0, section 15.3.8): the number of event types. The number may grow, and an index never
// changes. It returns ErrNotProvided if the library is older. Only the library's goroutine may call it.
func (i *Interface) NumEvents() (int, error) {
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_event_get_num(t, n) })
}

// EventInfo is MPI_T_event_get_info (MPI-4.0, section 15.3.8) with complete strings and all elements. It returns ErrInvalidIndex
// for an index that does not exist, ErrBadCount if the library claims an impossible number of elements, and ErrNotProvided if it
// is older. Only the library's goroutine may call it.
func (i *Interface) EventInfo(index int) (EventInfo, error) {
	if err := i.valid(index, i.NumEvents); err != nil {
		return EventInfo{}, err
	}
	var info C.struct_mpitx_event_info
	var types []C.int
	var at []C.int64_t
	for room := C.int(firstElements); ; room = info.num_elements {
		types, at = make([]C.int, room), make([]C.int64_t, room)
		i.freeInfo(info.info)
		info.info = 0
		err := i.l.wholeStrings(func(p [2]*C.char, n *[2]C.int) C.int {
			i.freeInfo(info.info)
			info = C.struct_mpitx_event_info{num_elements: room}
			return C.mt_event_get_info(i.t, C.int(index), p[0], &n[0], p[1], &n[1], &types[0], &at[0], &info)
		})
		if err == nil && (info.num_elements < 0 || info.num_elements > maxElements) {
			err = ErrBadCount
		}
		if err != nil {
			i.freeInfo(info.info)
			return EventInfo{}, err
		}
		if info.num_elements <= room {
			break
		}
	}
	out := EventInfo{Name: i.l.name.String(), Description: i.l.desc.String(), Verbosity: Verbosity(info.verbosity), Bind: Bind(info.bind),
		Enum: EnumHandle{info.enumtype}, Hints: i.takeInfo(info.info)}
	for k := range info.num_elements {
		out.Elements = append(out.Elements, EventElement{Datatype(types[k]), int64(at[k])})
	}
	return out, nil
}

// EventIndex is MPI_T_event_get_index (MPI-4.0, section 15.3.8). It returns ErrInvalidName if no event type has this name now, and
// ErrNotProvided if the library is older. Only the library's goroutine may call it.
func (i *Interface) EventIndex(name string) (int, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	return indexOf(name, func(p *C.char, index *C.int) C.int { return C.mt_event_get_index(i.t, p, index) })
}

// Bytes is the size of an event's data. It returns ErrElementOutside for an element outside of any possible data, and ErrUnknownType
// if an element's size is unknown.
func (e *EventInfo) Bytes() (int, error) {
	end := int64(0)
	for _, x := range e.Elements {
		size := int64(x.Type.Size())
		switch {
		case size == 0:
			return 0, ErrUnknownType
		case x.Displacement < 0 || x.Displacement > maxEventBytes-size:
			return 0, ErrElementOutside
		}
		end = max(end, x.Displacement+size)
	}
	return int(end), nil
}
