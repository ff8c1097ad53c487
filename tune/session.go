// Package tune keeps what a campaign of mpitx tune is about: the application, the machine and the library that it was made with, and what
// its runs showed.
package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mpitx/machine"
	"mpitx/machine/newfile"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/tune/campaign"
	"mpitx/tune/kernel"
)

// Session is a campaign with all that its results depend on. It is a file in the campaign's directory.
type Session struct {
	Schema  string   `json:"schema"`
	Mpitx   string   `json:"mpitx"` // version
	Ranks   int      `json:"ranks"`
	App     []string `json:"application"`
	Dir     string   `json:"directory"` // in which the application ran
	Workdir string   `json:"workdir"`   // how each experiment got its own: "same", "copy"
	MPI     string   `json:"mpi"`       // the library's file

	Family  string `json:"family"`
	Library string `json:"library"` // as it names itself
	BuildID string `json:"build_id,omitempty"`
	Starter string `json:"launcher,omitempty"` // the word that starts the library's launcher: "mpirun.mpich"

	Shortage string            `json:"shortage,omitempty"` // of cores when the application was profiled: that ranks shared them
	Nodes    []Node            `json:"nodes"`
	Settings map[string]string `json:"settings"` // of the user
	Plan     campaign.Plan     `json:"plan"`
	Kernel   []kernel.Use      `json:"kernel,omitempty"`  // the application's collectives, which the screening runs in its place
	Untried  []string          `json:"untried,omitempty"` // settings that rules propose and that cannot act here, each with the reason
}

// Node is where ranks ran.
type Node struct {
	Host  string `json:"host"`
	Cores int    `json:"cores,omitzero"` // that its ranks may use; 0: unknown
	Ranks []int  `json:"ranks"`
}

const schema = "mpitx.tune.campaign"

// Files of a campaign's directory.
const (
	sessionFile = "campaign.json"
	journalFile = "runs.ndjson"
)

// JournalPath is the file of a campaign's outcomes.
func JournalPath(dir string) string { return filepath.Join(dir, journalFile) }

// Save writes the session into its directory.
func (s *Session) Save(dir string) error {
	s.Schema = schema
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	_, err = newfile.Write(filepath.Join(dir, sessionFile), "", newfile.Replace, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	return err
}

// Load reads the session of a directory.
func Load(dir string) (*Session, error) {
	text, err := os.ReadFile(filepath.Join(dir, sessionFile))
	if err != nil {
		return nil, err
	}
	var s Session
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, sessionFile), err)
	}
	if s.Schema != schema || s.Ranks < 1 || len(s.App) == 0 {
		return nil, fmt.Errorf("%s is not a campaign of mpitx tune", filepath.Join(dir, sessionFile))
	}
	return &s, nil
}

// Launcher is the word that starts the library's launcher.
func (s *Session) Launcher() string {
	return cmp.Or(s.Starter, map[string]string{machine.OpenMPI: "mpirun", machine.MPICH: "mpiexec"}[s.Family])
}

// Hides are the environment variables of the user that go before a file with settings.
func (s *Session) Hides(set []settings.NameValue) (names []string) {
	for _, n := range set {
		name := "OMPI_MCA_" + n.Name
		if value, is := s.Settings[name]; is && value != n.Value && s.Family == machine.OpenMPI {
			names = append(names, name)
		}
	}
	return names
}

// Where fills in the nodes of a run, and that ranks shared cores.
func (s *Session) Where(run *recording.Run, p *profile.Profile) {
	for _, r := range run.Ranks {
		k := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Host == r.Host })
		if k < 0 {
			k = len(s.Nodes)
			s.Nodes = append(s.Nodes, Node{Host: r.Host})
		}
		s.Nodes[k].Ranks = append(s.Nodes[k].Ranks, r.Rank)
	}
	if p.Processor == nil {
		return
	}
	if all := p.Processor.Shortages(); len(all) > 0 {
		s.Shortage = all[0].Text
	}
	for _, g := range p.Processor.Groups {
		for k := range s.Nodes {
			if s.Nodes[k].Host == g.Host {
				s.Nodes[k].Cores += g.Cores
			}
		}
	}
}

// Read takes from a run what a campaign compares and shows.
func Read(run *recording.Run) (o campaign.Outcome, err error) {
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		return o, err
	}
	if o.Time = p.Efficiency.Elapsed; o.Time <= 0 {
		return o, fmt.Errorf("the program's time between MPI_Init and MPI_Finalize is not known")
	}
	o.Calls, o.Algorithms = map[string]uint64{}, map[string]float64{}
	for _, f := range p.Functions {
		if f.Within == "" {
			o.Calls[f.Name] += f.Calls
		}
	}
	if p.Unlearned != "" {
		return o, nil
	}
	calls := map[string]uint64{}
	for _, a := range p.Algorithms {
		calls[a.Function] += a.Calls
	}
	for _, a := range p.Algorithms {
		o.Algorithms[a.Function+" by "+a.Text()] += 100 * float64(a.Calls) / float64(max(calls[a.Function], 1))
	}
	return o, nil
}

// KernelTime is the time of the application's collectives on a rank, from measurements of each.
func (s *Session) KernelTime(results []kernel.Result) (o campaign.Outcome) {
	for k, r := range results {
		u := &s.Kernel[k]
		if r.Error != "" || r.Skipped || r.Crashed || r.Median <= 0 {
			o.Failed = fmt.Sprintf("%s of %d bytes: %s", u.Function, u.Bytes, cmp.Or(r.Error, "was not measured"))
			return o
		}
		o.Time += time.Duration(r.Median * float64(u.Calls) / float64(max(u.Ranks, 1)))
	}
	return o
}

// Differing are the functions whose calls differ by more than 1 % between runs of the program as it is, with the fewest and the most.
func Differing(outcomes []campaign.Outcome) (all []string) {
	least, most := map[string]uint64{}, map[string]uint64{}
	for k, o := range outcomes {
		for name := range most {
			least[name] = min(least[name], o.Calls[name])
		}
		for name, n := range o.Calls {
			if _, seen := most[name]; !seen && k == 0 {
				least[name] = n
			}
			most[name] = max(most[name], n)
		}
	}
	for name, n := range most {
		if float64(n-least[name]) > 0.01*float64(n) {
			all = append(all, fmt.Sprintf("%s %d to %d", name, least[name], n))
		}
	}
	slices.Sort(all)
	return all
}

// Vacant reports why a directory cannot become that of a new campaign.
func Vacant(dir string) error { return newfile.Vacant(dir) }
