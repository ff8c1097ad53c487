//go:build cgo && linux

package rules

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mpitx/binding"
)

// Command is the first argument of mpitx backend for a worker; the second is a request.
const Command = "check"

// request is what a worker is to do.
type request struct {
	Rule      string
	Skip      int
	Directory string // for journals
	Demo      bool
	Shim, Lib string
	// Version and Standard are known already: asking for them would be a call of MPI before the rule's first.
	Version, Standard string
	Limit             time.Duration // of a call
}

func journalPath(dir string, rank int) string {
	return filepath.Join(dir, fmt.Sprintf("journal.%d", rank))
}

// Worker runs one rule in this process and returns the exit code. rank is this process's in the launched job, or below 0.
func Worker(args []string, rank int) int {
	var q request
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &q) != nil {
		fmt.Fprintln(os.Stderr, "mpitx: backend check: internal; use mpitx check")
		return 2
	}
	r := find(q.Rule)
	if r == nil && q.Rule == "" {
		r = &rule{stage: bare, run: func(*mpi) {}} // asks what the library is
	}
	if r == nil {
		return 2
	}
	binding.SilenceCrashes()
	file, err := os.Create(journalPath(q.Directory, max(0, rank)))
	if err != nil {
		return 2
	}
	var lib *binding.Library
	if q.Demo {
		lib, err = binding.Demo()
	} else {
		lib, err = binding.Load(q.Shim, q.Lib)
	}
	if err != nil {
		fmt.Fprintln(file, string(noteInapplicable), err)
		return 2
	}
	m := &mpi{raw: lib.Raw(), lib: lib, rule: r, journal: file, skip: q.Skip, limit: q.Limit, names: map[string]int{}}
	defer func() {
		if why := recover(); why != nil {
			m.failed(why)
			os.Exit(2)
		}
	}()
	m.identify(q.Version, q.Standard)
	if r.needs != "" && !m.has(r.needs) {
		m.notApplicable("the library does not have %s", r.needs)
	} else {
		m.enter(r.stage)
		if r.item == "" || m.item("%s", r.item) {
			r.run(m)
		}
		if m.items == 0 && r.none != "" {
			m.notApplicable("%s", r.none)
		}
	}
	m.note(noteEnd, "")
	m.flush()
	if r.ranks > 0 {
		m.raw.FinalizeMPI()
		binding.Exit(0)
	}
	os.Exit(0) // without MPI_Finalize, which costs time and may crash
	return 0
}

// has reports whether the library has a routine, or QMPI.
func (m *mpi) has(name string) bool {
	if name == "QMPI" {
		return m.lib.HasQMPI()
	}
	return m.lib.Has(name)
}

// failed notes the panic that ended a rule: it cannot be tested, or mpitx has failed, which is not the library's fault.
func (m *mpi) failed(why any) {
	text, ok := why.(untestable)
	if !ok {
		text = untestable(fmt.Sprintf("mpitx failed: %v", why))
	}
	m.note(noteFailed, string(text))
	m.flush()
}

// factVersion and factStandard are the facts about the library that every worker notes.
const factVersion, factStandard = "version", "standard"

func (m *mpi) identify(text, standard string) {
	if text == "" {
		text, _ = m.lib.VersionText()
		text, _, _ = strings.Cut(text, "\n")
		text = strings.Join(strings.Fields(text), " ")
		v, s, _ := m.lib.Version()
		standard = fmt.Sprintf("%d.%d", v, s)
	}
	m.standard = standard
	m.version = fmt.Sprintf("%s (MPI %s)", text, standard)
	m.note(noteFact, factVersion+" "+text)
	m.note(noteFact, factStandard+" "+standard)
}
