//go:build cgo && linux

package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

// grown are the totals of a run, by variable and rank.
func (f *onFamily) grown(dir string, globs ...string) map[string]map[int]float64 {
	f.Helper()
	p := f.run(append([]string{"mpitx", "report", dir, "samples", "--by-rank", "-o", "csv"}, globs...)...)
	rows, err := csv.NewReader(strings.NewReader(p.stdout.String())).ReadAll()
	if err != nil || p.code != 0 || len(rows) == 0 {
		f.Fatalf("%v\n%s", err, p.output())
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	all := map[string]map[int]float64{}
	for _, row := range rows[1:] {
		name := row[column["variable"]]
		rank, _ := strconv.Atoi(row[column["rank"]])
		value, err := strconv.ParseFloat(row[column["max"]], 64)
		if err != nil {
			f.Errorf("%v: %v", row, err)
		}
		if all[name] == nil {
			all[name] = map[int]float64{}
		}
		all[name][rank] = value
	}
	return all
}

// A program that does known things: only the rank that does them has them in its samples. What the node's processes share is in those of its
// lowest rank only.
func TestNode(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", "testdata/node/known.c")
		f.launch("record", "--dir", "known", "--pvar", "mpitx:os/*", "--pvar", "mpitx:net/*", "--pvar", "mpitx:calls", "--", program)
		all := f.grown("known")
		for name, want := range map[string][2]float64{"mpitx:os/page_faults_minor": {1, 4096}, "mpitx:os/resident_memory": {1, 4096 * 4096}, "mpitx:net/tcp/segments_sent": {2, 1000}} {
			of := all[name]
			if len(of) != 4 {
				f.Errorf("%s: ranks %v", name, of)
			}
			for rank, value := range of {
				if (value >= want[1]) != (rank == int(want[0])) && name != "mpitx:os/resident_memory" || value < want[1] && rank == int(want[0]) {
					f.Errorf("%s of rank %d: %v; rank %v has %v", name, rank, value, want[0], want[1])
				}
			}
		}
		if of := all["mpitx:net/tcp/segments_retransmitted"]; of[2] != 0 {
			f.Errorf("retransmitted on the loopback: %v", of)
		}
		lo := all["mpitx:net/lo/packets_sent"]
		if _, ok := lo[0]; !ok || len(lo) != 1 || lo[0] < 1000 {
			f.Errorf("packets of the loopback: %v", lo)
		}
		if len(all["mpitx:calls"]) != 4 || len(all["mpitx:os/context_switches_voluntary"]) != 4 || len(all["mpitx:os/page_faults_major"]) != 4 {
			f.Errorf("%v", all)
		}
		if _, err := os.Stat("/proc/self/sched"); err == nil && len(all["mpitx:os/migrations"]) != 4 {
			f.Errorf("migrations: %v", all["mpitx:os/migrations"])
		}
		p := f.run("mpitx", "export", "known", "--as", "rate", "-o", "csv")
		if !regexp.MustCompile(`(?m)^[\d.]+,0,[^,]*,mpitx:net/lo/bytes_sent,,,[\d.e+]+,ok,B/s\r?$`).MatchString(p.stdout.String()) {
			f.Errorf("no rate of lo in\n%.2000s", p.output())
		}
		// A plain "*" does not select them, and shares of functions do not either.
		f.launch("record", "--dir", "plain", "--pvar", "mpitx:*", "--pvar", "mpitx:*/MPI_Barrier", "--", program)
		for name := range f.grown("plain") {
			if strings.HasPrefix(name, "mpitx:os/") || strings.HasPrefix(name, "mpitx:net/") {
				f.Errorf("%s was sampled", name)
			}
		}
		// One process without a launcher is the lowest of its node.
		if p := f.run("mpitx", "record", "--dir", "alone", "--pvar", "mpitx:net/lo/*", "--", program); p.code != 0 || len(f.grown("alone")) != 8 {
			f.Errorf("alone: %s", p.output())
		}
		for pattern, want := range map[string]string{
			"mpitx:net/eth77/bytes_recieved": "mpitx has no such variable; did you mean mpitx:net/eth77/bytes_received",
			"mpitx:os/swap":                  "mpitx has no such variable",
			"mpitx:net/*/nothing":            "mpitx has no such variable",
		} {
			p := f.run("mpitx", "record", "--pvar", pattern, "--", program)
			if p.code == 0 || !strings.Contains(p.stderr.String(), want) {
				f.Errorf("%s: exit code %d, no %q: %s", pattern, p.code, want, p.output())
			}
		}
		// An interface of another node is none here; the end says so, for all ranks at once.
		p = f.launch("record", "--dir", "other", "--pvar", "mpitx:net/eth77/bytes_received", "--pvar", "mpitx:calls", "--", program)
		if text := p.stderr.String(); strings.Count(text, "eth77") != 1 || !strings.Contains(text, "--pvar mpitx:net/eth77/bytes_received: no such variable") {
			f.Errorf("%s", p.output())
		}
	})
}

