package export

// Column describes how a table's column adapts to the terminal.
type Column struct {
	Header string
	Flex   bool // cells may be cut; otherwise the column is dropped
	Floor  int  // flexible: the width below which it is dropped
	drop   int  // its place among the first columns that are dropped before others are cut below their floor; 0: it is not
	Soft   int  // flexible: the width up to which it grows before others get their natural width; 0: any
}

// Gap is the number of blanks between columns.
const Gap = 2

// fit chooses the widths of columns for a terminal of width cells, given their natural widths; -1 drops a column. Columns are
// ordered by importance. The first must columns are kept, except for those that may be dropped.
func fit(cols []Column, natural []int, must, width int) []int {
	widths := make([]int, len(cols))
	used := -Gap
	for i, c := range cols {
		low := natural[i]
		if c.Flex {
			low = min(low, max(c.Floor, 1))
		}
		if i >= must && used+Gap+low > width {
			widths[i] = -1
			continue
		}
		widths[i] = low
		used += Gap + low
	}
	for used > width {
		next := -1
		for i, c := range cols[:must] {
			if i > 0 && c.drop > 0 && widths[i] >= 0 && (next < 0 || c.drop < cols[next].drop) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		used -= Gap + widths[next]
		widths[next] = -1
	}
	if used > width {
		squeeze(widths[:must], width)
		return widths
	}
	for _, pass := range []bool{true, false} { // first up to the soft widths
		for i, c := range cols {
			if widths[i] < 0 || !c.Flex {
				continue
			}
			target := natural[i]
			if pass && c.Soft > 0 {
				target = min(target, c.Soft)
			}
			grow := min(max(target-widths[i], 0), width-used)
			widths[i] += grow
			used += grow
		}
	}
	return widths
}

// squeeze narrows columns that must be kept, the widest first. It drops the last ones if there is not even one cell for each.
func squeeze(widths []int, width int) {
	for n := len(widths); n > 1 && n+Gap*(n-1) > width; n-- {
		widths[n-1] = -1
	}
	total := func() int {
		sum := -Gap
		for _, w := range widths {
			if w >= 0 {
				sum += Gap + w
			}
		}
		return sum
	}
	for over := total() - width; over > 0; over = total() - width {
		widest, second := 0, 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		for i, w := range widths {
			if i != widest {
				second = max(second, w)
			}
		}
		if widths[widest] <= 1 {
			return
		}
		step := min(over, max(widths[widest]-second, 1), widths[widest]-1)
		widths[widest] -= step
	}
}

// pads limits the natural widths to which cells are padded when nothing is cut, so that outliers do not count.
func pads(natural []int) []int {
	widths := make([]int, len(natural))
	for i, n := range natural {
		widths[i] = min(n, 64)
	}
	return widths
}
