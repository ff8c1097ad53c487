package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/profile"
	"mpitx/text"
	"mpitx/tune/placement"
)

// Placement is one of the ranks with which fewer bytes of messages cross nodes. Each node has as many ranks as in the run.
type Placement struct {
	Hosts     []string // of each rank
	Moved     int      // how many ranks change their host
	Now, Then Traffic  // between nodes
	All       Traffic  // between ranks
	Bind      bool     // each rank may be bound to one core: as far as is known, there are enough, and no rank used more
}

// Traffic is point-to-point messages and one-sided operations.
type Traffic struct{ Messages, Bytes uint64 }

// mostPairs is how many pairs of ranks are searched at most: that takes some seconds.
const mostPairs = 5_000_000

// Placement looks for a better placement of the ranks. If it finds none, why says why not; unknown: because something is not known.
func (s *Subject) Placement() (better *Placement, why string, unknown bool) {
	if !s.placed.done {
		s.placed.done = true
		s.placed.better, s.placed.why, s.placed.unknown = s.place(s.Profile)
	}
	return s.placed.better, s.placed.why, s.placed.unknown
}

func (s *Subject) place(p *profile.Profile) (better *Placement, why string, unknown bool) {
	switch {
	case len(p.Cut.Ranks)+len(p.Cut.Phases)+len(p.Cut.Objects)+len(p.Cut.Functions) > 0:
		return nil, "the report covers a part of the run", false
	case len(p.Run.Nodes) < 2:
		return nil, "all ranks ran on one node", false
	case len(p.Pairs)+len(p.OneSided) == 0 && p.Others.MessagesSent+p.Others.MessagesReceived == 0:
		return nil, "ranks exchanged no messages", false
	}
	if why := s.uncertain(p); why != "" {
		return nil, why, true
	}
	numbers := map[*recording.Node]int{}
	for k, n := range p.Run.Nodes {
		numbers[n] = k
	}
	now := make([]int, len(p.Ranks))
	for _, r := range p.Ranks {
		now[r.Number] = numbers[r.Process.Node]
	}
	pairs := slices.Concat(p.Pairs, p.OneSided)
	traffic := make([]placement.Traffic, len(pairs))
	for k := range pairs {
		traffic[k] = placement.Traffic{A: pairs[k].Source, B: pairs[k].Destination, Bytes: pairs[k].Bytes()}
	}
	then := placement.NewGraph(len(now), traffic).Improve(now)
	if slices.Equal(then, now) {
		return nil, "the search found none", false
	}
	better = &Placement{Hosts: make([]string, len(now)), Bind: true}
	for rank, k := range then {
		if better.Hosts[rank] = p.Run.Nodes[k].Host; k != now[rank] {
			better.Moved++
		}
	}
	for k := range pairs {
		from, to := pairs[k].Source, pairs[k].Destination
		if from == to {
			continue
		}
		better.All.add(&pairs[k])
		if now[from] != now[to] {
			better.Now.add(&pairs[k])
		}
		if then[from] != then[to] {
			better.Then.add(&pairs[k])
		}
	}
	for _, r := range p.Ranks { // MPI_Init takes a while
		better.Bind = better.Bind && (r.Processor == nil || r.Processor.Time < r.Elapsed*5/4+time.Second)
	}
	for k := 0; p.Processor != nil && k < len(p.Processor.Groups); k++ {
		better.Bind = better.Bind && !p.Processor.Groups[k].Short()
	}
	return better, "", false
}

func (t *Traffic) add(p *profile.Pair) {
	t.Messages += p.Messages()
	t.Bytes += p.Bytes()
}

// uncertain says why it is not known where each rank ran, or what it sent; "" if it is.
func (s *Subject) uncertain(p *profile.Profile) string {
	switch {
	case s.Damaged:
		return "parts of the run are damaged"
	case p.Others.MessagesSent+p.Others.MessagesReceived > 0:
		return "ranks exchanged messages with other jobs"
	case len(p.Pairs)+len(p.OneSided) > mostPairs:
		return fmt.Sprintf("%d pairs of ranks are too many", len(p.Pairs)+len(p.OneSided))
	}
	size := 0
	for _, r := range p.Run.Ranks {
		size = max(size, r.Size)
	}
	for k, r := range p.Ranks {
		process := r.Process
		switch {
		case process.Spawned.First > 0:
			return "the program started other processes with MPI_Comm_spawn"
		case r.Number != k:
			return fmt.Sprintf("rank %d was not recorded", min(k, r.Number))
		case process.State != recording.StateEnded:
			return fmt.Sprintf("rank %d has not ended: %s", k, process.State)
		case r.Incomplete() != "":
			return fmt.Sprintf("rank %d: %s", k, r.Incomplete())
		case !placement.Writable(process.Host):
			return fmt.Sprintf("the host of rank %d has no usable name", k)
		}
	}
	if len(p.Ranks) != size || len(p.Run.Ranks) != size {
		return fmt.Sprintf("%d of %d ranks were recorded", len(p.Ranks), size)
	}
	for k, n := range p.Run.Nodes[1:] {
		if n.Host == p.Run.Nodes[k].Host {
			return fmt.Sprintf("two nodes have the name %s", n.Host)
		}
	}
	return ""
}

