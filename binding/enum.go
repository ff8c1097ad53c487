package binding

// #include "call.h"
import "C"

import (
	"math/bits"

	"mpitx/catalog"
)

// EnumHandle is a handle of an enumeration (MPI_T_enum). The zero value is MPI_T_ENUM_NULL.
type EnumHandle struct{ h C.mpitx_handle }

// IsNull reports whether the handle is MPI_T_ENUM_NULL.
func (e EnumHandle) IsNull() bool { return e.h == 0 }

// maxItems bounds an enumeration's claimed number of items.
const maxItems = 1 << 16

// EnumInfo is MPI_T_enum_get_info (MPI-3.1, section 14.3.5): the number of items and the enumeration's name.
func (i *Interface) EnumInfo(e EnumHandle) (num int, name string, err error) {
	if err := i.ready(); err != nil {
		return 0, "", err
	}
	if e.IsNull() {
		return 0, "", ErrInvalidHandle
	}
	var n C.int
	err = i.l.wholeStrings(func(p [2]*C.char, l *[2]C.int) C.int {
		l[1] = 0
		return C.mt_enum_get_info(i.t, e.h, &n, p[0], &l[0])
	})
	if err != nil {
		return 0, "", err
	}
	return int(n), i.l.name.String(), nil
}

// EnumItem is MPI_T_enum_get_item (MPI-3.1, section 14.3.5): the value and the name of the item at an index from 0. The
// value may differ from the index.
func (i *Interface) EnumItem(e EnumHandle, index int) (catalog.Item, error) {
	num, _, err := i.EnumInfo(e)
	if err != nil {
		return catalog.Item{}, err
	}
	if index < 0 || index >= num {
		return catalog.Item{}, ErrInvalidItem
	}
	return i.enumItem(e, index)
}

func (i *Interface) enumItem(e EnumHandle, index int) (catalog.Item, error) {
	var value C.int
	err := i.l.wholeStrings(func(p [2]*C.char, l *[2]C.int) C.int {
		l[1] = 0
		return C.mt_enum_get_item(i.t, e.h, C.int(index), &value, p[0], &l[0])
	})
	if err != nil {
		return catalog.Item{}, err
	}
	return catalog.Item{Value: int(value), Name: i.l.name.String()}, nil
}

// Enum returns a whole enumeration: its name and its items in the library's order. The library does not say whether values are
// ORs of items (flags). Enum assumes so if the items consist of at least three single bits and are not consecutive numbers.
func (i *Interface) Enum(e EnumHandle) (catalog.Enum, error) {
	num, name, err := i.EnumInfo(e)
	if err != nil {
		return catalog.Enum{}, err
	}
	enum := catalog.Enum{Name: name}
	for k := range min(num, maxItems) {
		item, err := i.enumItem(e, k)
		if err != nil {
			return enum, err
		}
		enum.Items = append(enum.Items, item)
	}
	enum.Flags = looksLikeFlags(enum.Items)
	return enum, nil
}

func looksLikeFlags(items []catalog.Item) bool {
	var single, all, highest uint32
	distinct := map[uint32]bool{}
	for _, it := range items {
		v := uint32(it.Value)
		if it.Value < 0 && v != 1<<31 {
			return false
		}
		if v == 0 {
			continue
		}
		distinct[v] = true
		highest = max(highest, v)
		all |= v
		if v&(v-1) == 0 {
			single |= v
		}
	}
	counted := int(highest) == len(distinct) // 1, 2, 3, …
	return bits.OnesCount32(single) >= 3 && all == single && !counted
}
