//go:build cgo && linux

package inspect

import (
	"errors"
	"fmt"

	"mpitx/binding"
	"mpitx/catalog"
)

// openPvar opens a performance variable and starts it, once: a handle counts from its start.
func (b *Backend) openPvar(v *catalog.Variable) (*binding.PvarHandle, error) {
	if h := b.pvars[v.ID()]; h != nil {
		return h, nil
	}
	if b.session == nil {
		session, err := b.Tool.NewSession()
		if err != nil {
			return nil, err
		}
		b.session, b.pvars = session, map[string]*binding.PvarHandle{}
	}
	h, err := b.session.AllocPvar(b.Indices[v.ID()], b.Object())
	if err != nil {
		return nil, err
	}
	if !v.Continuous {
		if err := b.session.Start(h); err != nil {
			b.session.FreeHandle(h)
			return nil, err
		}
	}
	b.pvars[v.ID()] = h
	return h, nil
}

// ReadPvar reads a performance variable and its number of elements.
func (b *Backend) ReadPvar(v *catalog.Variable) (catalog.Value, int, error) {
	h, err := b.openPvar(v)
	if err != nil {
		return catalog.Value{}, 0, err
	}
	value, err := b.session.Read(h)
	return value, h.Count(), err
}

// change writes, resets or readresets a performance variable (MPI-3.1, section 14.3.7), after a child process has tried it, and reads it
// back. A variable can be written only while it is stopped.
func (b *Backend) change(p *plan) (catalog.WriteResult, string) {
	trial, err := b.Tool.ProbeChange(b.Indices[p.variable.ID()], p.change, p.count, p.New, binding.ProbeOptions{Object: b.Object(), Limit: b.request.Limit})
	if err == nil && trial.Fault != "" {
		return catalog.WriteFaulty, trial.Fault
	}
	if err == nil {
		err = trial.Err
	}
	var h *binding.PvarHandle
	if err == nil {
		h, err = b.openPvar(p.variable)
	}
	if err == nil {
		p.Old, err = b.session.Read(h)
	}
	if err == nil {
		err = b.apply(p, h)
	}
	switch {
	case errors.Is(err, binding.ErrPvarNoWrite):
		return catalog.WriteNever, "the library refuses every write (MPI_T_ERR_PVAR_NO_WRITE)"
	case errors.Is(err, binding.ErrPvarNoAtomic):
		return catalog.WriteNever, "the library refuses a readreset (MPI_T_ERR_PVAR_NO_ATOMIC)"
	case err != nil:
		return catalog.WriteError, err.Error()
	}
	switch {
	case p.change != catalog.WriteValue || p.Back == p.New:
		return catalog.WriteOK, ""
	case p.Back == p.Old:
		return catalog.WriteUnchanged, ""
	}
	return catalog.WriteOK, "the library stored another value, or has changed it since"
}

// apply carries a change out. It leaves the variable running.
func (b *Backend) apply(p *plan, h *binding.PvarHandle) (err error) {
	s := b.session
	switch p.change {
	case catalog.WriteReset:
		err = s.Reset(h)
	case catalog.WriteReadReset:
		p.Old, err = s.ReadReset(h)
	default:
		if !p.variable.Continuous {
			if err := s.Stop(h); err != nil {
				return err
			}
			defer s.Start(h)
		}
		err = s.Write(h, p.New)
	}
	if err != nil {
		return err
	}
	if p.Back, err = s.Read(h); err != nil {
		return fmt.Errorf("done, but reading back failed: %w", err)
	}
	return nil
}
