//go:build cgo && linux

package inspect

import (
	"errors"
	"slices"
	"strings"

	"mpitx/binding"
	"mpitx/catalog"
	"mpitx/settings"
)

// plan is a write on this rank.
type plan struct {
	catalog.Outcome
	dry      bool
	writable catalog.Writable // from its reading
	variable *catalog.Variable
	change   catalog.WriteKind
	count    int
}

// Write carries out the writes requested on this rank. All are checked first, and each is tried in a child process
// before it is done here.
func (b *Backend) Write(writes []catalog.WriteRequest) (outcomes catalog.Outcomes) {
	var plans []*plan
	invalid := false
	for _, w := range writes {
		if w.Ranks != nil && !slices.Contains(w.Ranks, b.Rank) {
			continue
		}
		p := &plan{Outcome: catalog.Outcome{Name: w.Name, Rank: b.Rank, Host: b.Host}, dry: w.DryRun, change: w.Kind}
		p.Result, p.Detail = b.check(w, p, plans)
		invalid = invalid || p.Result == catalog.WriteInvalid || p.Result == catalog.WriteRefused
		plans = append(plans, p)
	}
	for _, p := range plans {
		switch {
		case p.Result != "":
		case invalid && p.dry:
			p.Result, p.Detail = catalog.WriteError, "nothing would be written because of the other variable"
		case invalid:
			p.Result, p.Detail = catalog.WriteError, "nothing was written because of the other variable"
		case p.dry:
			p.Result, p.Detail = b.dryResult(p)
		case p.variable.Kind == catalog.Pvars:
			p.Result, p.Detail = b.change(p)
		default:
			p.Result, p.Detail = b.write(p)
		}
		outcomes = append(outcomes, p.Outcome)
	}
	return outcomes
}

// check completes a plan, or returns why it cannot be carried out.
func (b *Backend) check(w catalog.WriteRequest, p *plan, others []*plan) (catalog.WriteResult, string) {
	v, r, problem := b.find(w)
	if problem != "" {
		return catalog.WriteInvalid, problem
	}
	p.Name, p.writable, p.variable, p.count = v.ID(), r.Writable, v, r.Count
	switch {
	case slices.ContainsFunc(others, func(o *plan) bool { return o.Name == p.Name }):
		return catalog.WriteInvalid, "is given twice"
	case r.Status == catalog.StatusFaulty:
		return catalog.WriteFaulty, "cannot be read: " + r.Reason
	case r.Status != catalog.StatusOK:
		return catalog.WriteError, "cannot be read: " + r.Reason
	}
	p.Old = r.Value
	if reset := w.Kind != catalog.WriteValue; reset && v.Kind == catalog.Cvars {
		return catalog.WriteInvalid, "is a control variable, which has no " + string(w.Kind)
	} else if why := v.NoChange(w.Kind); v.Kind == catalog.Pvars && why != "" {
		return catalog.WriteNever, why
	} else if reset {
		return "", ""
	}
	items := settings.Enum(b.request.MPI.Impl, v, b.Process.Meta.Enum(v.Enum), r.Count)
	value, err := catalog.ParseValue(v, items, r.Count, w.Text)
	noItem := settings.IsItem(b.request.MPI.Impl, v, items, w.Text)
	switch {
	case noItem != nil && err != nil:
		return catalog.WriteInvalid, noItem.Error()
	case noItem != nil && !w.Force:
		return catalog.WriteInvalid, noItem.Error() + "; --force tries it"
	case err != nil:
		return catalog.WriteInvalid, err.Error()
	}
	p.New = value
	if all := v.Scope == catalog.ScopeAll || v.Scope == catalog.ScopeAllEq; all && !w.Force && w.Ranks != nil && len(w.Ranks) < b.Size {
		return catalog.WriteRefused, "its scope " + v.Scope.String() + " applies to all ranks; write it on all of them, or use --force"
	}
	return "", ""
}

// never is why the library refuses every write.
func (p *plan) never() string {
	if p.variable.Scope == catalog.ScopeConstant || p.variable.Scope == catalog.ScopeReadonly {
		return "its scope " + p.variable.Scope.String() + " allows no writes"
	}
	return "the library refuses every write"
}

// notNow is why the library refuses a write in this stage.
func (b *Backend) notNow() string {
	return "the library accepts no write at this point, " + string(b.request.Stage) + " MPI_Init (MPI_T_ERR_CVAR_SET_NOT_NOW)"
}

// dryResult is the result of trying to write the current value, and the reason of a refusal.
func (b *Backend) dryResult(p *plan) (catalog.WriteResult, string) {
	switch p.writable {
	case catalog.WritableNever:
		return catalog.WriteNever, p.never()
	case catalog.WritableNotNow:
		return catalog.WriteNotNow, b.notNow()
	}
	return catalog.WriteDry, ""
}

// find returns the variable to change, or why there is none. Of equal names, a control variable is written and a performance variable reset.
func (b *Backend) find(w catalog.WriteRequest) (v *catalog.Variable, r *catalog.Reading, problem string) {
	m := &b.Process.Meta
	var names, all []string
	found := m.Lookup(w.Name)
	for _, f := range found {
		all = append(all, f.ID())
		if (f.Kind == catalog.Cvars) == (w.Kind == catalog.WriteValue) || len(found) == 1 {
			v = f
			names = append(names, f.ID())
		}
	}
	switch {
	case len(names) > 1: // names that differ in case only
		return nil, nil, "could be " + strings.Join(names, " or ")
	case v != nil:
		k, list := 0, m.Cvars
		if v.Kind == catalog.Pvars {
			k, list = len(m.Cvars), m.Pvars
		}
		k += slices.IndexFunc(list, func(c catalog.Variable) bool { return c.ID() == v.ID() })
		return v, &b.Process.Readings[k], ""
	case len(found) > 0: // performance variables of several classes
		return nil, nil, "could be " + strings.Join(all, " or ")
	}
	return nil, nil, "does not exist " + string(b.request.Stage) + " MPI_Init"
}

// write writes the value that the child process tried, and reads it back.
func (b *Backend) write(p *plan) (catalog.WriteResult, string) {
	index := b.Indices[p.Name]
	trial, err := b.Tool.ProbeWrite(index, p.count, p.New, binding.ProbeOptions{Object: b.Object(), Limit: b.request.Limit})
	if err == nil && trial.Fault != "" {
		return catalog.WriteFaulty, trial.Fault
	}
	var h *binding.CvarHandle
	if err == nil {
		err = trial.Err
	}
	if err == nil {
		h, err = b.Tool.AllocCvar(index, b.Object())
	}
	if err == nil {
		defer h.Free()
		err = h.Write(p.New)
	}
	switch {
	case errors.Is(err, binding.ErrCvarSetNotNow) && p.writable == catalog.WritableYes:
		return catalog.WriteError, "the library accepts a write of the present value, and not of this one (MPI_T_ERR_CVAR_SET_NOT_NOW)"
	case errors.Is(err, binding.ErrCvarSetNotNow):
		return catalog.WriteNotNow, b.notNow()
	case errors.Is(err, binding.ErrCvarSetNever):
		return catalog.WriteNever, p.never()
	case err != nil:
		return catalog.WriteError, err.Error()
	}
	if p.Back, err = h.Read(); err != nil {
		return catalog.WriteError, "written, but reading back failed: " + err.Error()
	}
	switch p.Back {
	case p.New:
		return catalog.WriteOK, ""
	case p.Old:
		return catalog.WriteUnchanged, ""
	}
	return catalog.WriteOK, "the library stored another value"
}
