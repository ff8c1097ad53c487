package recording

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mpitx/recording/store"
)

// ExitStatus is how a process ended, as the system says. It is known if the mpitx process that waited for the job was on its node.
type ExitStatus struct {
	Rank   int `json:"rank"`
	PID    int `json:"pid"`
	Code   int `json:"code"`   // with which it exited
	Signal int `json:"signal"` // that killed it; 0: none
}

type exits struct {
	Schema    string       `json:"schema"`
	Version   int          `json:"version"`
	Host      string       `json:"host"`
	Processes []ExitStatus `json:"processes"`
}

const (
	exitsPrefix   = "ends-"
	exitsSchema   = "mpitx.ends"
	exitsVersion  = 1
	mostExitBytes = 1 << 24
)

// WriteExits writes how processes of a host ended into a run directory. It replaces the file of this host in one step;
// an error is one of the file system.
func WriteExits(dir, host string, all []ExitStatus) error {
	text, err := json.Marshal(exits{exitsSchema, exitsVersion, host, all})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, exitsPrefix+fileHost(host)+".json")
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o600); err != nil {
		os.Remove(path + ".part")
		return err
	}
	return os.Rename(path+".part", path)
}

// ReadExits sets Exit of the ranks from the files of all hosts.
func (run *Run) ReadExits() {
	for _, d := range readExits(run.store) {
		for i := range d.Processes {
			s := &d.Processes[i]
			for _, r := range run.Ranks {
				if r.Rank == s.Rank && r.PID == s.PID && r.Host == d.Host {
					r.Exit = s
				}
			}
		}
	}
}

// Exits are how the processes of a run ended, as far as it is known, by rank.
func Exits(dir string) (all []ExitStatus) {
	for _, d := range readExits(&store.Store{Dir: dir}) {
		all = append(all, d.Processes...)
	}
	slices.SortStableFunc(all, func(a, b ExitStatus) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

func readExits(s *store.Store) (all []exits) {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(s.Dir), exitsPrefix+"*.json"))
	for _, path := range paths {
		name := filepath.Base(path)
		text, ok := s.ReadFile(name, mostExitBytes)
		if !ok {
			continue
		}
		d, at, err := parseExits(text)
		if err != nil {
			s.Damaged(name, at, "%v", err)
			continue
		}
		all = append(all, d)
	}
	return all
}

// parseExits reads such a file. An error is at a byte.
func parseExits(text []byte) (d exits, at int64, err error) {
	switch at, err = parseDocument(text, &d); {
	case err != nil:
	case d.Schema != exitsSchema:
		err = errors.New("this is not a document of " + exitsSchema)
	case d.Version != exitsVersion:
		err = store.OtherVersion(d.Version, exitsVersion)
	}
	return d, at, err
}

// parseDocument reads a document of JSON. An error is at a byte.
func parseDocument(text []byte, d any) (at int64, err error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch err = json.Unmarshal(text, d); {
	case errors.As(err, &kind):
		return kind.Offset, fmt.Errorf("%s must not be a %s", kind.Field, kind.Value)
	case errors.As(err, &syntax):
		return syntax.Offset, err
	}
	return 0, err
}

// escapeGlob makes a pattern that matches one path only.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// fileHost is a host's name in names of files, as the agent writes it.
func fileHost(host string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && (c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.ContainsRune("-_.", c)) {
			return c
		}
		return '_'
	}, host[:min(len(host), 64)])
}
