package runs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/recording/trigger"
	"mpitx/text"
)

// ReportFormats are the formats of a report.
var ReportFormats = []export.Format{export.FormatTable, export.FormatWide, export.FormatJSON, export.FormatNDJSON, export.FormatCSV, FormatHatchet}

// FormatHatchet is JSON for hatchet's JsonReader.
const FormatHatchet export.Format = "hatchet"

// ReportOptions say what a report shows.
type ReportOptions struct {
	export.Terminal
	Run      string // how the user names the run
	Table    string // one of ReportTables, whole; "": the summary, or the functions in formats of rows
	Findings []finding.Finding
	Triggers []*trigger.Trigger
	Lost     bool     // the agent had no memory for all calls
	Tools    []string // that intercepted the calls of the program, outermost first
}

// Report writes a profile.
func Report(w io.Writer, p *profile.Profile, f export.Format, o ReportOptions) error {
	switch f {
	case export.FormatJSON:
		return reportJSON(w, p, o)
	case FormatHatchet:
		return reportHatchet(w, p)
	case export.FormatCSV, export.FormatNDJSON:
		if o.Table == "" {
			o.Table = ReportTables[0]
		}
		return ReportRows(p, o.Table).Write(w, f, o.Terminal)
	case export.FormatTable, export.FormatWide, "":
		if o.Table == ViewAlgorithms && len(p.Algorithms) == 0 {
			_, err := io.WriteString(w, "No collective call was recorded.\n")
			return err
		}
		if o.Table == ViewArrivals && len(p.Arrivals) == 0 {
			_, err := io.WriteString(w, "No blocking collective call was observed on all ranks of its communicator.\n")
			return err
		}
		if o.Table != "" {
			return peopleTable(p, o.Table, 0, o.Terminal).Write(w, f, o.Terminal)
		}
		return reportText(w, p, f, o)
	}
	return fmt.Errorf("a report has no format %q", f)
}

// How many lines of each part are on the one screen of a report.
const mostFindings, mostEvents = 4, 5

var mostRows = map[string]int{ViewFunctions: 6, ViewSites: 6, ViewRanks: 5, ViewPhases: 4, ViewCommunicators: 3}

