package tuning

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
)

// selection judges the condition that a component of Open MPI is selected: those that are not are unloaded with their variables.
func selection(c *catalog.Catalog, component, source string) *Condition {
	framework, name, _ := strings.Cut(component, "_")
	out := &Condition{Text: fmt.Sprintf("%s %s must be selected", framework, name), Met: CannotTell, Source: source, Of: []string{framework}}
	if !c.After.Read {
		return out
	}
	out.Met, out.Have = No, "it is not"
	if inUse(c, component) {
		out.Met, out.Have = Yes, "it is"
	}
	return out
}

// inUse reports whether MPI_Init kept a component with its variables.
func inUse(c *catalog.Catalog, component string) bool {
	return slices.ContainsFunc(c.Cvars, func(v catalog.Variable) bool { return v.After != nil && strings.HasPrefix(v.Name, component+"_") })
}

// allowed reports whether the variable of a component's framework, such as btl=^tcp or btl=self,sm, lets the component take part. From
// 6.0 on, Open MPI also keeps the variables of those that do not.
func allowed(c *catalog.Catalog, component string) bool {
	framework, name, _ := strings.Cut(component, "_")
	v := c.Cvar(framework)
	if v == nil || v.Current() == nil || v.Current().Value.String() == "" {
		return true
	}
	names, except := strings.CutPrefix(v.Current().Value.String(), "^")
	return slices.Contains(strings.Split(names, ","), name) != except
}

// nodes is the number of nodes that a job's processes are on.
func nodes(job *catalog.Catalog) int {
	hosts := map[string]bool{}
	for _, r := range job.Job.Ranks {
		hosts[r.Host] = true
	}
	return len(hosts)
}

// acrossNodes restricts a condition to communicators that span nodes. It does not matter now if the job has one node.
func (c *Condition) acrossNodes(job *catalog.Catalog) {
	c.Text = "in communicators that span nodes, " + c.Text
	if c.Met == No && nodes(job) < 2 {
		c.Met, c.Have = CannotTell, c.Have+", but these processes are on one node"
	}
}

// ofPlace judges the condition on where a job's processes are; nil if the rule has none. A single process does not tell.
func (r *rule) ofPlace(c *catalog.Catalog) *Condition {
	out := &Condition{Met: CannotTell, Have: "this is one process", Source: r.source}
	switch {
	case len(r.beyond) > 0:
		for _, component := range r.beyond {
			framework, _, _ := strings.Cut(component, "_")
			out.Of = append(out.Of, framework)
		}
		used := slices.IndexFunc(r.beyond, func(component string) bool { return inUse(c, component) && allowed(c, component) })
		out.Text = "it serves only processes that " + strings.ReplaceAll(strings.Join(r.beyond, " or "), "_", " ") + " does not connect"
		switch {
		case !c.After.Read || c.Job.Size < 2:
		case used < 0:
			out.Met, out.Have = Yes, "none of these is in use"
		case nodes(c) == 1:
			out.Met, out.Have = No, strings.ReplaceAll(r.beyond[used], "_", " ")+" connects these, which are on one node"
		}
	case r.across && r.needs == nil:
		out.Text = "it acts only in communicators that span nodes"
		if c.Job.Size > 1 && nodes(c) == 1 {
			out.Met, out.Have = No, "these processes are on one node"
		}
	default:
		return nil
	}
	if n := nodes(c); n > 1 {
		out.Met, out.Have = Yes, fmt.Sprintf("these processes are on %d nodes", n)
	}
	return out
}
