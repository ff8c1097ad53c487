package paths

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"mpitx/recording"
)

// job is processes on nodes, what was seen in each, and their paths.
type job struct {
	run    *recording.Run
	reader Reader
}

func newJob(hosts ...string) *job {
	j := &job{run: &recording.Run{}}
	nodes := map[string]*recording.Node{}
	for i, host := range hosts {
		if nodes[host] == nil {
			nodes[host] = &recording.Node{Host: host}
		}
		table := &recording.Table{}
		table.Name = Table
		r := &recording.Rank{Rank: i, PID: 100 + i, Host: host, Node: nodes[host], Tables: []*recording.Table{table}, State: recording.StateEnded}
		j.run.Ranks = append(j.run.Ranks, r)
		j.reader.processes = append(j.reader.processes, &process{r, map[string][]seen{}})
		j.see(i, seen{Kind: "end", Name: "finalize"}, seen{Kind: "process", Name: "pid:[1]"}, seen{Kind: "follows", Name: "process_vm_readv"})
	}
	return j
}

func (j *job) see(rank int, all ...seen) {
	for _, s := range all {
		j.reader.processes[rank].seen[s.Kind] = append(j.reader.processes[rank].seen[s.Kind], s)
	}
}

func (j *job) path(t *testing.T) *Path {
	t.Helper()
	all := j.reader.Paths(j.run, func(add func(a, b int, messages, bytes uint64)) { add(0, 1, 10, 1000) })
	for _, p := range all {
		if p.A == 0 && p.B == 1 {
			return p
		}
	}
	t.Fatalf("no path: %+v", all)
	return nil
}

const shared = `lane[0]:  3:sysv/memory.0 md[2]           -> md[2]/sysv/sysdev[255] am am_bw#0
lane[1]:  4:posix/memory.0 md[3]          -> md[3]/posix/sysdev[255]
lane[2]:  5:cma/memory.0 md[4]            -> md[4]/cma/sysdev[255] rma_bw#0
tag_send: 0..<egr/short>..93..<egr/bcopy>..8256..<rndv>..(inf)
`

func TestLanes(t *testing.T) {
	for description, want := range map[string][]Carrier{
		shared: {{UCX, "sysv", "", Small, 8256}, {UCX, "cma", "", Large, 8256}},
		"lane[0]:  6:tcp/eth0.0 md[1] -> md[1]/tcp/sysdev[255] rma_bw#0 am am_bw#0 wireup\ntag_send: 0..<egr/short>..8185..<egr/zcopy>..524288..<rndv>..(inf)\n": {{UCX, "tcp", "eth0", All, 524288}},
		"lane[0]: 1:rc_mlx5/mlx5_0:1.0 md[4] -> md[4]/ib/sysdev[0] rma_bw#0 am am_bw#0\nlane[1]: 2:rc_mlx5/mlx5_1:1.0 md[5] -> md[5]/ib/sysdev[0] rma_bw#1\n": {
			{UCX, "rc_mlx5", "mlx5_0:1", Small, 0}, {UCX, "rc_mlx5", "mlx5_1:1", Large, 0}},
		"lane[0]: 3:sysv/memory.0 md[2] -> md[2]/sysv/sysdev[255] am am_bw#0\nlane[1]: 5:cma/memory.0 md[4] -> md[4]/cma/sysdev[255] rma_bw#0\ntag_send: 0..<egr/short>..93..<egr/bcopy>..(inf)\n": {{UCX, "sysv", "", All, 0}},
		"lane[0]: 4:posix/memory.0 md[3] -> md[3]/posix/sysdev[255]\n": nil,
		"lane[": nil, "lane[0]: x\ntag_send: <rndv>": nil, "": nil,
	} {
		if got := lanes(description); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", description, got, want)
		}
	}
}

