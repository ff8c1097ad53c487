package timeline

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mpitx/text"
	"mpitx/ui/term"
)

func (m *Model) letter(function int32) (string, term.Color) {
	name := m.frame.Functions[function]
	k := kindOf(name)
	if !m.byFunction {
		return string(kindInfo[k].letter), kindInfo[k].color
	}
	return string(m.letters[function]), kindInfo[k].color
}

// noLetter is that of functions that came after all letters were given.
const noLetter = '*'

// give gives a function one of its name's letters, or another one, for the whole session.
func (m *Model) give(function int32) {
	if m.letters[function] != 0 {
		return
	}
	m.letters[function] = noLetter
	for _, r := range strings.ToUpper(strings.TrimPrefix(m.frame.Functions[function], "MPI_")) + "ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		if r >= 'A' && r <= 'Z' && !m.given[r-'A'] {
			m.letters[function], m.given[r-'A'] = r, true
			return
		}
	}
}

// giveAll gives letters to all functions. MPI_Send and MPI_Recv have the first choice.
func (m *Model) giveAll() {
	for _, name := range []string{"MPI_Send", "MPI_Recv"} {
		if i := slices.Index(m.frame.Functions, name); i >= 0 {
			m.give(int32(i))
		}
	}
	for _, s := range m.frame.Shares {
		m.give(s.Function)
	}
}

type entry struct {
	letter, name string
	color        term.Color
	took         time.Duration
}

// legend says what the letters stand for, and which part of the time of all rows each takes, in at most most lines.
func (m *Model) legend(most int) (lines []string) {
	entries := m.kindEntries()
	if m.byFunction {
		entries = m.functionEntries()
	}
	rest := m.stateEntries()
	if w := m.frame.Waits; w != nil && w.Cells != nil {
		entries, rest = m.waitLegend(), append([]string{m.pathLine() + " critical path", m.inMPI() + " other calls"}, rest...)
	}
	for n := len(entries); n >= 0; n-- {
		if lines = m.legendLines(entries, rest, n); len(lines) <= most {
			return lines
		}
	}
	return lines[:most]
}

func (m *Model) legendLines(entries []entry, rest []string, n int) (lines []string) {
	var parts []string
	for i, e := range entries {
		words := e.name
		if n < len(entries) {
			words, _, _ = strings.Cut(words, ",")
		}
		if i < n {
			words += " " + text.Percent(float64(e.took)/float64(max(m.frame.Counted, 1)))
		}
		parts = append(parts, m.Terminal.Paint(term.Style{Color: e.color, Bold: true}, e.letter)+" "+words)
	}
	line := ""
	for _, part := range append(parts, rest...) {
		switch {
		case line == "":
			line = " " + part
		case term.Width(line)+2+term.Width(part) > m.Width:
			lines, line = append(lines, line), " "+part
		default:
			line += "  " + part
		}
	}
	return append(lines, line)
}

func (m *Model) stateEntries() (all []string) {
	var seen [states]bool
	for i := range m.frame.Cells {
		for column := range m.frame.Cells[i] {
			seen[m.state(i, column)] = true
		}
	}
	if seen[idle] {
		all = append(all, m.Terminal.Glyphs().Dot+" not in MPI")
	}
	if seen[lost] {
		all = append(all, m.Terminal.Paint(term.Wrong, "?")+" events lost")
	}
	switch {
	case seen[unread]:
		all = append(all, "blank: not read yet")
	case seen[outside]:
		all = append(all, "blank: not begun, or ended")
	}
	return all
}

func (m *Model) functionEntries() (all []entry) {
	var others time.Duration
	for _, s := range m.frame.Shares {
		if letter, color := m.letter(s.Function); letter != string(noLetter) {
			all = append(all, entry{letter, m.Terminal.Safe(strings.TrimPrefix(m.frame.Functions[s.Function], "MPI_")), color, s.Time})
		} else {
			others += s.Time
		}
	}
	if others > 0 {
		all = append(all, entry{string(noLetter), "others", term.Default, others})
	}
	return all
}

func (m *Model) kindEntries() (all []entry) {
	var times [kinds]time.Duration
	var calls [kinds]uint64
	for _, s := range m.frame.Shares {
		k := kindOf(m.frame.Functions[s.Function])
		times[k] += s.Time
		calls[k] += s.Calls
	}
	for k := range kinds {
		if calls[k] > 0 {
			all = append(all, entry{string(kindInfo[k].letter), kindInfo[k].name, kindInfo[k].color, times[k]})
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(b.took, a.took) })
	return all
}

type kind uint8

const (
	kindSend kind = iota
	kindReceive
	kindWait
	kindProbe
	kindCollective
	kindOneSided
	kindFile
	kindStart
	kindOther
	kinds
)

var kindInfo = [kinds]struct {
	letter byte
	name   string
	color  term.Color
}{
	kindSend: {'S', "send", term.Accent}, kindReceive: {'R', "receive", term.Good}, kindWait: {'W', "wait, test", term.Warn}, kindProbe: {'P', "probe", term.Warn},
	kindCollective: {'C', "collective", term.Match}, kindOneSided: {'O', "one-sided", term.Accent}, kindFile: {'F', "file", term.Good},
	kindStart: {'I', "init, finalize", term.Muted}, kindOther: {'M', "other", term.Default},
}

// kindNames are the beginnings of functions' names in lower case, without MPI_ and a leading I of collectives; the first that fits decides.
var kindNames = []struct {
	kind  kind
	names string
}{
	{kindStart, "init finalize session_init session_finalize abort"},
	{kindFile, "file_"},
	{kindOneSided, "win_ put get accumulate rput rget raccumulate fetch_and_op compare_and_swap get_accumulate rget_accumulate"},
	{kindProbe, "probe iprobe mprobe improbe"},
	{kindReceive, "recv irecv mrecv imrecv recv_init precv_init parrived"},
	{kindSend, "send isend bsend ibsend ssend issend rsend irsend sendrecv isendrecv bsend_init send_init ssend_init rsend_init psend_init start pready buffer_"},
	{kindWait, "wait test request_get_status"},
	{kindCollective, "barrier bcast gather scatter allgather alltoall reduce allreduce scan exscan neighbor_ comm_split comm_dup comm_create comm_spawn"},
}

func kindOf(function string) kind {
	name := strings.ToLower(strings.TrimPrefix(function, "MPI_"))
	if strings.HasPrefix(name, "get_") && !strings.HasPrefix(name, "get_accumulate") || strings.HasPrefix(name, "initialized") || strings.HasPrefix(name, "finalized") {
		return kindOther
	}
	for _, k := range kindNames {
		for _, begin := range strings.Fields(k.names) {
			if strings.HasPrefix(name, begin) || k.kind == kindCollective && strings.HasPrefix(name, "i"+begin) {
				return k.kind
			}
		}
	}
	return kindOther
}
