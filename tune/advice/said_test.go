package advice

import (
	"slices"
	"testing"
	"time"

	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/recording/paths"
	"mpitx/recording/processor"
	"mpitx/recording/profile"
)

// job is a run of 4 ranks for a second each, with times in functions of the whole job, on hosts with a number of cores.
func job(cores int, hosts []string, times map[string]time.Duration) *profile.Profile {
	p := &profile.Profile{Run: &recording.Run{}, Processor: &processor.Processor{}}
	for _, host := range hosts {
		p.Run.Nodes = append(p.Run.Nodes, &recording.Node{Host: host})
	}
	for rank := range 4 {
		host := hosts[rank%len(hosts)]
		process := &recording.Rank{Rank: rank, Size: 4, Host: host, Node: p.Run.Nodes[rank%len(hosts)], State: recording.StateEnded}
		p.Run.Ranks = append(p.Run.Ranks, process)
		p.Ranks = append(p.Ranks, &profile.Rank{Number: rank, Process: process, Elapsed: time.Second, Threads: 1})
	}
	for _, host := range hosts {
		p.Processor.Groups = append(p.Processor.Groups, processor.Group{Host: host, Cores: cores, Ranks: make([]*processor.Rank, 4/len(hosts))})
	}
	for name, d := range times {
		f := &profile.Function{Name: name}
		if f.Time = d; name == "MPI_Send" {
			f.MessagesSent = 100
			sizes := &profile.Sizes{Function: name}
			sizes.Messages[4], sizes.Messages[20] = 50, 50
			p.Sizes = append(p.Sizes, sizes)
			p.Paths = []*paths.Path{{A: 0, B: 1, Messages: 100, Carriers: []paths.Carrier{{Transport: "tcp", Limit: 65536}}}}
		}
		p.Total.MessagesSent += f.MessagesSent
		p.Functions = append(p.Functions, f)
	}
	return p
}

// bound is a run each of whose ranks has a core of its own.
func bound(p *profile.Profile) *profile.Profile {
	g := p.Processor.Groups[0]
	p.Processor.Groups = nil
	for range 4 {
		p.Processor.Groups = append(p.Processor.Groups, processor.Group{Host: g.Host, Cores: 1, Ranks: g.Ranks[:1]})
	}
	return p
}

// carried is a run whose messages another transport carried.
func carried(p *profile.Profile, transport string) *profile.Profile {
	p.Paths[0].Carriers[0].Transport = transport
	return p
}

// late is a run in whose calls of MPI_Allreduce ranks waited for others for a time, mostly for rank 3 or for different ones.
func late(p *profile.Profile, waited time.Duration, last int) *profile.Profile {
	p.Functions[0].Calls = 80
	p.Arrivals = []*profile.Arrivals{{Function: "MPI_Allreduce", Observed: 20, Waited: waited, Covered: 80, Ranks: []profile.Latecomer{{Rank: 3, TookPart: 20, Last: last, Chance: 0.25}}}}
	return p
}

// slow is a run in which rank 1 waits in MPI_Recv for rank 0, which is in MPI for a time.
func slow(p *profile.Profile, waits, sender time.Duration) *profile.Profile {
	p.Functions = append(p.Functions, &profile.Function{Name: "MPI_Recv", Totals: profile.Totals{Time: waits, MessagesReceived: 100}, Waits: []profile.Wait{{Rank: p.Ranks[1], For: 0, Time: waits}}})
	p.Ranks[0].InMPI = sender
	return p
}

// copied is a run of messages in shared memory, of which single copies carried some.
func copied(p *profile.Profile, calls uint64) *profile.Profile {
	path := carried(p, "vader").Paths[0]
	path.OneNode, path.CopiesFollowed, path.Bytes = true, true, 100e6
	path.Copies = paths.Copies{Calls: calls, Bytes: calls * 1e6}
	return p
}

