package runs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/recording/profile"
)

// hatchetNode is a node of the call tree: the program, a function of it at a line, or a function of MPI.
type hatchetNode struct {
	id       int
	data     hatchetData
	children []*hatchetNode
	below    map[hatchetData]*hatchetNode
	ranks    map[int]*hatchetRow
}

type hatchetData struct {
	Name string `json:"name"`
	Type string `json:"type"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitzero"`
}

// reportHatchet writes the call tree for hatchet's JsonReader: GraphFrame.from_json.
func reportHatchet(w io.Writer, p *profile.Profile) error {
	var nodes []*hatchetNode
	child := func(parent *hatchetNode, data hatchetData) *hatchetNode {
		if parent != nil && parent.below[data] != nil {
			return parent.below[data]
		}
		n := &hatchetNode{id: len(nodes), data: data, below: map[hatchetData]*hatchetNode{}, ranks: map[int]*hatchetRow{}}
		nodes = append(nodes, n)
		if parent != nil {
			parent.below[data] = n
			parent.children = append(parent.children, n)
		}
		return n
	}
	root := child(nil, hatchetData{Name: cmp.Or(programsText(programsOf(processes(p)...)), "program"), Type: "program"})
	sites := p.Sites
	if len(sites) == 0 {
		sites = p.Functions
	}
	for _, s := range sites {
		if s.Within != "" { // its time is part of another one's
			continue
		}
		way := []*hatchetNode{root}
		for _, f := range slices.Backward(s.Places()) {
			way = append(way, child(way[len(way)-1], hatchetData{Name: cmp.Or(f.Function, f.Address.String()), Type: "function", File: f.File, Line: f.Line}))
		}
		way = append(way, child(way[len(way)-1], hatchetData{Name: s.Name, Type: "function"}))
		for i, n := range way {
			for _, r := range s.Ranks {
				n.add(&r, i == len(way)-1)
			}
		}
	}
	return hatchetDocument(w, p, nodes)
}

// hatchetRow has a node's metrics on one rank: its own, and with those of its children.
type hatchetRow struct{ own, all hatchetMetrics }

// hatchetMetrics are columns of the data frame.
type hatchetMetrics struct {
	time                  time.Duration
	calls, sent, received uint64
	failure               time.Duration // of time
}

// hatchetNames are the metrics; the last one only if times are estimated.
func hatchetNames(p *profile.Profile) []string {
	names := []string{"time", "calls", "bytes_sent", "bytes_received"}
	if p.Total.Untimed > 0 {
		names = append(names, "time_error")
	}
	return names
}

// values have the order of hatchetNames. Times are in seconds.
func (m *hatchetMetrics) values() []any {
	return []any{m.time.Seconds(), m.calls, m.sent, m.received, m.failure.Seconds()}
}

func (m *hatchetMetrics) add(t *profile.Totals) {
	m.time += t.Time
	m.calls += t.Calls
	m.sent += t.Sent()
	m.received += t.Received()
	m.failure = profile.Together(m.failure, t.TimeError)
}

func (n *hatchetNode) add(r *profile.RankTotals, own bool) {
	row := n.ranks[r.Rank.Number]
	if row == nil {
		row = &hatchetRow{}
		n.ranks[r.Rank.Number] = row
	}
	if own {
		row.own.add(&r.Totals)
	}
	row.all.add(&r.Totals)
}

// hatchetDocument writes a row for each node and rank, also those without calls: hatchet's tree needs them.
func hatchetDocument(w io.Writer, p *profile.Profile, nodes []*hatchetNode) error {
	type place struct {
		Data     hatchetData `json:"data"`
		Children []int       `json:"children"`
	}
	names := hatchetNames(p)
	inclusive := export.Mapped(names, func(name string) string { return name + " (inc)" })
	d := &export.Document{W: w, B: []byte("{\n  \"graph\": [{")}
	for i, n := range nodes {
		if i > 0 {
			d.B = append(d.B, ',')
		}
		d.B = fmt.Appendf(d.B, "\n    \"%d\": ", n.id)
		d.Value(place{n.data, export.Mapped(n.children, func(c *hatchetNode) int { return c.id })})
	}
	d.B = append(d.B, "\n  }],\n  \"dataframe\": ["...)
	first := true
	for _, n := range nodes {
		for _, rank := range p.Ranks {
			r := rank.Number
			row := n.ranks[r]
			if row == nil {
				row = &hatchetRow{}
			}
			if !first {
				d.B = append(d.B, ',')
			}
			first = false
			d.B = fmt.Appendf(d.B, "\n    {\"node\": %d, \"rank\": %d, \"name\": ", n.id, r)
			d.Value(n.data.Name)
			values := append(row.own.values()[:len(names)], row.all.values()[:len(names)]...)
			for i, name := range slices.Concat(names, inclusive) {
				d.B = append(d.B, ", "+strconv.Quote(name)+": "...)
				d.Value(values[i])
			}
			if rank.Incomplete() != "" {
				d.B = append(d.B, `, "incomplete": true`...)
			}
			d.B = append(d.B, '}')
			d.Flush(1 << 16)
		}
	}
	d.B = append(d.B, "\n  ],\n  \"dataframe_indices\": [\"node\", \"rank\"]"...)
	d.Member("exclusive_metrics", names)
	d.Member("inclusive_metrics", inclusive)
	return d.End()
}
