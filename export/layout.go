package export

// column describes how a table's column may adapt to the terminal.
type column struct {
	header string
	flex   bool // its cells may be cut; the column is dropped otherwise
	floor  int  // of a flexible column: the width below which it is dropped rather than cut
	soft   int  // of a flexible column: the width up to which it grows before others have what they need; 0: any
}

const gap = 2 // blanks between columns

// fit chooses the widths of columns of the given natural widths in a terminal of width cells; -1 drops a column. The
// order of the columns is the order of their importance; the first must columns are always kept.
func fit(cols []column, natural []int, must, width int) []int {
	widths := make([]int, len(cols))
	used := -gap
	for i, c := range cols {
		low := natural[i]
		if c.flex {
			low = min(low, max(c.floor, 1))
		}
		if i >= must && used+gap+low > width {
			widths[i] = -1
			continue
		}
		widths[i] = low
		used += gap + low
	}
	if used > width {
		squeeze(widths[:must], width)
		return widths
	}
	for _, pass := range []bool{true, false} { // first up to the soft widths, then all
		for i, c := range cols {
			if widths[i] < 0 || !c.flex {
				continue
			}
			target := natural[i]
			if pass && c.soft > 0 {
				target = min(target, c.soft)
			}
			grow := min(max(target-widths[i], 0), width-used)
			widths[i] += grow
			used += grow
		}
	}
	return widths
}

// squeeze narrows the columns that must be kept, the widest first, and gives up the last ones where not even one cell
// each fits.
func squeeze(widths []int, width int) {
	for n := len(widths); n > 1 && n+gap*(n-1) > width; n-- {
		widths[n-1] = -1
	}
	total := func() int {
		sum := -gap
		for _, w := range widths {
			if w >= 0 {
				sum += gap + w
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

// pads are the widths that cells are padded to where nothing is cut: natural ones, without outliers.
func pads(natural []int) []int {
	widths := make([]int, len(natural))
	for i, n := range natural {
		widths[i] = min(n, 64)
	}
	return widths
}