// Each rule is said of a run that shows what it asks for, and of none that lacks a part of it.
func TestSaid(t *testing.T) {
	one, two := []string{"a"}, []string{"a", "b"}
	apart := exchange(job(2, two, map[string]time.Duration{"MPI_Send": time.Second}), [3]int{0, 1, 100}, [3]int{2, 3, 100})
	type times = map[string]time.Duration
	said := map[string]bool{}
	for _, c := range []struct {
		name       string
		run        *profile.Profile
		findings   []string
		unexpected float64
		numa       int
		say, not   []string
	}{
		{name: "no communication", run: job(2, one, times{"MPI_Comm_rank": time.Second}), findings: []string{"late arrival", "processor"}, not: []string{"*"}},
		{name: "short collectives", run: job(4, one, times{"MPI_Allreduce": 40 * time.Millisecond}), not: []string{"*"}},
		{name: "nonblocking collectives", run: job(4, one, times{"MPI_Iallreduce": time.Second}), not: []string{"*"}},
		{name: "collectives on one node", run: job(4, one, times{"MPI_Allreduce": time.Second}),
			say: []string{"collective algorithm", "segments of collectives", "shared memory for collectives", "algorithm of the device"}, not: []string{"collectives by node first", "algorithm of two ranks", "binding", "eager limit"}},
		{name: "collectives on two nodes", run: job(4, two, times{"MPI_Bcast": time.Second}), say: []string{"collectives by node first"}, not: []string{"shared memory for collectives", "connections of TCP"}},
		{name: "messages on one node", run: job(8, one, times{"MPI_Send": time.Second}),
			say: []string{"binding to cores", "engine of messages", "eager limit", "length of fragments", "single copies", "cells of shared memory", "progress thread", "rendezvous of UCX"},
			not: []string{"binding", "ranks by NUMA node", "ranks by node", "transports of UCX on a node", "rendezvous of UCX in memory", "registered memory", "several network cards", "connections of TCP", "collective algorithm", "waiting ranks give up their core"}},
		{name: "messages on two nodes", run: job(2, two, times{"MPI_Send": time.Second}), say: []string{"registered memory", "several network cards", "connections of TCP", "ranks by node"}, not: []string{"cells of shared memory", "progress thread", "placement of ranks"}},
		{name: "bound ranks", run: bound(job(1, one, times{"MPI_Send": time.Second})), say: []string{"binding"}, not: []string{"binding to cores"}},
		{name: "ranks on too few cores", run: job(2, one, times{"MPI_Send": time.Second}), not: []string{"binding", "binding to cores"}},
		{name: "several NUMA nodes", run: job(8, one, times{"MPI_Send": time.Second}), numa: 2, say: []string{"ranks by NUMA node"}},
		{name: "several NUMA nodes and too few cores", run: job(2, one, times{"MPI_Send": time.Second}), numa: 2, not: []string{"ranks by NUMA node"}},
		{name: "single copies", run: copied(job(8, one, times{"MPI_Send": time.Second}), 50), say: []string{"eager limit"}, not: []string{"length of fragments"}},
		{name: "some single copies", run: copied(job(8, one, times{"MPI_Send": time.Second}), 10), say: []string{"eager limit", "length of fragments"}},
		{name: "messages in memory", run: carried(job(8, one, times{"MPI_Send": time.Second}), "sysv"), say: []string{"rendezvous of UCX in memory"}},
		{name: "pairs on two nodes", run: apart, say: []string{"placement of ranks"}},
		{name: "few cores", run: job(2, one, times{"MPI_Barrier": time.Millisecond}), say: []string{"waiting ranks give up their core"}, not: []string{"progress thread", "collective algorithm"}},
		{name: "unexpected", run: job(4, one, times{"MPI_Send": time.Millisecond}), unexpected: 0.5, say: []string{"unexpected messages"}, not: []string{"binding"}},
		{name: "few unexpected", run: job(4, one, times{"MPI_Send": time.Millisecond}), unexpected: 0.1, not: []string{"unexpected messages"}},
		{name: "a late rank", run: late(job(4, one, times{"MPI_Allreduce": 2 * time.Second}), 1800*time.Millisecond, 19), findings: []string{"late arrival"},
			say: []string{"waiting for late ranks"}, not: []string{"late ranks", "collective algorithm", "algorithm of the device", "shared memory for collectives"}},
		{name: "different late ranks", run: late(job(4, one, times{"MPI_Allreduce": 2 * time.Second}), 1500*time.Millisecond, 6),
			say: []string{"collective algorithm"}, not: []string{"waiting for late ranks"}},
		{name: "collectives that are short without late ranks", run: late(job(4, one, times{"MPI_Allreduce": time.Second}), 950*time.Millisecond, 6),
			say: []string{"waiting for late ranks"}, not: []string{"collective algorithm"}},
		{name: "a late sender", run: slow(job(8, one, times{"MPI_Send": 10 * time.Millisecond}), 950*time.Millisecond, 20*time.Millisecond),
			say: []string{"waiting for late ranks"}, not: []string{"eager limit", "rendezvous of UCX", "binding to cores", "engine of messages"}},
		{name: "a sender in MPI", run: slow(job(8, one, times{"MPI_Send": 10 * time.Millisecond}), 950*time.Millisecond, 980*time.Millisecond),
			say: []string{"eager limit", "rendezvous of UCX", "binding to cores"}, not: []string{"waiting for late ranks"}},
		{name: "findings", run: job(4, one, times{"MPI_Barrier": time.Millisecond}), findings: []string{"tcp on one node", "double copy", "slow interface", "late arrival", "processor", "single copy refused"},
			say: []string{"transports on a node", "transports of UCX on a node", "shared memory", "single copies", "faster interface", "late ranks", "missing cores", "refused copies"}},
		{name: "other findings", run: job(4, one, times{"MPI_Barrier": time.Millisecond}), findings: []string{"waiting", "sleep"}, not: []string{"*"}},
	} {
		var got []string
		for _, family := range []string{machine.OpenMPI, machine.MPICH} {
			s := Subject{Profile: c.run, Family: family, Unexpected: c.unexpected, NUMANodes: c.numa}
			for _, kind := range c.findings {
				s.Findings = append(s.Findings, finding.Finding{Kind: kind, Subject: "MPI_Allreduce: a.c:1", Share: 0.5, Text: kind})
			}
			for _, p := range s.Propose(OwnRules()) {
				got = append(got, p.Rule.Name)
				said[family+" "+p.Rule.Name] = true
			}
		}
		for _, name := range c.say {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %q is not said, only %q", c.name, name, got)
			}
		}
		for _, name := range c.not {
			if slices.Contains(got, name) || name == "*" && len(got) > 0 {
				t.Errorf("%s: said: %q", c.name, got)
			}
		}
	}
	pair := job(4, one, times{"MPI_Barrier": time.Second})
	pair.Ranks = pair.Ranks[:2]
	for _, p := range (&Subject{Profile: pair, Family: machine.OpenMPI}).Propose(OwnRules()) {
		said[machine.OpenMPI+" "+p.Rule.Name] = true
	}
	for _, r := range OwnRules() {
		for _, family := range r.Families {
			if r.Ifs[0].Fact != "setting" && !said[family+" "+r.Name] { // TestSetting
				t.Errorf("no run here has the advice %q of %s", r.Name, family)
			}
		}
	}
}