func FuzzLanes(f *testing.F) {
	f.Add(shared)
	f.Add("lane[0]: 1:a/b.c. -> x am#\ntag_send: ..<rndv>..")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range lanes(s) {
			if c.Use == "" || strings.ContainsAny(c.Transport, " \n") {
				t.Errorf("%+v of %q", c, s)
			}
		}
	})
}

// What two processes saw, and what follows from it: nothing that was not seen.
func TestConclusions(t *testing.T) {
	both := func(host string, all ...seen) func(*job) {
		return func(j *job) { j.see(0, all...); j.see(1, all...) }
	}
	for name, c := range map[string]struct {
		hosts string
		see   func(*job)
		text  string
		check func(*Path) bool
	}{
		"nothing": {"a a", func(*job) {}, "unknown: the library shows nothing: it is linked with its transports, or uses libfabric", nil},
		"died":    {"a a", func(j *job) { delete(j.reader.processes[1].seen, "end") }, "unknown: a rank ended without MPI_Finalize", nil},
		"btl": {"a a", func(j *job) {
			j.see(0, seen{Kind: "pml", Name: "ob1"}, seen{Kind: "eager", Name: "vader", Rank: 1}, seen{Kind: "send", Name: "vader", Rank: 1})
		}, "BTL vader", nil},
		"two btls": {"a b", func(j *job) {
			j.see(0, seen{Kind: "pml", Name: "ob1"}, seen{Kind: "eager", Name: "tcp", Rank: 1}, seen{Kind: "send", Name: "openib", Rank: 1})
		}, "BTL tcp, large messages openib", nil},
		"unused": {"a a", func(j *job) { j.see(0, seen{Kind: "pml", Name: "ucx"}, seen{Kind: "eager", Name: "vader", Rank: 1}) }, "unknown: the PML component ucx shows nothing", nil},
		"ob1":    {"a a", both("", seen{Kind: "pml", Name: "ob1"}), "unknown: Open MPI's tables were not understood", nil},
		"mtl":    {"a b", both("", seen{Kind: "pml", Name: "cm"}, seen{Kind: "mtl", Name: "psm2"}), "MTL psm2", nil},
		"ucx": {"a a", func(j *job) {
			j.see(1, seen{Kind: "worker", ID: 7})
			j.see(0, seen{Kind: "endpoint", Name: shared, Peer: 7, Count: 12})
		}, "UCX sysv, large messages cma", func(p *Path) bool { return p.Operations == 12 && p.Copies.Calls == 0 }},
		"ucx to another": {"a a", func(j *job) { j.see(0, seen{Kind: "endpoint", Name: shared, Peer: 8, Count: 12}) }, "unknown: the library shows nothing: it is linked with its transports, or uses libfabric", nil},
		"library":        {"a a", both("", seen{Kind: "endpoint", Name: shared, Peer: 8, Count: 1}, seen{Kind: "memory", Name: "/dev/shm/mpich", ID: 3}), "shared memory of the library", nil},
		"mapped":         {"a a", both("", seen{Kind: "memory", Name: "/dev/shm/mpich", ID: 3}), "unknown: both ranks have mapped the same memory, but nothing shows whether messages went through it", nil},
		"mapped elsewhere": {"a b", both("", seen{Kind: "endpoint", Name: shared, Peer: 8, Count: 1}, seen{Kind: "memory", Name: "/dev/shm/mpich", ID: 3}),
			"unknown: the library shows nothing: it is linked with its transports, or uses libfabric", nil},
		"sockets": {"a b", func(j *job) {
			j.see(0, seen{Kind: "socket", Name: "1.1.1.1:5 1.1.1.2:6 e0", Received: 10, Count: 3, Failed: 1}, seen{Kind: "socket", Name: "1.1.1.1:9 1.1.1.9:9 e0", Received: 99})
			j.see(1, seen{Kind: "socket", Name: "1.1.1.2:6 1.1.1.1:5 e1", Received: 20, Count: 4})
		}, "tcp", func(p *Path) bool {
			return p.Sockets.Bytes == 30 && p.Sockets.Count == 1 && p.Sockets.Retransmitted == 1 && p.Sockets.Segments == 7 && fmt.Sprint(p.Devices()) == "[e0 e1]"
		}},
		"copies": {"a a", func(j *job) { j.see(1, seen{Kind: "read", Peer: 100, Count: 3, Received: 30, Failed: 1, Code: 1}) },
			"unknown: the library shows nothing: it is linked with its transports, or uses libfabric",
			func(p *Path) bool { return p.Copies == Copies{3, 30, 1, "operation not permitted"} && p.CopiesFollowed }},
		"copies on another node": {"a b", func(j *job) { j.see(1, seen{Kind: "read", Peer: 100, Count: 3}) }, "", func(p *Path) bool { return p.Copies.Calls == 0 }},
		"copies in another space": {"a a", func(j *job) {
			j.reader.processes[0].seen["process"][0].Name = "pid:[2]"
			j.see(1, seen{Kind: "read", Peer: 100, Count: 3})
		}, "", func(p *Path) bool { return p.Copies.Calls == 0 }},
		"copies by another module": {"a a", func(j *job) { j.see(1, seen{Kind: "device", Name: "/dev/xpmem"}) }, "", func(p *Path) bool { return !p.CopiesFollowed }},
		"faster": {"a b", func(j *job) {
			both("", seen{Kind: "interface", Name: "eth0", Code: 1000}, seen{Kind: "interface", Name: "ib0", Code: 100000})(j)
			j.see(0, seen{Kind: "socket", Name: "1.1.1.1:5 1.1.1.2:6 eth0", Received: 10})
			j.see(1, seen{Kind: "socket", Name: "1.1.1.2:6 1.1.1.1:5 eth0", Received: 20})
		}, "tcp", func(p *Path) bool { return p.Faster == "ib0 (100 Gbit/s)" }},
		"faster on one": {"a b", func(j *job) {
			both("", seen{Kind: "interface", Name: "eth0", Code: 1000})(j)
			j.see(0, seen{Kind: "interface", Name: "ib0", Code: 100000}, seen{Kind: "socket", Name: "1.1.1.1:5 1.1.1.2:6 eth0", Received: 10})
			j.see(1, seen{Kind: "socket", Name: "1.1.1.2:6 1.1.1.1:5 eth0", Received: 20})
		}, "tcp", func(p *Path) bool { return p.Faster == "" }},
		"unknown speed": {"a b", func(j *job) {
			both("", seen{Kind: "interface", Name: "eth0"}, seen{Kind: "interface", Name: "ib0", Code: 100000})(j)
			j.see(0, seen{Kind: "socket", Name: "1.1.1.1:5 1.1.1.2:6 eth0", Received: 10})
			j.see(1, seen{Kind: "socket", Name: "1.1.1.2:6 1.1.1.1:5 eth0", Received: 20})
		}, "tcp", func(p *Path) bool { return p.Faster == "" }},
	} {
		j := newJob(strings.Fields(c.hosts)...)
		c.see(j)
		p := j.path(t)
		text := p.Text()
		if p.Unknown != "" {
			text += ": " + p.Unknown
		}
		if c.text != "" && text != c.text || c.check != nil && !c.check(p) || p.Messages != 10 || p.Bytes != 1000 {
			t.Errorf("%s: %s, want %s: %+v", name, text, c.text, p)
		}
	}
	if none := (&Reader{}).Paths(&recording.Run{}, nil); none != nil {
		t.Errorf("of nothing: %+v", none)
	}
}

// The same run has the same evidence, in the same order.
func TestOrder(t *testing.T) {
	for range 20 { // a wrong order may be right by chance
		j := newJob("a", "a")
		j.see(1, seen{Kind: "write", Peer: 100, Count: 1}, seen{Kind: "read", Peer: 100, Count: 1})
		want := "[rank 1 called process_vm_readv rank 1 called process_vm_writev]"
		if got := fmt.Sprint(j.path(t).Evidence); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
