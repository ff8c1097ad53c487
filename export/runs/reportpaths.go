package runs

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/recording/paths"
	"mpitx/recording/profile"
	"mpitx/text"
)

// pathGroup is pairs of ranks that reach each other in the same way.
type pathGroup struct {
	first                   *paths.Path
	ranks                   []int
	pairs                   int
	messages, bytes         uint64
	copies                  paths.Copies
	segments, retransmitted uint64
}

func (g *pathGroup) add(p *paths.Path) {
	g.ranks = append(g.ranks, p.A, p.B)
	g.pairs++
	g.messages += p.Messages
	g.bytes += p.Bytes
	g.copies.Calls += p.Copies.Calls
	g.copies.Bytes += p.Copies.Bytes
	g.copies.Failed += p.Copies.Failed
	g.segments += p.Sockets.Segments
	g.retransmitted += p.Sockets.Retransmitted
}

func pathKey(p *paths.Path) string {
	return fmt.Sprint(p.Text(), p.Devices(), p.Unknown, p.OneNode, p.A == p.B, p.HostA == "" || p.HostB == "")
}

// groupPaths puts equal pairs together, those with the most bytes first.
func groupPaths(all []*paths.Path) []*pathGroup {
	groups := map[string]*pathGroup{}
	for _, p := range all {
		key := pathKey(p)
		if groups[key] == nil {
			groups[key] = &pathGroup{first: p}
		}
		groups[key].add(p)
	}
	return slices.SortedFunc(maps.Values(groups), func(x, y *pathGroup) int {
		return cmp.Or(cmp.Compare(y.bytes, x.bytes), cmp.Compare(y.messages, x.messages), cmp.Compare(y.pairs, x.pairs), cmp.Compare(pathKey(x.first), pathKey(y.first)))
	})
}

// Paths writes over which transports ranks reached each other.
func Paths(w io.Writer, p *profile.Profile, format export.Format, t export.Terminal) error {
	if format != export.FormatTable && format != export.FormatWide {
		return PathRows(p.Paths).Write(w, format, t)
	}
	groups := groupPaths(p.Paths)
	letters := map[string]string{}
	r := &export.Rows{Columns: []export.RowColumn{{Header: "MAP"}, {Header: "CARRIED BY", MinWidth: 30}, {Header: "DEVICE"}, {Header: "WHERE"}, {Header: "PAIRS", Right: true}, {Header: "RANKS"},
		{Header: "MESSAGES", Right: true}, {Header: "BYTES", Right: true}, {Header: "SINGLE COPIES", Right: true}, {Header: "RETRANSMITTED", Right: true, Drop: 1}}}
	for i, g := range groups {
		slices.Sort(g.ranks)
		letter := letterOf(i)
		letters[pathKey(g.first)] = letter
		where, copies, again := "two nodes", any(nil), any(nil)
		switch {
		case g.first.HostA == "" || g.first.HostB == "":
			where = "unknown"
		case g.first.A == g.first.B:
			where = "itself"
		case g.first.OneNode:
			where = "one node"
		}
		if g.copies.Calls > 0 {
			copies = t.Amount(float64(g.copies.Bytes), "B")
		}
		if g.copies.Failed > 0 {
			copies = fmt.Sprintf("%s, %d refused", copies, g.copies.Failed)
		}
		if g.segments > 0 {
			again = g.retransmitted
		}
		carried := g.first.Text()
		if g.first.Unknown != "" {
			carried += ": " + g.first.Unknown
		}
		r.Rows = append(r.Rows, []any{letter, carried, strings.Join(g.first.Devices(), ", "), where, g.pairs, text.RankList(slices.Compact(g.ranks)),
			g.messages, t.Amount(float64(g.bytes), "B"), copies, again})
	}
	if err := r.Write(w, format, t); err != nil {
		return err
	}
	if ranks := ranksOf(p.Paths); len(ranks) <= mostGrid {
		io.WriteString(w, "\n")
		return pathGrid(p.Paths, ranks, letters).Write(w, format, t)
	}
	return nil
}

// letterOf is a, b, … z, and then numbers.
func letterOf(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return strconv.Itoa(i)
}

func ranksOf(all []*paths.Path) (ranks []int) {
	for _, p := range all {
		ranks = append(ranks, p.A, p.B)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// pathGrid is a map of the pairs: the letters of their lines.
func pathGrid(all []*paths.Path, ranks []int, letters map[string]string) *export.Rows {
	r := &export.Rows{Columns: []export.RowColumn{{Header: "MAP"}}}
	cells := map[[2]int]string{}
	for _, p := range all {
		letter := letters[pathKey(p)]
		cells[[2]int{p.A, p.B}], cells[[2]int{p.B, p.A}] = letter, letter
	}
	for _, rank := range ranks {
		r.Columns = append(r.Columns, export.RowColumn{Header: strconv.Itoa(rank), Right: true})
	}
	for _, x := range ranks {
		line := []any{strconv.Itoa(x)}
		for _, y := range ranks {
			line = append(line, cmp.Or(cells[[2]int{x, y}], "-"))
		}
		r.Rows = append(r.Rows, line)
	}
	return r
}

// PathRows has a row for each pair of ranks.
func PathRows(all []*paths.Path) *export.Rows {
	r := export.RowsOf("mpitx.report.paths", "rank_a rank_b host_a host_b one_node carried_by device eager_limit_bytes unknown messages bytes ucx_operations single_copies single_copy_bytes single_copies_failed "+
		"tcp_connections tcp_bytes tcp_segments tcp_retransmitted evidence")
	for _, p := range all {
		var limit any
		if len(p.Carriers) > 0 && p.Carriers[0].Limit > 0 {
			limit = p.Carriers[0].Limit
		}
		r.Rows = append(r.Rows, []any{p.A, p.B, p.HostA, p.HostB, p.OneNode, p.Text(), strings.Join(p.Devices(), " "), limit, p.Unknown, p.Messages, p.Bytes, p.Operations,
			p.Copies.Calls, p.Copies.Bytes, p.Copies.Failed, p.Sockets.Count, p.Sockets.Bytes, p.Sockets.Segments, p.Sockets.Retransmitted, strings.Join(p.Evidence, "; ")})
	}
	return r
}
