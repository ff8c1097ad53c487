package recording

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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

const mostExitBytes = 1 << 24

// WriteExits writes how processes of a host ended into a run directory. It replaces the file of this host in one step;
// an error is one of the file system.
func WriteExits(dir, host string, all []ExitStatus) error {
	text, err := json.Marshal(exits{"mpitx.ends", 1, host, all})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "ends-"+fileHost(host)+".json")
	if err := os.WriteFile(path+".part", append(text, '\n'), 0o600); err != nil {
		os.Remove(path + ".part")
		return err
	}
	return os.Rename(path+".part", path)
}

// ReadExits sets Exit of the ranks from the files of all hosts.
func (run *Run) ReadExits() {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(run.Dir), "ends-*.json"))
	for _, path := range paths {
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() || st.Size() > mostExitBytes {
			continue
		}
		var d exits
		if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &d) != nil || d.Version != 1 {
			continue
		}
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
