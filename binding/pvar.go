package binding

// #include "call.h"
import "C"

// PvarInfo is what MPI_T_pvar_get_info returns.
type PvarInfo struct {
	Name        string // unique only with Class
	Verbosity   Verbosity
	Class       Class
	Datatype    Datatype
	Enum        EnumHandle
	Description string
	Bind        Bind
	Readonly    bool // cannot be written or reset
	Continuous  bool // cannot be started or stopped: always active
	Atomic      bool // supports ReadReset
}

// NumPvars is MPI_T_pvar_get_num (MPI-3.1, section 14.3.7). The number may grow.
func (i *Interface) NumPvars() (int, error) {
	return i.number(func(t *C.struct_mpitx_table, n *C.int) C.int { return C.mt_pvar_get_num(t, n) })
}

// PvarInfo is MPI_T_pvar_get_info (MPI-3.1, section 14.3.7) with complete strings. For an unloaded variable it returns
// ErrInvalidIndex or, with Open MPI, ErrInvalid.
func (i *Interface) PvarInfo(index int) (PvarInfo, error) {
	if err := i.valid(index, i.NumPvars); err != nil {
		return PvarInfo{}, err
	}
	var info C.struct_mpitx_pvar_info
	err := i.l.wholeStrings(func(p [2]*C.char, n *[2]C.int) C.int {
		return C.mt_pvar_get_info(i.t, C.int(index), p[0], &n[0], p[1], &n[1], &info)
	})
	if err != nil {
		return PvarInfo{}, err
	}
	return PvarInfo{
		Name:        i.l.name.String(),
		Verbosity:   Verbosity(info.verbosity),
		Class:       Class(info.var_class),
		Datatype:    Datatype(info.datatype),
		Enum:        EnumHandle{C.mpitx_handle(info.enumtype)},
		Description: i.l.desc.String(),
		Bind:        Bind(info.bind),
		Readonly:    info.readonly != 0,
		Continuous:  info.continuous != 0,
		Atomic:      info.atomic != 0,
	}, nil
}

// PvarIndex is MPI_T_pvar_get_index (MPI-3.1, section 14.3.7). It returns ErrInvalidName if no variable has this name
// and class now, and ErrNotProvided if the library is older than MPI-3.1.
func (i *Interface) PvarIndex(name string, class Class) (int, error) {
	if err := i.ready(); err != nil {
		return 0, err
	}
	return indexOf(name, func(p *C.char, index *C.int) C.int { return C.mt_pvar_get_index(i.t, p, C.int(class), index) })
}
