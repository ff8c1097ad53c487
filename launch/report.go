package launch

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/text"
)

// Known is what a command knows about the library and what it has asked for, to explain messages.
type Known struct {
	Names []string // of the library's variables, at its last reading
	// Item is the name that the library's description gives a value of a control variable; "" if there is none.
	Item func(cvar, value string) string
	// ExplainPvar says what to do about a pattern of --pvar that matched no variable, and ExplainEvent why one of --event matched no
	// event; "": no message. names are those that the run has.
	ExplainPvar, ExplainEvent func(pattern string, names []string) string
}

// Messages lists the messages about the run, each once for all ranks that it concerns.
func (r *Job) Messages(known Known) []string {
	run, names, size := r.Run, known.Names, r.size
	t := &messages{}
	addIncomplete(t, run)
	var lost recording.Counters
	columns := false // if nothing matched, no samples can be missing
	seen := map[int]bool{}
	spawned := 0
	inRun := knownNames(nil, run)
	for _, rank := range run.Ranks {
		seen[rank.Rank] = true
		var faulty []string
		for _, n := range rank.Notes {
			switch {
			case rank.Counters.Lacks > 0 && (n.Code == recording.NoteUnmatched || n.Code == recording.NoteUnmatchedEvent || strings.HasSuffix(n.Text, tooMany)): // the lack is the reason
			case n.Code == recording.NoteUnmatched:
				t.add(rank.Rank, known.ExplainPvar(n.Text, inRun))
			case n.Code == recording.NoteUnmatchedEvent:
				if why := known.ExplainEvent(n.Text, inRun); why != "" {
					t.add(rank.Rank, why)
				}
			case n.Code == recording.NoteFaulty:
				faulty = append(faulty, n.Text)
			case n.Code == recording.NoteSpawned:
				count, _ := strconv.Atoi(n.Text)
				spawned += count
			case n.Severity >= recording.Warning, n.Code == recording.NoteReduced && rank.Counters.Missed > rank.Counters.Instants/10 && !brief(rank):
				t.add(rank.Rank, n.Text)
			}
		}
		t.add(rank.Rank, faultyText(faulty))
		for _, c := range rank.Columns {
			columns = columns || c != nil
		}
		for _, text := range troubles(rank.Columns) {
			t.add(rank.Rank, text)
		}
		if rank.State == recording.StateDied {
			then := "; the data up to then are in the run"
			if rank.Interval > 0 && rank.Counters.Samples == 0 {
				then = "; it had taken no samples"
			}
			t.add(rank.Rank, "the process died before it could finish recording"+then)
		}
		if rank.State == recording.StateDamaged {
			t.add(rank.Rank, "the end of its recording is damaged or missing, so it is not known how the process ended")
		}
		lost.Samples += rank.Counters.Samples
		lost.Missed += rank.Counters.Missed
		lost.LostBusy += rank.Counters.LostBusy
		lost.LostFull += rank.Counters.LostFull
		lost.OverBudget += rank.Counters.OverBudget
		lost.Refused += rank.Counters.Refused
	}
	for _, l := range run.LeftOut() {
		t.add(l.Rank, fmt.Sprintf("only the first process that called MPI_Init is recorded; %d more had the same rank, the last one %s; start each MPI program with its own mpitx", l.Count, l.Program))
	}
	some := len(seen) > 0 && len(seen) < size
	unknown, absent := false, r.absent()
	for rank := range size {
		switch {
		case !some || seen[rank]:
		case absent[rank]:
			t.add(rank, "nothing was recorded: not started with mpitx")
		case r.seen.ranks[rank] != "":
			t.add(rank, "nothing was recorded: "+r.seen.ranks[rank])
		case slices.Contains(r.unstarted, rank):
			t.add(rank, "nothing was recorded: "+diedAtStart)
		default:
			unknown = true
			t.add(rank, "nothing was recorded: no program with the agent called MPI_Init, it died while the agent started, or it could not write to the run directory")
		}
	}
	lines := t.lines(size)
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if unknown {
		say("%s", otherPreload)
	}
	lines = append(lines, outcomes(run, names, knownNames(names, run), known.Item)...)
	for _, text := range []string{Loss(run), Away(run)} {
		if text != "" {
			say("%s", text)
		}
	}
	if lost.Lost() > 0 && columns {
		say("%s", missing(&lost, unwritten(run)))
	}
	switch {
	case spawned == 1:
		say("1 process was started by MPI_Comm_spawn and is not recorded: " + unspawned)
	case spawned > 1:
		say("%d processes were started by MPI_Comm_spawn and are not recorded: %s", spawned, unspawned)
	}
	if lost.Refused > 0 {
		why := "there was no memory for them"
		if slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Budget > 0 }) { // which also makes chunks small
			why = "there was no room for them within --max-size, or no memory"
		}
		say("could not record declarations or notes, in %d attempts: %s, so names of variables, communicators or functions may be missing", lost.Refused, why)
	}
	for _, n := range run.Nodes {
		if n.Step != 0 {
			say("the clock of %s was changed by %s during the run; times follow the clock as it was at the start", n.Host, n.Step.Round(time.Millisecond))
		}
	}
	return lines
}

