package binding

// #include "call.h"
import "C"

// CategoryInfo is what MPI_T_category_get_info returns.
type CategoryInfo struct {
	Name          string
	Description   string
	NumCvars      int
	NumPvars      int
	NumCategories int
}

// Stamp is the result of MPI_T_category_changed. If it differs from an earlier one, categories may have changed. Its size and
// order mean nothing.
type Stamp int

// NumCategories is MPI_T_category_get_num (MPI-3.1, section 14.3.8). The number may grow.
func (i *Interface) NumCategories() (int, error) {
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_category_get_num(t, n) })
}

// CategoryInfo is MPI_T_category_get_info (MPI-3.1, section 14.3.8) with complete strings. It returns ErrInvalidIndex
// for an index that the library does not count.
func (i *Interface) CategoryInfo(index int) (CategoryInfo, error) {
	if err := i.valid(index, i.NumCategories); err != nil {
		return CategoryInfo{}, err
	}
	var cvars, pvars, categories C.int
	err := i.l.wholeStrings(func(p [2]*C.char, n *[2]C.int) C.int {
		return C.mt_category_get_info(i.t, C.int(index), p[0], &n[0], p[1], &n[1], &cvars, &pvars, &categories)
	})
	if err != nil {
		return CategoryInfo{}, err
	}
	return CategoryInfo{i.l.name.String(), i.l.desc.String(), int(cvars), int(pvars), int(categories)}, nil
}

// CategoryIndex is MPI_T_category_get_index (MPI-3.1, section 14.3.8). It returns ErrInvalidName if no category has
// this name now, and ErrNotProvided if the library is older than MPI-3.1.
func (i *Interface) CategoryIndex(name string) (int, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	return indexOf(name, func(p *C.char, index *C.int) C.int { return C.mt_category_get_index(i.t, p, index) })
}

// CategoryCvars is MPI_T_category_get_cvars (MPI-3.1, section 14.3.8): the indices of a category's control variables.
// Some may have become invalid.
func (i *Interface) CategoryCvars(index int) ([]int, error) {
	return i.members(index, func(c CategoryInfo) (int, error) { return c.NumCvars, nil },
		func(n C.int, p *C.int) C.int { return C.mt_category_get_cvars(i.t, C.int(index), n, p) })
}

// CategoryPvars is MPI_T_category_get_pvars (MPI-3.1, section 14.3.8): the indices of a category's performance
// variables.
func (i *Interface) CategoryPvars(index int) ([]int, error) {
	return i.members(index, func(c CategoryInfo) (int, error) { return c.NumPvars, nil },
		func(n C.int, p *C.int) C.int { return C.mt_category_get_pvars(i.t, C.int(index), n, p) })
}

// CategoryCategories is MPI_T_category_get_categories (MPI-3.1, section 14.3.8): the indices of the categories in a
// category.
func (i *Interface) CategoryCategories(index int) ([]int, error) {
	return i.members(index, func(c CategoryInfo) (int, error) { return c.NumCategories, nil },
		func(n C.int, p *C.int) C.int { return C.mt_category_get_categories(i.t, C.int(index), n, p) })
}

// CategoryNumEvents is MPI_T_category_get_num_events (MPI-4.0, section 15.3.9). It returns ErrNotProvided if the
// library is older.
func (i *Interface) CategoryNumEvents(index int) (int, error) {
	if err := i.valid(index, i.NumCategories); err != nil {
		return 0, err
	}
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_category_get_num_events(t, C.int(index), n) })
}

// CategoryEvents is MPI_T_category_get_events (MPI-4.0, section 15.3.9): the indices of a category's event types.
func (i *Interface) CategoryEvents(index int) ([]int, error) {
	return i.members(index, func(CategoryInfo) (int, error) { return i.CategoryNumEvents(index) },
		func(n C.int, p *C.int) C.int { return C.mt_category_get_events(i.t, C.int(index), n, p) })
}

// CategoryChanged is MPI_T_category_changed (MPI-3.1, section 14.3.8).
func (i *Interface) CategoryChanged() (Stamp, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	var stamp C.int
	err := check(C.mt_category_changed(i.t, &stamp))
	return Stamp(stamp), err
}

// maxMembers bounds a category's claimed number of members.
const maxMembers = 1 << 22

// members gets a member list, again if it grew between the two calls. Entries that the library did not set are dropped.
func (i *Interface) members(index int, num func(CategoryInfo) (int, error), get func(C.int, *C.int) C.int) ([]int, error) {
	var list []int
	asked := -1
	for range 8 {
		info, err := i.CategoryInfo(index)
		if err != nil {
			return nil, err
		}
		n, err := num(info)
		if err != nil {
			return nil, err
		}
		if n = min(n, maxMembers); n <= asked || n <= 0 {
			return list, nil
		}
		asked = n
		buf := make([]C.int, n)
		for k := range buf {
			buf[k] = -1
		}
		if err := check(get(C.int(n), &buf[0])); err != nil {
			return nil, err
		}
		list = make([]int, 0, n)
		for _, m := range buf {
			if m >= 0 {
				list = append(list, int(m))
			}
		}
	}
	return list, nil
}
