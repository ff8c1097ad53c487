package advice

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
	"mpitx/tune/placement"
)

// exchange adds a message from a rank to another one, with its kilobytes.
func exchange(p *profile.Profile, all ...[3]int) *profile.Profile {
	p.Run.Ranks[0].Library = "Open MPI v4.1.4"
	for _, m := range all {
		p.Pairs = append(p.Pairs, profile.Pair{Source: m[0], Destination: m[1], MessagesSent: 1, BytesSent: uint64(m[2]) * 1000, SourceKnown: true})
	}
	return p
}

// apart is a run whose pairs of ranks are on different nodes.
func apart() *profile.Profile {
	return exchange(job(2, []string{"a", "b"}, map[string]time.Duration{"MPI_Send": time.Second}), [3]int{0, 1, 100}, [3]int{2, 3, 100}, [3]int{1, 2, 1}, [3]int{0, 0, 500})
}

// said is what the rules say of the placement of a run.
func said(p *profile.Profile) string {
	for _, proposal := range (&Subject{Profile: p, Family: machine.OpenMPI}).Propose(OwnRules()) {
		if proposal.Rule.Name == "placement of ranks" {
			return proposal.Text + "; " + proposal.Look
		}
	}
	return ""
}

func TestPlacement(t *testing.T) {
	want := "201.0 kB of 201.0 kB between ranks crossed nodes, in 3 messages; with 2 ranks on other nodes, 1.000 kB in 1 messages would; mpitx report RUN advice -o rankfile --out ranks.rankfile"
	if got := said(apart()); got != want {
		t.Errorf("%s", got)
	}
	s := &Subject{Profile: apart(), Family: machine.OpenMPI}
	better, _, _ := s.Placement()
	if again, _, _ := s.Placement(); again != better || !slices.Equal(better.Hosts, []string{"a", "a", "b", "b"}) || better.Moved != 2 {
		t.Errorf("%+v", better)
	}
	both := apart() // one-sided operations count as well
	both.OneSided = []profile.Pair{{Source: 0, Destination: 2, MessagesSent: 1, BytesSent: 1e6, OneSided: true}, {Source: 1, Destination: 3, MessagesReceived: 1, BytesReceived: 1e6, OneSided: true}}
	if got := said(both); got != "" {
		t.Errorf("one-sided operations inside of nodes: %s", got)
	}
	puts := job(2, []string{"a", "b"}, map[string]time.Duration{"MPI_Win_fence": time.Second})
	puts.OneSided, puts.Total.BytesOut = []profile.Pair{{Source: 0, Destination: 1, MessagesSent: 1, BytesSent: 1e6, OneSided: true}}, 1e6
	if got := said(puts); !strings.HasPrefix(got, "1.000 MB of 1.000 MB") {
		t.Errorf("one-sided operations: %s", got)
	}
}

