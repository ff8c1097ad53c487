package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// OnRank returns the catalog as one rank of the job sees it: its readings after MPI_Init, and those before it of its node. It shares
// everything else with c, except variables that do not exist on the rank. It fails for a rank that the job does not have or that did
// not answer.
func OnRank(c *Catalog, rank int) (*Catalog, error) {
	i := slices.IndexFunc(c.Job.Ranks, func(r Rank) bool { return r.Rank == rank })
	switch {
	case i < 0 && len(c.Job.Ranks) == 1:
		return nil, fmt.Errorf("the job has no rank %d, only rank %d", rank, c.Job.Ranks[0].Rank)
	case i < 0:
		return nil, fmt.Errorf("the job has no rank %d; it has %d ranks", rank, len(c.Job.Ranks))
	case c.Job.Ranks[i].Error != "":
		return nil, fmt.Errorf("rank %d did not answer: %s", rank, c.Job.Ranks[i].Error)
	}
	me := c.Job.Ranks[i]
	out := *c
	out.Job.Size, out.Job.Ranks = 1, []Rank{me}
	if me.Library != nil {
		out.Library = *me.Library
	}
	reader := nodeReader(c, me)
	for _, list := range []*[]Variable{&out.Cvars, &out.Pvars} {
		all := *list
		*list = make([]Variable, 0, len(all))
		for k := range all {
			v := all[k]
			v.After, v.Before = readingOf(v.After, v.Ranks, rank), readingOf(v.Before, v.Nodes, reader)
			v.Ranks, v.Nodes = nil, nil
			o := v.OriginOn(rank)
			if v.After != nil && !sameOrigin(o, v.OriginOn(reader)) {
				v.Before = nil // the reader's setting is another one
			}
			v.Origin, v.Origins = o, nil
			if v.After == nil && v.Before == nil {
				continue
			}
			v.applyConflicts(rank)
			*list = append(*list, v)
		}
	}
	out.Outside = nil
	for _, s := range c.Outside {
		if s.Ranks == nil || slices.Contains(s.Ranks, rank) {
			s.Ranks = nil
			out.Outside = append(out.Outside, s)
		}
	}
	return &out, nil
}

// OnNode returns the catalog as the lowest answering rank on a host sees it. It fails if no rank on this host answered;
// the error lists the hosts.
func OnNode(c *Catalog, host string) (*Catalog, error) {
	var hosts []string
	err := fmt.Errorf("the job has no names of hosts")
	for _, r := range c.Job.Ranks {
		if r.Host == host {
			var out *Catalog
			if out, err = OnRank(c, r.Rank); err == nil {
				return out, nil
			}
			hosts = nil
			continue
		}
		if r.Host != "" && !slices.Contains(hosts, r.Host) {
			hosts = append(hosts, r.Host)
		}
	}
	if len(hosts) > 0 {
		const most = 8
		more := ""
		if len(hosts) > most {
			more = fmt.Sprintf(" and %d more", len(hosts)-most)
		}
		err = fmt.Errorf("the job has no rank on %s; it ran on %s%s", host, strings.Join(hosts[:min(len(hosts), most)], ", "), more)
	}
	return nil, err
}

// nodeReader is the rank that read the stage before MPI_Init for a rank's node: the lowest one on its host.
func nodeReader(c *Catalog, me Rank) int {
	for _, r := range c.Job.Ranks {
		if r.Host == me.Host {
			return r.Rank
		}
	}
	return me.Rank
}

// readingOf is a rank's reading; nil if the variable does not exist there.
func readingOf(root *Reading, others []RankReading, rank int) *Reading {
	for i := range others {
		if others[i].Rank == rank {
			root = &others[i].Reading
		}
	}
	if !root.exists() {
		return nil
	}
	return root
}

// applyConflicts sets the metadata that differ on a rank, as far as they can be parsed.
func (v *Variable) applyConflicts(rank int) {
	for _, k := range v.Conflicts {
		if k.Rank != rank {
			continue
		}
		switch k.Field {
		case "type":
			v.Type = cmp.Or(parsed(ParseDatatype(k.Here)), v.Type)
		case "scope":
			v.Scope = cmp.Or(parsed(ParseScope(k.Here)), v.Scope)
		case "bind":
			v.Bind = cmp.Or(parsed(ParseBind(k.Here)), v.Bind)
		case "verbosity":
			v.Verbosity = cmp.Or(parsed(ParseVerbosity(k.Here)), v.Verbosity)
		case "enum":
			v.Enum = k.Here
		case "readonly":
			v.Readonly = k.Here == "true"
		case "continuous":
			v.Continuous = k.Here == "true"
		case "atomic":
			v.Atomic = k.Here == "true"
		case "description":
			v.Description = k.Here
		}
	}
	v.Conflicts = nil
}

func parsed[T any](x T, _ error) T { return x }