// reportText writes one screen.
func reportText(w io.Writer, p *profile.Profile, f export.Format, o ReportOptions) error {
	var b bytes.Buffer
	reportHead(&b, p, o)
	if p.Total.Calls > 0 || len(o.Findings) > 0 {
		findings(&b, o.Findings, o.Run, mostFindings, o.Terminal)
	}
	for _, name := range ReportTables {
		most, shown := mostRows[name]
		table := peopleTable(p, name, most, o.Terminal)
		byPhase := name == ViewPhases && len(p.Cut.Objects)+len(p.Cut.Functions) > 0 // their efficiencies are not known
		if !shown || byPhase || len(table.Rows) == 0 || name == ViewCommunicators && len(table.Rows) == 1 {
			continue
		}
		b.WriteByte('\n')
		if err := table.Write(&b, f, o.Terminal); err != nil {
			return err
		}
	}
	if len(o.Triggers) > 0 {
		b.WriteByte('\n')
		if err := Triggers(&b, o.Triggers, f, mostEvents, "", o.Terminal); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// reportHead says which run it is, and how much of its time was spent in MPI.
func reportHead(b *bytes.Buffer, p *profile.Profile, o ReportOptions) {
	line := func(words string) { b.WriteString(export.WrapAt(o.Safe(words), o.Width, "  ") + "\n") }
	library := ""
	hosts, spawned := map[string]bool{}, 0
	for _, r := range p.Ranks {
		hosts[r.Process.Host] = true
		if r.Process.Spawned.First > 0 {
			spawned++
			continue
		}
		library = r.Process.Library
	}
	ranks := text.Count(len(p.Ranks)-spawned, "rank")
	if size := sizeOf(p); len(p.Ranks)-spawned < size && len(p.Cut.Ranks) == 0 {
		ranks = fmt.Sprintf("%d of %s", len(p.Ranks)-spawned, text.Count(size, "rank"))
	}
	if spawned > 0 {
		ranks += fmt.Sprintf(" and %d spawned", spawned)
	}
	library, _, _ = strings.Cut(library, "\n")
	library, _, _ = strings.Cut(export.OneLine(library), ",")
	program := o.Cut(programsText(programsOf(processes(p)...)), 40)
	if len(p.Ranks) == 0 {
		line("No MPI call was recorded" + why(p, o))
		return
	}
	line(strings.TrimSuffix(fmt.Sprintf("%s: %s on %s, %s; %s", program, ranks, text.Count(len(hosts), "node"), stateText(p, o.Terminal), library), "; "))
	if len(o.Tools) > 0 {
		line("QMPI tools: " + strings.Join(o.Tools, ", ") + " (times include theirs)")
	}
	if cut := cutText(p.Cut); cut != "" {
		line("Only " + cut)
	}
	if ranks := p.IncompleteRanks(); len(ranks) > 0 {
		line(incompleteText(p, ranks))
	}
	if p.Total.Calls == 0 {
		line("No MPI call was recorded" + why(p, o))
		return
	}
	words := fmt.Sprintf("MPI takes %s of the run time%s, in %s", text.Percent(inMPI(p)), estimated(p, o.Terminal), text.Count(p.Total.Calls, "call"))
	if slices.ContainsFunc(p.Ranks, func(r *profile.Rank) bool { return r.Threads > 1 }) {
		words = fmt.Sprintf("MPI takes %s of the run time of the main threads%s. All threads make %s; below, times are sums over threads, and those per rank of the main threads",
			text.Percent(inMPI(p)), estimated(p, o.Terminal), text.Count(p.Total.Calls, "call"))
	}
	if e := p.Efficiency; e.Parallel > 0 {
		times := "×"
		if !o.UTF8 {
			times = "x"
		}
		words += fmt.Sprintf(". Parallel efficiency %s = load balance %s %s communication efficiency %s", text.Percent(e.Parallel), text.Percent(e.LoadBalance), times, text.Percent(e.Communication))
		words += processorText(e)
	}
	line(words)
}

// sizeOf is the number of processes in MPI_COMM_WORLD, as far as those of the profile know.
func sizeOf(p *profile.Profile) (size int) {
	for _, r := range p.Ranks {
		if r.Process.Spawned.First == 0 {
			size = max(size, r.Process.Size)
		}
	}
	return size
}

// incompleteText says which ranks have too small numbers, and what that means for the report.
func incompleteText(p *profile.Profile, ranks []int) string {
	words := text.Ranks(ranks) + " incomplete: "
	for _, r := range p.Ranks {
		if why := r.Incomplete(); why != "" {
			words += why
			break
		}
	}
	if len(ranks) == len(p.Ranks) {
		return words + "; all numbers may be too small"
	}
	return words + "; sums may be too small, and means, shares and efficiencies are of the other ranks"
}

// why says why a profile is empty.
func why(p *profile.Profile, o ReportOptions) string {
	switch {
	case cutText(p.Cut) != "":
		return " in this part of the run"
	case o.Lost:
		return ": the agent had no memory for its tables"
	}
	return ": the program made none, or --include and --exclude left out all that it made"
}

// programsOf are the command lines of the ranks, each once, in the order of ranks; those of spawned processes only if there are no others.
func programsOf(ranks ...*recording.Rank) (programs []string) {
	var spawned []string
	for _, r := range ranks {
		list := &programs
		if r.Spawned.First > 0 {
			list = &spawned
		}
		if command := r.Program; command != "" && !slices.Contains(*list, command) {
			*list = append(*list, command)
		}
	}
	if len(programs) == 0 {
		return spawned
	}
	return programs
}

func processes(p *profile.Profile) []*recording.Rank {
	return export.Mapped(p.Ranks, func(r *profile.Rank) *recording.Rank { return r.Process })
}

// programsText names several programs without their arguments.
func programsText(commands []string) string {
	if len(commands) == 1 {
		return commandText(commands[0])
	}
	var names []string
	for _, c := range commands {
		name, _, _ := strings.Cut(commandText(c), " ")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// commandText is a command line without directories.
func commandText(command string) string {
	words := strings.Split(command, " ")
	for i, w := range words {
		words[i] = w[strings.LastIndexByte(w, '/')+1:]
	}
	return strings.Join(words, " ")
}

// inMPI is the share of MPI in the time of the main threads.
func inMPI(p *profile.Profile) float64 {
	if p.Elapsed() <= 0 {
		return 0
	}
	return float64(p.InMPI()) / float64(p.Elapsed())
}

// estimated says how exact the time in MPI is; "" if it is exact.
func estimated(p *profile.Profile, t export.Terminal) string {
	failure := p.InMPIError()
	if failure == 0 {
		return ""
	}
	return fmt.Sprintf(" (estimated, %s%s)", plusMinus(t), text.ErrorPercent(float64(failure), float64(p.Elapsed())))
}

// stateText is the run time, and whether the run has ended.
func stateText(p *profile.Profile, t export.Terminal) string {
	var longest time.Duration
	states := map[recording.State]int{}
	for _, r := range p.Ranks {
		longest = max(longest, r.Elapsed)
		states[r.Process.State]++
	}
	words := t.Amount(float64(longest), "ns")
	for _, s := range []struct {
		state recording.State
		words string
	}{{recording.StateRunning, "still running"}, {recording.StateDied, "died"}, {recording.StateUnreachable, "not reachable from here"}, {recording.StateDamaged, "damaged at the end"}} {
		if n := states[s.state]; n == len(p.Ranks) {
			words += ", " + s.words
		} else if n > 0 {
			words += fmt.Sprintf(", %s %s", text.Count(n, "rank"), s.words)
		}
	}
	return words
}

// cutText names the parts of the run that a profile is restricted to.
func cutText(c profile.Cut) string {
	var parts []string
	if len(c.Phases) > 0 {
		parts = append(parts, "phase "+strings.Join(c.Phases, ", "))
	}
	if len(c.Ranks) > 0 {
		parts = append(parts, text.Ranks(c.Ranks))
	}
	if len(c.Objects) > 0 {
		parts = append(parts, strings.Join(c.Objects, ", "))
	}
	if len(c.Functions) > 0 {
		parts = append(parts, strings.Join(c.Functions, ", "))
	}
	return strings.Join(parts, "; ")
}

// findings writes what stands out: at most this many findings.
func findings(b *bytes.Buffer, all []finding.Finding, run string, most int, t export.Terminal) {
	b.WriteByte('\n')
	if len(all) == 0 {
		b.WriteString("Nothing stands out.\n")
		return
	}
	b.WriteString(t.Paint(export.HeaderStyle, "FINDINGS") + "\n")
	for i, f := range all[:min(len(all), most)] {
		t.Hanging(b, fmt.Sprintf("%d. ", i+1), f.Text)
		if next := f.NextText(run); next != "" {
			t.Hanging(b, "   ", next)
		}
	}
}
