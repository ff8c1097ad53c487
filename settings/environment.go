package settings

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

// assigned is an environment variable as the library sees it. Line is the place in the library's file that set it.
type assigned struct{ variable, value, line string }

// mpichConfEnd is the line of MPICH's file at which it stops reading, as a setting that is dropped; nil: it reads the whole file.
func (q Query) mpichConfEnd() []Setting {
	_, n, text := q.mpichConfLines()
	if n == 0 {
		return nil
	}
	s := droppedLine(text)
	s.Kind, s.Where = catalog.OriginFile, mpichConf+":"+strconv.Itoa(n)
	s.Dropped = "the line is not NAME=VALUE, so the library also ignores all lines after it"
	return []Setting{s}
}

// mpichConf is the file from which MPICH sets its environment, from release 4.2 on.
const mpichConf = "/etc/mpich.conf"

// environment is the library's environment, sorted.
func (q Query) environment() []assigned {
	var all []assigned
	at := map[string]int{}
	set := func(a assigned, force bool) {
		k, there := at[a.variable]
		switch {
		case !there:
			at[a.variable] = len(all)
			all = append(all, a)
		case force:
			all[k] = a
		}
	}
	for _, kv := range q.Env.Environ {
		variable, value, _ := strings.Cut(kv, "=")
		set(assigned{variable, value, ""}, false)
	}
	if q.Impl == machine.MPICH {
		q.readMPICHConf(set)
	}
	slices.SortStableFunc(all, func(a, b assigned) int { return cmp.Compare(a.variable, b.variable) })
	return all
}

// readMPICHConf reads the file as MPICH does: the environment and earlier lines take precedence over a line, unless it
// has force.
func (q Query) readMPICHConf(set func(a assigned, force bool)) {
	lines, _, _ := q.mpichConfLines()
	for _, l := range lines {
		set(assigned{l.name, l.value, mpichConf + ":" + strconv.Itoa(l.number)}, l.force)
	}
}

// mpichConfLines are the lines of the file, and the line at which the library stops reading (0: none).
func (q Query) mpichConfLines() (all []confLine, end int, text string) {
	data, err := os.ReadFile(q.Env.File(mpichConf))
	if err != nil {
		return nil, 0, ""
	}
	// Only the file's name in the library shows that it reads the file.
	if library, err := os.ReadFile(q.Env.File(q.Lib)); err != nil || !bytes.Contains(library, []byte(mpichConf+"\x00")) {
		return nil, 0, ""
	}
	return parseMPICHConf(data)
}

type confLine struct {
	name, value string
	force       bool
	number      int
}

// parseMPICHConf reads lines of NAME=VALUE or NAME:force=VALUE. Comments start with # in the first column; values end
// at a blank. At any other line, the library stops reading.
func parseMPICHConf(data []byte) (all []confLine, end int, line string) {
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		if text[0] == '\n' || text[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(text, "=")
		values := strings.Fields(rest)
		if !ok || name == "" || len(values) == 0 {
			return all, n, strings.TrimSpace(text)
		}
		name, _, force := strings.Cut(name, ":force")
		all = append(all, confLine{name, values[0], force, n})
	}
	return all, 0, ""
}