// Nothing is said if nothing, or little, is gained; or if something is not known, which is named.
func TestNoPlacement(t *testing.T) {
	times := map[string]time.Duration{"MPI_Send": time.Second}
	two := []string{"a", "b"}
	all := func(kilobytes int) (all [][3]int) {
		for a := range 4 {
			for b := range 4 {
				all = append(all, [3]int{a, b, kilobytes})
			}
		}
		return all
	}
	changed := func(change func(p *profile.Profile)) *profile.Profile {
		p := apart()
		change(p)
		return p
	}
	if _, why, unknown := (&Subject{Profile: apart(), Damaged: true}).Placement(); why != "parts of the run are damaged" || !unknown {
		t.Errorf("damaged: %q", why)
	}
	for name, c := range map[string]struct {
		run *profile.Profile
		why string // "?…": not known
	}{
		"pairs that are together": {exchange(job(2, two, times), [3]int{0, 2, 100}, [3]int{1, 3, 100}, [3]int{0, 1, 1}), "the search found none"},
		"ring":                    {exchange(job(2, two, times), [3]int{0, 2, 9}, [3]int{2, 1, 9}, [3]int{1, 3, 9}, [3]int{3, 0, 9}), "the search found none"},
		"all with all":            {exchange(job(2, two, times), all(10)...), "the search found none"},
		"little is gained":        {exchange(job(2, two, times), append(all(100), [3]int{0, 1, 30}, [3]int{2, 3, 30})...), ""},
		"little time":             {exchange(job(2, two, map[string]time.Duration{"MPI_Send": 10 * time.Millisecond}), [3]int{0, 1, 100}, [3]int{2, 3, 100}), ""},
		"one node":                {exchange(job(4, []string{"a"}, times), [3]int{0, 1, 100}), "all ranks ran on one node"},
		"a rank a node":           {exchange(job(4, []string{"a", "b", "c", "d"}, times), [3]int{0, 1, 100}), "the search found none"},
		"no messages":             {job(2, two, times), "ranks exchanged no messages"},
		"a part":                  {changed(func(p *profile.Profile) { p.Cut.Phases = []string{"solve"} }), "the report covers a part of the run"},
		"a rank is lost":          {changed(func(p *profile.Profile) { p.Ranks, p.Run.Ranks = p.Ranks[:3], p.Run.Ranks[:3] }), "?3 of 4 ranks were recorded"},
		"another rank is lost": {changed(func(p *profile.Profile) {
			p.Ranks, p.Run.Ranks = slices.Delete(p.Ranks, 1, 2), slices.Delete(p.Run.Ranks, 1, 2)
		}), "?rank 1 was not recorded"},
		"killed":                       {changed(func(p *profile.Profile) { p.Run.Ranks[2].State = recording.StateDied }), "?rank 2 has not ended: died"},
		"running":                      {changed(func(p *profile.Profile) { p.Run.Ranks[0].State = recording.StateRunning }), "?rank 0 has not ended: running"},
		"no room":                      {changed(func(p *profile.Profile) { p.Run.Ranks[1].Counters.LostRows = 2 }), "?rank 1: the agent had no room for all of its tables"},
		"no host":                      {changed(func(p *profile.Profile) { p.Run.Ranks[1].Host = "" }), "?the host of rank 1 has no usable name"},
		"a host with a strange name":   {changed(func(p *profile.Profile) { p.Run.Ranks[1].Host = "b slot=0\nrank 7=c" }), "?the host of rank 1 has no usable name"},
		"two nodes of one name":        {changed(func(p *profile.Profile) { p.Run.Nodes[1].Host = "a" }), "?two nodes have the name a"},
		"spawned":                      {changed(func(p *profile.Profile) { p.Run.Ranks[3].Spawned.First = 3 }), "?the program started other processes with MPI_Comm_spawn"},
		"messages with another job":    {changed(func(p *profile.Profile) { p.Others.MessagesSent = 1 }), "?ranks exchanged messages with other jobs"},
		"more processes than ranks":    {changed(func(p *profile.Profile) { p.Run.Ranks = append(p.Run.Ranks, &recording.Rank{Rank: -1}) }), "?4 of 4 ranks were recorded"},
		"more pairs than are searched": {changed(func(p *profile.Profile) { p.Pairs = make([]profile.Pair, mostPairs+1) }), "?5000001 pairs of ranks are too many"},
	} {
		better, why, unknown := (&Subject{Profile: c.run}).Placement()
		if unknown {
			why = "?" + why
		}
		if why != c.why || (better == nil) != (c.why != "") {
			t.Errorf("%s: %+v, %q", name, better, why)
		}
		if got := said(c.run); got != "" {
			t.Errorf("%s: said: %s", name, got)
		}
	}
}

// A rankfile binds each rank to one core, which must be enough.
func TestForm(t *testing.T) {
	const ompi4, ompi5 = "Open MPI v4.1.4, package: Debian OpenMPI", "Open MPI v5.0.7, package: Debian OpenMPI"
	const mpich4, mpich5 = "MPICH Version:\t4.0.2\nMPICH Release date:", "MPICH Version:      5.0.2\n"
	form := func(change func(p *profile.Profile), library string) string {
		p := apart()
		change(p)
		better, _, _ := (&Subject{Profile: p}).Placement()
		return better.Form(library)
	}
	enough := func(p *profile.Profile) {}
	short := func(p *profile.Profile) { p.Processor.Groups[1].Cores = 1 }
	threads := func(p *profile.Profile) { p.Ranks[2].Processor = &processor.Rank{Time: 5 * time.Second} }
	unknown := func(p *profile.Profile) { p.Processor = nil }
	got := []string{form(enough, ompi4), form(unknown, ompi5), form(short, ompi5), form(threads, ompi4), form(enough, mpich4), form(enough, mpich5), form(enough, "")}
	if !slices.Equal(got, []string{FormRankfile, FormRankfile, FormHosts, FormHosts, FormHosts, FormRankmap, FormHosts}) {
		t.Errorf("%q", got)
	}
	for _, c := range [][3]string{
		{ompi4, FormRankfile, "--rankfile f"}, {ompi5, FormRankfile, "--map-by rankfile:file=f"}, {ompi5, FormHosts, "--map-by seq --bind-to none --hostfile f"},
		{mpich4, FormHosts, "-f f"}, {mpich5, FormRankmap, "$(cat f)"},
	} {
		if got, but := Launch(c[0], c[1], "f"); got != c[2] || (but != "") != (c[0] == mpich4) {
			t.Errorf("%q: %s; %s", c, got, but)
		}
	}
	var rankfile, hosts, rankmap bytes.Buffer
	placement.Rankmap(&rankmap, []string{"b", "a", "b", "b"})
	if rankmap.String() != "-hosts b:3,a:1 -rankmap 0,1,0,0\n" {
		t.Errorf("%s", rankmap.String())
	}
	placement.Rankfile(&rankfile, []string{"a", "b", "a"}, "about")
	placement.Hosts(&hosts, []string{"a", "b", "a"})
	if rankfile.String() != "# about\nrank 0=a slot=0\nrank 1=b slot=0\nrank 2=a slot=1\n" || hosts.String() != "a\nb\na\n" {
		t.Errorf("%s%s", rankfile.String(), hosts.String())
	}
}
