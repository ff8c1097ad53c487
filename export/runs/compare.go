package runs

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/compare"
	"mpitx/recording/finding"
	"mpitx/text"
)

// CompareTables are the tables of a comparison, in its order.
var CompareTables = []string{"run", "functions", "sites", "phases", "peers", "onesided", "ranks", "variables"}

// CompareFormats are the formats of a comparison.
var CompareFormats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV}

// CompareOptions say what a comparison shows.
type CompareOptions struct {
	export.Terminal
	Table    string // one of CompareTables, whole; "": the summary, or all tables in formats of rows
	Findings []finding.Finding
}

// Compare writes a comparison.
func Compare(w io.Writer, c *compare.Comparison, f export.Format, o CompareOptions) error {
	switch f {
	case export.FormatJSON:
		return compareJSON(w, c, o)
	case export.FormatCSV, export.FormatNDJSON:
		return compareRows(c, o.Table).Write(w, f, o.Terminal)
	case export.FormatTable, export.FormatWide, "":
		if o.Table != "" {
			return compareTable(c, o.Table, 0, o.Terminal).Write(w, f, o.Terminal)
		}
		return compareText(w, c, f, o)
	}
	return fmt.Errorf("a comparison has no format %q", f)
}

// How many lines of each part are on the one screen of a comparison.
var mostCompared = map[string]int{"run": 12, "functions": 6, "sites": 6, "phases": 4, "peers": 3, "variables": 8}

const mostVariables = 25 // without profiles

// compareText writes one screen.
func compareText(w io.Writer, c *compare.Comparison, f export.Format, o CompareOptions) error {
	var b bytes.Buffer
	compareHead(&b, c, o)
	if !slices.ContainsFunc(compareItems(c, ""), (*compare.Item).Changed) {
		b.WriteString("\nNothing changed.\n")
	} else {
		findings(&b, o.Findings, "", mostFindings+2, o.Terminal)
	}
	for _, name := range CompareTables {
		most := mostCompared[name]
		if name == "variables" && !c.Profiles {
			most = mostVariables
		}
		table := compareTable(c, name, most, o.Terminal)
		if most == 0 || len(table.Rows) == 0 {
			continue
		}
		b.WriteByte('\n')
		if err := table.Write(&b, f, o.Terminal); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// compareHead says what is compared, and what was run differently.
func compareHead(b *bytes.Buffer, c *compare.Comparison, o CompareOptions) {
	line := func(start, text string) { o.Hanging(b, start, text) }
	for side, runs := range c.Sides {
		title := fmt.Sprintf("%-6s", compare.Side(side))
		var names []string
		for i := range runs {
			names = append(names, runs[i].Name)
		}
		line(title, strings.Join(names, ", ")+": "+sideText(runs, o.Terminal))
	}
	if cut := cutText(c.Cut()); cut != "" {
		line("", "Only "+cut)
	}
	var parts []string
	for _, d := range c.Differences {
		if d.What == "functions" || d.What == "phases" {
			parts = append(parts, onlyText(c, d, o.Terminal)...)
			continue
		}
		from, to := d.Base, d.New
		if shorten := map[string]func(string) string{"program": commandText, "MPI library": untilComma}[d.What]; shorten != nil && shorten(from) != shorten(to) {
			from, to = shorten(from), shorten(to)
		}
		parts = append(parts, fmt.Sprintf("%s %s → %s", d.What, o.Cut(from, 60), o.Cut(to, 60)))
	}
	if len(parts) > 0 {
		line("", "Different: "+strings.Join(parts, "; "))
	}
	switch s, ok, sizes := c.Scaling(); {
	case ok:
		line("", fmt.Sprintf("From %d to %s, all ranks compute for %s, %s before: computation scaling %s and global efficiency %s if the problem is the same; %s and %s if it grows with the ranks", s.BaseRanks,
			text.Count(s.NewRanks, "rank"), text.Duration(s.NewTime), text.Duration(s.BaseTime), text.Percent(s.Computation), text.Percent(s.Computation*s.Parallel), text.Percent(s.PerRank), text.Percent(s.PerRank*s.Parallel)))
	case sizes:
		line("", "Computation scaling is not known, as it is not known how long ranks compute")
	}
	if slices.ContainsFunc(c.Run, func(it *compare.Item) bool { return it.Measure("in_mpi_ns").Error() > 0 }) {
		line("", "Times of short local calls are estimated; ERROR is that of the change, and ~ marks changes that are not greater")
	}
	switch {
	case len(c.Sides[compare.Base])+len(c.Sides[compare.New]) == 2:
		line("", "One run on each side: how much runs vary is not known (--base RUN… --new RUN…)")
	case min(len(c.Sides[compare.Base]), len(c.Sides[compare.New])) >= 4:
		line("", "Numbers are means of runs; ~ marks changes that may be chance (Mann-Whitney test, p ≥ 0.05)")
	default:
		line("", "Numbers are means of runs; ~ marks changes within the spread: the ranges of both sides overlap")
	}
}

// onlyText names what only one side has.
func onlyText(c *compare.Comparison, d compare.Difference, t export.Terminal) (parts []string) {
	has := map[string]string{"functions": "calls ", "phases": "has the phase "}[d.What]
	for side, names := range []string{d.Base, d.New} {
		if names == "" {
			continue
		}
		runs := c.Sides[side]
		who := runs[0].Name
		if len(runs) > 1 {
			who = "the " + compare.Side(side).String() + " side"
		}
		parts = append(parts, "only "+who+" "+has+t.Cut(names, 80))
	}
	return parts
}

// sideText is the program, size, time and library of the runs of a side.
func sideText(runs []compare.Input, t export.Terminal) string {
	var least, most time.Duration
	hosts := map[string]bool{}
	library, size := "", 0
	var ranks []*recording.Rank
	for i, in := range runs {
		for _, r := range in.Run.Ranks {
			hosts[r.Host] = true
			library, size = cmp.Or(r.Library, library), max(size, r.Size)
			ranks = append(ranks, r)
		}
		elapsed := in.Elapsed()
		if least = min(least, elapsed); i == 0 {
			least = elapsed
		}
		most = max(most, elapsed)
	}
	library, _, _ = strings.Cut(library, "\n")
	library = untilComma(export.OneLine(library))
	elapsed := t.Amount(float64(most), "ns")
	if len(runs) > 1 {
		s := t.ScaleOf("ns", float64(most))
		words := s.Texts(float64(least), float64(most))
		elapsed = words[0] + ".." + words[1] + " " + s.Unit
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s on %s, %s; %s", t.Cut(programsText(programsOf(ranks...)), 40), text.Count(size, "rank"), text.Count(len(hosts), "node"), elapsed, library), "; ")
}

func untilComma(s string) string {
	s, _, _ = strings.Cut(s, ",")
	return s
}

// compareItems are the items of a table; of all tables if the name is "".
func compareItems(c *compare.Comparison, name string) []*compare.Item {
	lists := map[string][]*compare.Item{"run": c.Run, "functions": c.Functions, "sites": c.Sites, "phases": c.Phases, "peers": c.Peers, "onesided": c.OneSided,
		"ranks": c.Ranks, "variables": c.Variables}
	if name != "" {
		return lists[name]
	}
	return slices.Concat(c.Run, c.Functions, c.Sites, c.Phases, c.Peers, c.OneSided, c.Ranks, c.Variables)
}