func TestNodeList(t *testing.T) {
	environ := testEnvironment(t)
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"mpitx", "list", "--mpi", "demo", "-o", "names", "mpitx:net/lo/*"}, "mpitx:net/lo/bytes_received\nmpitx:net/lo/bytes_sent\nmpitx:net/lo/drops_received\n"},
		{[]string{"mpitx", "list", "--mpi", "demo", "virtual", "-o", "csv", "--fields", "name,class,unit", "mpitx:os/*_memory"}, "mpitx:os/resident_memory,level,B"},
		{[]string{"mpitx", "show", "--mpi", "demo", "mpitx:net/tcp/segments_retransmitted"}, "counter: the number of occurrences"},
		{[]string{"mpitx", "show", "--mpi", "demo", "mpitx:net/ib/mlx5_7/2/link_downed"}, "went down"},
		{[]string{"mpitx", "show", "--mpi", "demo", "mpitx:net/eth77/bytes_sent"}, "mpitx sample --pvar mpitx:net/eth77/bytes_sent -- ./app"},
	} {
		p := newProcess(environ, t.TempDir(), c.argv...)
		if p.run(hung); p.code != 0 || !strings.Contains(p.stdout.String(), c.want) {
			t.Errorf("%v: no %q in\n%s", c.argv, c.want, p.output())
		}
	}
}

// seen are the sums of a variable over the ranks of a node, of a run that is being written: its last samples.
func seen(t *testing.T, dir, host, variable string) (sum float64) {
	run, err := recording.Open(dir)
	if err != nil {
		return 0
	}
	defer run.Close()
	last := map[int]float64{}
	for in := range run.Instants(recording.Options{}) {
		for _, c := range in.Cells {
			if in.Rank.Host == host && c.Column.Variable == variable && c.Status.HasValue() {
				last[in.Rank.Rank] = c.Value.Float64()
			}
		}
	}
	for _, v := range last {
		sum += v
	}
	return sum
}