// timeWithMessages is the part of the run time in messages that a placement must be about.
const timeWithMessages = 0.02

// placement is the fact that another placement makes fewer bytes cross nodes: its part is that of all bytes between ranks.
func (s *Subject) placement() []fact {
	if share := s.inMessages() + s.oneSided(); share >= timeWithMessages {
		if better, _, _ := s.Placement(); better != nil {
			part := float64(better.Now.Bytes-better.Then.Bytes) / float64(better.All.Bytes)
			return []fact{{name: "placement", part: part, share: share, words: better.words(s.Profile.Run.Ranks[0].Library),
				figures: finding.Figures{"crossing_bytes": float64(better.Now.Bytes), "crossing_bytes_then": float64(better.Then.Bytes), "crossing_messages": float64(better.Now.Messages),
					"crossing_messages_then": float64(better.Then.Messages), "bytes": float64(better.All.Bytes), "moved_ranks": float64(better.Moved)}}}
		}
	}
	return nil
}

// oneSided is the part of the time in one-sided operations and their synchronization.
func (s *Subject) oneSided() (share float64) {
	if len(s.Profile.OneSided) == 0 {
		return 0
	}
	for _, f := range s.Profile.Functions {
		name := strings.ToLower(f.Name)
		for _, start := range []string{"mpi_win_", "mpi_put", "mpi_get", "mpi_rput", "mpi_rget", "mpi_accumulate", "mpi_raccumulate", "mpi_fetch", "mpi_compare"} {
			if f.Within == "" && strings.HasPrefix(name, start) {
				share += s.Profile.Share(f.Time)
				break
			}
		}
	}
	return share
}

// words are for the sentences of rules.
func (b *Placement) words(library string) map[string]string {
	bytes := func(t Traffic) string { return text.Amount(float64(t.Bytes), "B") }
	return map[string]string{"bytes": bytes(b.All), "now": bytes(b.Now), "then": bytes(b.Then), "messages": fmt.Sprint(b.Now.Messages), "messages then": fmt.Sprint(b.Then.Messages),
		"ranks": text.Count(b.Moved, "rank"), "form": b.Form(library)}
}

// The forms of a placement for launchers: see [placement.Rankfile], [placement.Hosts] and [placement.Rankmap].
const (
	FormRankfile = "rankfile"
	FormHosts    = "hosts"
	FormRankmap  = "rankmap"
)

// Form is the one for the launcher of a library, which says this of itself. A rankfile of Open MPI binds each rank to a core. Hydra of
// MPICH 4.2 starts other ranks than its map of ranks says; that of 5.0 is right.
func (b *Placement) Form(library string) string {
	switch release := mpichRelease(library); {
	case isOpenMPI(library) && b.Bind:
		return FormRankfile
	case release >= 5:
		return FormRankmap
	}
	return FormHosts
}

// Launch is how the launcher of a library reads a file of this form: its options, and what else follows; "": nothing.
func Launch(library, form, file string) (options, but string) {
	switch {
	case form == FormRankmap:
		return "$(cat " + file + ")", ""
	case form == FormHosts && isOpenMPI(library):
		return "--map-by seq --bind-to none --hostfile " + file, "" // if it binds, it needs a core for each rank
	case form == FormHosts:
		return "-f " + file, "but Hydra takes each line for a node of its own: MPI_Comm_split_type with MPI_COMM_TYPE_SHARED then finds each rank alone"
	case strings.HasPrefix(library, openMPI+"4."):
		return "--rankfile " + file, ""
	}
	return "--map-by rankfile:file=" + file, ""
}

const openMPI = "Open MPI v"

func isOpenMPI(library string) bool { return strings.HasPrefix(library, openMPI) }

// mpichRelease is the first number of MPICH's version; 0: it is another library.
func mpichRelease(library string) (n int) {
	if _, version, ok := strings.Cut(library, "MPICH Version:"); ok {
		fmt.Sscan(version, &n)
	}
	return n
}
