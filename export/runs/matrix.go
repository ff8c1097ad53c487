package runs

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"mpitx/export"
	"mpitx/recording/profile"
	"mpitx/text"
)

// matrixTable writes a matrix for people: of all ranks if they are few, else the pairs with the most bytes.
func matrixTable(w io.Writer, p *profile.Profile, pairs []profile.Pair, t export.Terminal) error {
	var ranks []int
	for i := range pairs {
		ranks = append(ranks, pairs[i].Source, pairs[i].Destination)
	}
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) > mostGrid {
		return pairTable(w, pairs, t)
	}
	for i, part := range []struct {
		title, unit string
		of          func(*profile.Pair) uint64
	}{{"BYTES", "B", (*profile.Pair).Bytes}, {"MESSAGES", "", (*profile.Pair).Messages}} {
		if i > 0 {
			io.WriteString(w, "\n")
		}
		if err := matrixGrid(pairs, ranks, part.title, part.unit, part.of, t).Write(w, export.FormatTable, t); err != nil {
			return err
		}
	}
	return nil
}

// matrixGrid has a row for each source and a column for each destination, with their sums.
func matrixGrid(pairs []profile.Pair, ranks []int, title, unit string, of func(*profile.Pair) uint64, t export.Terminal) *export.Rows {
	n := len(ranks)
	cells := make([][]uint64, n+1)
	for i := range cells {
		cells[i] = make([]uint64, n+1)
	}
	greatest := uint64(0)
	for i := range pairs {
		row, _ := slices.BinarySearch(ranks, pairs[i].Source)
		column, _ := slices.BinarySearch(ranks, pairs[i].Destination)
		v := of(&pairs[i])
		greatest = max(greatest, v)
		cells[row][column] += v
		cells[row][n] += v
		cells[n][column] += v
		cells[n][n] += v
	}
	scale := t.ScaleOf(unit, float64(greatest))
	if scale.Unit != "" {
		title += "/" + scale.Unit
	}
	r := &export.Rows{Columns: []export.RowColumn{{Header: title}}}
	for _, rank := range ranks {
		r.Columns = append(r.Columns, export.RowColumn{Header: "TO " + strconv.Itoa(rank), Right: true})
	}
	r.Columns = append(r.Columns, export.RowColumn{Header: "SENT", Right: true})
	for i, row := range cells {
		line := []any{"received"}
		if i < n {
			line[0] = fmt.Sprintf("from %d", ranks[i])
		}
		for _, v := range row {
			text := "-"
			if v > 0 {
				text = scale.Texts(float64(v))[0]
			}
			line = append(line, text)
		}
		r.Rows = append(r.Rows, line)
	}
	return r
}

// pairTable lists the pairs with the most bytes.
func pairTable(w io.Writer, pairs []profile.Pair, t export.Terminal) error {
	all := uint64(0)
	for i := range pairs {
		all += pairs[i].Bytes()
	}
	list := slices.SortedFunc(slices.Values(pairs), func(x, y profile.Pair) int { return cmp.Compare(y.Bytes(), x.Bytes()) })
	list, header := first(list, mostPairs, "SOURCE")
	r := &export.Rows{Columns: []export.RowColumn{{Header: header, Right: true}, {Header: "DESTINATION", Right: true}, {Header: "MESSAGES", Right: true}, {Header: "BYTES", Right: true}, {Header: "OF ALL", Right: true}}}
	for i := range list {
		pair := &list[i]
		share := 0.0
		if all > 0 {
			share = float64(pair.Bytes()) / float64(all)
		}
		r.Rows = append(r.Rows, []any{pair.Source, pair.Destination, pair.Messages(), t.Amount(float64(pair.Bytes()), "B"), text.Percent(share)})
	}
	return r.Write(w, export.FormatTable, t)
}