// Packets from node2 are dropped for a while. Its segments are sent again, in that time, and the report says so of node2 alone. Before that,
// nothing is said.
func TestHostsRetransmissions(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		need.Commands(t, "nft")
		program := filepath.Join(h.dir, "stream")
		if out, err := exec.Command("mpicc."+h.family, "-o", program, "testdata/hosts/stream.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		run := filepath.Join(h.dir, "net.run")
		if err := os.Mkdir(filepath.Join(h.dir, "net"), 0o755); err != nil {
			t.Fatal(err)
		}
		p := h.process(1, h.mpirun("mpitx", "record", "--dir", "net.run", "--interval", "2ms", "--pvar", "mpitx:net/*", "--", program, "net")...)
		if err := p.start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			p.kill()
			<-p.ended
		})
		until := func(what string, done func() bool) {
			t.Helper()
			for end := time.Now().Add(hung); !done(); time.Sleep(100 * time.Millisecond) {
				select {
				case <-p.ended:
					t.Fatalf("%s: it has ended\n%s", what, p.output())
				default:
				}
				if time.Now().After(end) {
					t.Fatalf("never: %s\n%s", what, p.output())
				}
			}
		}
		const sent, again = "mpitx:net/tcp/segments_sent", "mpitx:net/tcp/segments_retransmitted"
		nft := func(words string) {
			t.Helper()
			q := h.process(1, "nft", words)
			if q.run(hung); q.code != 0 {
				t.Fatalf("nft %s: %s", words, q.output())
			}
		}
		until("segments of both nodes", func() bool { return seen(t, run, "node2", sent) > 2000 && seen(t, run, "node1", sent) > 200 })
		if out, _ := h.run(0, loginNode, "mpitx", "report", "net.run", "samples"); strings.Contains(out, "- node") {
			t.Errorf("said too early:\n%s", out)
		}
		nft("add table inet loss")
		nft("add chain inet loss in { type filter hook prerouting priority 0; }")
		before := time.Now()
		nft("add rule inet loss in ip saddr 10.77.0.2 meta length gt 500 numgen random mod 100 lt 8 drop") // data, not acknowledgements
		until("retransmissions", func() bool { return seen(t, run, "node2", again) > 200 })
		nft("delete table inet loss")
		after, most := time.Now(), seen(t, run, "node2", sent)
		until("segments after that", func() bool { return seen(t, run, "node2", sent) > most+2000 })
		out, _ := h.run(0, loginNode, "mpitx", "report", "net.run", "samples")
		found := regexp.MustCompile(`(?m)^- node2 retransmitted (\d+) % of its TCP segments from ([\d.]+) s to ([\d.]+) s \((\d+) of \d+, of the sockets of rank 2\)`).FindStringSubmatch(strings.ReplaceAll(out, "\n  ", " "))
		if found == nil || strings.Contains(out, "node1 retransmitted") {
			t.Fatalf("%s\n%s", out, p.output())
		}
		r, err := recording.Open(run)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		from, _ := strconv.ParseFloat(found[2], 64)
		to, _ := strconv.ParseFloat(found[3], 64)
		// A reading before the rule is up to two intervals, or a sample of a rank without a core, older; the last lost segments are repeated
		// within a second.
		if least, most := before.Sub(r.Start).Seconds(), after.Sub(r.Start).Seconds(); from < least-1 || from > most || to < least || to > most+2 {
			t.Errorf("from %v to %v; packets were dropped from %.2f to %.2f", from, to, least, most)
		}
		shared := map[int]bool{}
		for _, rank := range r.Ranks {
			for _, c := range rank.Columns {
				if c != nil && c.Variable == "mpitx:net/e0/bytes_sent" {
					shared[rank.Rank] = true
				}
			}
		}
		if fmt.Sprint(shared) != "map[0:true 2:true]" {
			t.Errorf("ranks with counters of the interface: %v", shared)
		}
		if h.family == "mpich" { // it hangs in MPI_Finalize over UCX's TCP
			return
		}
		if err := os.WriteFile(filepath.Join(h.dir, "net", "stop"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		p.wait(hung)
		if p.failure != "" || p.code != 0 {
			t.Fatalf("%s\nexit code %d\n%s", p.failure, p.code, p.output())
		}
		if !strings.Contains(strings.Join(strings.Fields(p.stderr.String()), " "), "mpitx: node2 retransmitted ") {
			t.Errorf("not said at the end of the job:\n%s", p.output())
		}
	})
}

// A condition reads the node's variables when it is checked, also without samples. The program goes on until the condition is true.
func TestNodeConditions(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("testdata", "node", "grow.c"), "-O1")
		p := f.run("mpitx", "run", "-n", "1", "--dir", "grown", "--when", "mpitx:os/resident_memory > 90000000", "--then", "stop=USR1", "--when", "mpitx:os/resident_memory > 10000000000", "--", program)
		if said := p.stderr.String(); p.failure != "" || p.code != 0 || !strings.Contains(said, "became true 1 time") || !strings.Contains(said, "never true") {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
	})
}
