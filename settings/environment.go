package settings

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"mpitx/machine"
)

// assigned is an environment variable as the library sees it. Line is the place in the library's file that set it.
type assigned struct{ variable, value, line string }

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
	data, err := os.ReadFile(q.Env.File(mpichConf))
	if err != nil {
		return
	}
	// Only the file's name in the library shows that it reads the file.
	if library, err := os.ReadFile(q.Env.File(q.Lib)); err != nil || !bytes.Contains(library, []byte(mpichConf+"\x00")) {
		return
	}
	for _, l := range parseMPICHConf(data) {
		set(assigned{l.name, l.value, mpichConf + ":" + strconv.Itoa(l.number)}, l.force)
	}
}

type confLine struct {
	name, value string
	force       bool
	number      int
}

// parseMPICHConf reads lines of NAME=VALUE or NAME:force=VALUE. Comments start with # in the first column; values end
// at a blank. At any other line, the library stops reading.
func parseMPICHConf(data []byte) (all []confLine) {
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		if text[0] == '\n' || text[0] == '#' {
			continue
		}
		name, rest, ok := strings.Cut(text, "=")
		values := strings.Fields(rest)
		if !ok || name == "" || len(values) == 0 {
			break
		}
		name, _, force := strings.Cut(name, ":force")
		all = append(all, confLine{name, values[0], force, n})
	}
	return all
}
