//go:build cgo && linux

package collect

import (
	"errors"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/origin"
)

// Write does the writes that were asked of this rank. All are checked before the first is done; each is tried in a
// process that may die before it is done here.
func (b *Backend) Write(writes []catalog.WriteRequest) catalog.Outcomes {
	type plan struct {
		outcome  *catalog.Outcome
		dry      bool
		writable catalog.Writable // as its reading says
		index    int
		count    int
	}
	var outcomes []*catalog.Outcome
	var plans []plan
	invalid := false
	for _, w := range writes {
		if w.Ranks != nil && !slices.Contains(w.Ranks, b.Rank) {
			continue
		}
		o := &catalog.Outcome{Name: w.Name, Rank: b.Rank, Host: b.Host}
		outcomes = append(outcomes, o)
		v, r, problem := b.find(w.Name)
		if v != nil {
			o.Name = v.Name
			if slices.ContainsFunc(outcomes[:len(outcomes)-1], func(other *catalog.Outcome) bool { return other.Name == v.Name }) {
				problem = "is written twice"
			}
		}
		switch {
		case problem != "":
			o.Result, o.Detail = catalog.WriteInvalid, problem
			invalid = true
			continue
		case r.Status != catalog.StatusOK:
			o.Result, o.Detail = catalog.WriteError, "cannot be read: "+r.Reason
			if r.Status == catalog.StatusFaulty {
				o.Result = catalog.WriteFaulty
			}
			continue
		}
		o.Old = r.Value
		e := origin.Enum(b.request.MPI.Impl, v, b.Process.Meta.Enum(v.Enum), r.Count)
		value, err := catalog.ParseValue(v, e, r.Count, w.Text)
		if err != nil {
			o.Result, o.Detail = catalog.WriteInvalid, err.Error()
			invalid = true
			continue
		}
		o.New = value
		if all := v.Scope == catalog.ScopeAll || v.Scope == catalog.ScopeAllEq; all && !w.Force && w.Ranks != nil && len(w.Ranks) < b.Size {
			o.Result, o.Detail = catalog.WriteRefused, "its scope "+v.Scope.String()+" concerns all ranks: write it on all of them, or use --force"
			invalid = true
			continue
		}
		plans = append(plans, plan{o, w.DryRun, r.Writable, b.Indices[v.Name], r.Count})
	}
	for _, p := range plans {
		switch {
		case invalid && p.dry:
			p.outcome.Result, p.outcome.Detail = catalog.WriteError, "nothing would be written: see the other variable"
		case invalid:
			p.outcome.Result, p.outcome.Detail = catalog.WriteError, "nothing was written: see the other variable"
		case p.dry:
			p.outcome.Result = dryResult(p.writable)
		default:
			b.writeOne(p.outcome, p.index, p.count)
		}
	}
	out := make(catalog.Outcomes, len(outcomes))
	for k, o := range outcomes {
		out[k] = *o
	}
	return out
}

// dryResult is what the trial write of the present value has shown.
func dryResult(w catalog.Writable) catalog.WriteResult {
	switch w {
	case catalog.WritableNever:
		return catalog.WriteNever
	case catalog.WritableNotNow:
		return catalog.WriteNotNow
	}
	return catalog.WriteDry
}

// find is the control variable that a name means, or why it means none.
func (b *Backend) find(name string) (v *catalog.Variable, r *catalog.Reading, problem string) {
	m := &b.Process.Meta
	var names []string
	found := m.Lookup(name)
	for _, f := range found {
		if f.Kind == catalog.Cvars {
			v = f
			names = append(names, f.Name)
		}
	}
	switch {
	case len(names) > 1: // which differ in case
		return nil, nil, "could be " + strings.Join(names, " or ")
	case v != nil:
		k := slices.IndexFunc(m.Cvars, func(c catalog.Variable) bool { return c.Name == v.Name })
		return v, &b.Process.Readings[k], ""
	case len(found) > 0:
		return nil, nil, "is a performance variable, which cannot be written"
	}
	return nil, nil, "does not exist " + string(b.request.Stage) + " MPI_Init"
}

func (b *Backend) writeOne(o *catalog.Outcome, index, count int) {
	trial, err := b.Tool.ProbeWrite(index, count, o.New, binding.ProbeOptions{Object: b.Object(), Limit: b.request.Limit})
	switch {
	case err != nil:
		o.Result, o.Detail = catalog.WriteError, err.Error()
		return
	case trial.Fault != "":
		o.Result, o.Detail = catalog.WriteFaulty, trial.Fault
		return
	case trial.Err != nil:
		refused(o, trial.Err)
		return
	}
	h, err := b.Tool.AllocCvar(index, b.Object())
	if err != nil {
		refused(o, err)
		return
	}
	defer h.Free()
	if err := h.Write(o.New); err != nil {
		refused(o, err)
		return
	}
	if o.Back, err = h.Read(); err != nil {
		o.Result, o.Detail = catalog.WriteError, "written, but reading back failed: "+err.Error()
		return
	}
	switch o.Back {
	case o.New:
		o.Result = catalog.WriteOK
	case o.Old:
		o.Result = catalog.WriteUnchanged
	default:
		o.Result, o.Detail = catalog.WriteOK, "the library made another value of it"
	}
}

func refused(o *catalog.Outcome, err error) {
	switch {
	case errors.Is(err, binding.ErrCvarSetNotNow):
		o.Result = catalog.WriteNotNow
	case errors.Is(err, binding.ErrCvarSetNever):
		o.Result = catalog.WriteNever
	default:
		o.Result, o.Detail = catalog.WriteError, err.Error()
	}
}