const unspawned = "their program was not found with $PATH, or the run directory could not be written"

const diedAtStart = "the process died while the agent started"

// brief reports whether a process ended after so few intervals that nobody expects a sample for each of them.
func brief(r *recording.Rank) bool {
	const few = 100
	due := r.Counters.Samples + r.Counters.Missed
	return due < few*uint64(max(1, len(r.Sets)))
}

// faultyText says which variables are not sampled; "" if all are.
func faultyText(names []string) string {
	const why = " crashes or hangs the library"
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0] + " is not sampled: reading it" + why
	}
	return text.Count(len(names), "variable") + " are not sampled: reading them" + why + ": " + namesText(names)
}

// troubles describe which variables could not be sampled, and for which objects; other objects may have values.
func troubles(columns []*recording.Column) (texts []string) {
	type trouble struct{ variable, why string }
	var all []trouble
	objects := map[trouble][]string{}
	for _, c := range columns {
		if c == nil || c.Status == recording.OK || c.Status == recording.Gone || c.Status == recording.Pending || c.Reason == "" {
			continue
		}
		k := trouble{c.Variable, c.Status.String() + ": " + c.Reason}
		names, known := objects[k]
		if !known {
			all = append(all, k)
		}
		if c.ObjectName != "" && !slices.Contains(names, c.ObjectName) {
			names = append(names, c.ObjectName)
		}
		objects[k] = names
	}
	for _, k := range all {
		of := ""
		if names := objects[k]; len(names) > 0 {
			of = " of " + namesText(names)
		}
		texts = append(texts, k.variable+of+": "+k.why)
	}
	return texts
}

// unwritten explains why samples that were taken are not in the run.
func unwritten(run *recording.Run) string {
	if l, ok := run.Loss(); ok && l.Failed {
		return "could not be written (" + l.Reason + ")"
	}
	return "lost because all buffers were full (sample less often, or fewer variables)"
}

// missing says how many samples are missing, and for which reasons.
func missing(c *recording.Counters, unwritten string) string {
	var why []string
	for _, r := range []struct {
		n   uint64
		why string
	}{{c.Missed, "not taken in time"}, {c.LostBusy, "while another thread wrote"}, {c.LostFull, unwritten}, {c.OverBudget, "beyond --max-size"}} {
		if r.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", r.n, r.why))
		}
	}
	return fmt.Sprintf("%[2]d of %[1]d samples are missing: %[3]s", c.Samples+c.Lost(), c.Lost(), strings.Join(why, ", "))
}

// knownNames are the names that the library or the agent offers, from the last reading of the library and from this
// run.
func knownNames(names []string, run *recording.Run) []string {
	names = slices.Clone(names)
	for _, r := range run.Ranks {
		for _, n := range r.Notes {
			if n.Code == recording.NoteSuggestions {
				names = append(names, strings.Split(n.Text, "\n")...)
			}
		}
		for _, c := range r.Columns {
			if c != nil && c.Variable != "" {
				names = append(names, c.Variable)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Loss says when and why samples were lost, and how many; "" if a slow disk lost only a few of many.
func Loss(run *recording.Run) string {
	var full, lost uint64
	for _, r := range run.Ranks {
		full, lost = full+r.Counters.LostFull, lost+r.Counters.Lost()
	}
	if loss, ok := run.Loss(); ok && (loss.Time > 0 || 2*full > lost) {
		return fmt.Sprintf("%v; the last value of every counter was kept, so sums are correct", loss)
	}
	return ""
}

// Reduced says why a profile counts less than the program did, each reason once for all ranks that it concerns.
func Reduced(run *recording.Run) []string {
	t := &messages{}
	for _, r := range run.Ranks {
		for _, n := range r.Notes {
			if n.Code == recording.NoteReduced && n.Severity >= recording.Warning {
				t.add(r.Rank, n.Text)
			}
		}
	}
	return t.lines(len(run.Ranks))
}

// tooMany ends the agent's note about a variable that it could not activate.
const tooMany = ": too many variables of mpitx"

// Incomplete says which ranks are incomplete, and why.
func Incomplete(run *recording.Run) []string {
	t := &messages{}
	addIncomplete(t, run)
	return t.lines(len(run.Ranks))
}

func addIncomplete(t *messages, run *recording.Run) {
	for _, r := range run.Ranks {
		why := r.Incomplete()
		if why == "" {
			continue
		}
		text := "the recording is incomplete: " + why + "; its numbers may be too small"
		if run.Excludes(r) {
			text += ", and count in no mean"
		}
		if r.NeedsSize() {
			text += "; give a greater --max-size"
		}
		if r.NeedsRoom() {
			text += "; free space in /dev/shm, or if it is small, make room in $TMPDIR"
		}
		t.add(r.Rank, text)
	}
}

// Away says which nodes have samples that this machine cannot read, and how to get them; "" if there are none.
func Away(run *recording.Run) string {
	hosts, ranks := run.Unreachable()
	if len(ranks) == 0 {
		return ""
	}
	what := "the newest data"
	if slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.State == recording.StateUnreachable && r.Undeclared() }) {
		what = "the newest data, and the declarations needed to read the rest,"
	}
	return Elsewhere(run.Dir, hosts, ranks, what+" are still in memory there and missing here")
}

// Elsewhere formats a message about ranks on other nodes, with the command that recovers their samples there.
func Elsewhere(dir string, hosts []string, ranks []int, what string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return fmt.Sprintf("%s (%s): %s; after the job has ended, run there: mpitx recover %s", recording.HostsText(hosts), text.Ranks(ranks), what, text.Quote(dir))
}

// messages are texts with the ranks that they concern, each text once.
type messages struct {
	all []*message
	at  map[string]*message
}

type message struct {
	text  string
	ranks []int
}

func (m *messages) add(rank int, text string) {
	if text == "" {
		return
	}
	t := m.at[text]
	if t == nil {
		if m.at == nil {
			m.at = map[string]*message{}
		}
		t = &message{text: text}
		m.all, m.at[text] = append(m.all, t), t
	}
	if n := len(t.ranks); n == 0 || t.ranks[n-1] != rank {
		t.ranks = append(t.ranks, rank)
	}
}

const mostMessages = 40

// lines formats the messages. It names the ranks, unless a message concerns all of them (size)
// and is not about a process.
func (m *messages) lines(size int) (lines []string) {
	for k, t := range m.all {
		if k == mostMessages {
			return append(lines, fmt.Sprintf("and %d more messages of this kind", len(m.all)-k))
		}
		words := t.text
		switch {
		case len(t.ranks) < size:
			words = text.Ranks(t.ranks) + ": " + words
		case size > 1 && strings.HasPrefix(words, "the process "):
			words = "all ranks: " + words
		}
		lines = append(lines, words)
	}
	return lines
}
