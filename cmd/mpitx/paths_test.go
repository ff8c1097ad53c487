//go:build cgo && linux

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
)

type pathReport struct {
	Findings []struct{ Kind, Text string }
	Paths    []struct {
		A        int  `json:"rank_a"`
		B        int  `json:"rank_b"`
		OneNode  bool `json:"one_node"`
		Unknown  string
		Carriers []struct{ Layer, Transport, Device, Use string }
		Copies   struct{ Calls, Bytes, Failed uint64 } `json:"single_copies"`
		TCP      struct {
			Connections   int
			Bytes         uint64
			Retransmitted uint64 `json:"retransmitted_segments"`
		}
		Messages, Bytes uint64
	}
}

// In a ring of four ranks, neighbours send each other 40 messages of 10,110,080 bytes together. At least the ten largest are copied once where that
// is possible. All travel over TCP where that is chosen.
func TestPaths(t *testing.T) {
	const messages, bytes, largest = 40, 10 * (8 + 1000 + 10000 + 1000000), 10 * 1000000
	cases := map[string][]struct {
		name     string
		set      []string // environment
		carriers string   // of neighbours
		copied   bool
		tcp      bool
		finding  string
	}{
		"openmpi": {
			{name: "ob1", carriers: "BTL vader all", copied: true},
			{name: "tcp", set: []string{"OMPI_MCA_btl=self,tcp"}, carriers: "BTL tcp all", tcp: true, finding: "tcp on one node"},
			{name: "twice", set: []string{"OMPI_MCA_btl_vader_single_copy_mechanism=none"}, carriers: "BTL vader all", finding: "double copy"},
			{name: "ucx", set: []string{"OMPI_MCA_pml=ucx", "OMPI_MCA_pml_ucx_tls=any", "OMPI_MCA_pml_ucx_devices=any", "UCX_TLS=sysv,cma,self"}, carriers: "UCX sysv small, UCX cma large", copied: true},
			{name: "ucx-tcp", set: []string{"OMPI_MCA_pml=ucx", "OMPI_MCA_pml_ucx_tls=any", "OMPI_MCA_pml_ucx_devices=any", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}, carriers: "UCX tcp/lo all", tcp: true,
				finding: "tcp on one node"},
		},
		"mpich": {
			{name: "ucx", set: []string{"UCX_TLS=sysv,cma,self"}, carriers: "UCX sysv small, UCX cma large", copied: true},
			{name: "tcp", set: []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"}, carriers: "UCX tcp/lo all", tcp: true, finding: "tcp on one node"},
			{name: "twice", set: []string{"UCX_TLS=posix,self"}, carriers: "UCX posix all", finding: "double copy"},
		},
	}
	eachFamily(t, func(f *onFamily) {
		program := f.build("mpicc", filepath.Join("..", "..", "fixtures", "paths", "ring.c"), "-O1", "-g")
		environ := f.environ
		for _, c := range cases[f.family] {
			f.environ = append(slices.Clone(environ), c.set...)
			if p := f.run("mpitx", "profile", "-n", "4", "--no-summary", "--dir", c.name, "--", program); p.failure != "" || p.code != 0 && !(c.tcp && f.family == "mpich") {
				f.Fatalf("%s: %s: exit code %d: %s", c.name, p.failure, p.code, p.output())
			}
			var report pathReport
			p := f.run("mpitx", "report", c.name, "-o", "json")
			if err := json.Unmarshal(p.stdout.Bytes(), &report); err != nil {
				f.Fatalf("%s: %v: %s", c.name, err, p.output())
			}
			neighbours := 0
			for _, path := range report.Paths {
				if path.Messages == 0 {
					continue
				}
				neighbours++
				var carriers []string
				for _, by := range path.Carriers {
					text := by.Layer + " " + by.Transport
					if by.Device != "" {
						text += "/" + by.Device
					}
					carriers = append(carriers, text+" "+by.Use)
				}
				copies := path.Copies
				switch {
				case path.B-path.A != 1 && path.B-path.A != 3, strings.Join(carriers, ", ") != c.carriers, path.Messages != messages, path.Bytes != bytes,
					c.copied != (copies.Bytes >= largest && copies.Bytes <= bytes), !c.copied && copies.Calls > 0, copies.Failed > 0,
					c.tcp != (path.TCP.Bytes >= bytes && path.TCP.Bytes < bytes+bytes/10), !c.tcp && path.TCP.Connections > 0:
					f.Errorf("%s: %+v, want %+v", c.name, path, c)
				}
			}
			if neighbours != 4 {
				f.Errorf("%s: messages on %d paths, want 4", c.name, neighbours)
			}
			for _, kind := range []string{"tcp on one node", "double copy", "single copy refused", "slow interface", "over the eager limit"} {
				said := false
				for _, x := range report.Findings {
					said = said || x.Kind == kind
				}
				if said != (kind == c.finding) {
					f.Errorf("%s: the finding %q: %v, want %v", c.name, kind, said, kind == c.finding)
				}
			}
		}
		f.environ = environ
		// of one rank: the same paths as with all
		first := cases[f.family][0].name
		all, one := f.run("mpitx", "report", first, "paths", "-o", "csv").stdout.String(), f.run("mpitx", "report", first, "paths", "-o", "csv", "--rank", "1").stdout.String()
		for line := range strings.Lines(all) {
			words := strings.SplitN(line, ",", 3)
			if of := words[0] == "1" || words[1] == "1" || words[0] == "rank_a"; of != strings.Contains("\n"+one, "\n"+strings.Join(words[:2], ",")+",") {
				t.Errorf("with --rank 1: %v for %s", !of, line)
			}
		}
		if strings.Contains(one, "unknown:") || !strings.Contains(one, "process_vm_readv") {
			f.Errorf("with --rank 1: %s", one)
		}
		// rank 1 is killed: what it was seen to do before is unknown, and the others' side is reported
		f.run("mpitx", "profile", "-n", "4", "--no-summary", "--dir", "killed", "--", program, "kill")
		for _, view := range []string{"paths", "matrix", "functions"} {
			if p := f.run("mpitx", "report", "killed", view); p.failure != "" || p.code > 1 && p.code != cli.ExitPartial || p.stdout.Len() == 0 {
				f.Errorf("killed: %s: exit code %d: %s", view, p.code, p.output())
			}
		}
		// a program that forbids itself what the agent would ask is not asked
		restricted := f.build("mpicc", filepath.Join("testdata", "paths", "restricted.c"), "-O1")
		if p := f.run("mpitx", "profile", "-n", "2", "--no-summary", "--dir", "restricted", "--", restricted); p.failure != "" || p.code != 0 {
			f.Errorf("restricted: %s: exit code %d: %s", p.failure, p.code, p.output())
		}
		if p := f.run("mpitx", "report", "restricted", "paths"); !strings.Contains(p.stdout.String(), "a rank has restricted its system calls") {
			f.Errorf("restricted: %s", p.output())
		}
		f.run("mpitx", "profile", "-n", "2", "--no-paths", "--no-summary", "--dir", "without", "--", program)
		if p := f.run("mpitx", "report", "without", "paths"); p.code != 1 || !strings.Contains(p.stderr.String(), "without --no-paths") {
			f.Errorf("without: exit code %d: %s", p.code, p.output())
		}
	})
}

// On two hosts, ranks reach each other over TCP between them, and by shared memory on each.
func TestHostsPaths(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		source, err := filepath.Abs("../../fixtures/paths/ring.c")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mpicc."+h.family, "-o", filepath.Join(h.dir, "ring"), source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		p := h.process(1, h.mpirun("mpitx", "profile", "--no-summary", "--dir", "run", "--", filepath.Join(h.dir, "ring"))...)
		p.run(hung)
		var report pathReport
		out, _ := h.run(0, loginNode, "mpitx", "report", "run", "-o", "json")
		if err := json.Unmarshal([]byte(out), &report); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, p.output())
		}
		inside := map[string]string{"openmpi": "BTL vader", "mpich": "UCX sysv"}[h.family]
		between := map[string]string{"openmpi": "BTL tcp", "mpich": "UCX tcp"}[h.family]
		for _, pair := range [][3]any{{0, 1, inside}, {1, 2, between}, {2, 3, inside}, {0, 3, between}} {
			found := false
			for _, path := range report.Paths {
				if path.A != pair[0] || path.B != pair[1] || len(path.Carriers) == 0 {
					continue
				}
				found = true
				tcp := pair[2] == between
				if by := path.Carriers[0].Layer + " " + path.Carriers[0].Transport; by != pair[2] || path.OneNode == tcp || tcp != (path.TCP.Bytes >= path.Bytes && path.Bytes > 0) || tcp && path.Copies.Calls > 0 {
					t.Errorf("want %v: %+v", pair, path)
				}
			}
			if !found {
				t.Errorf("no path between %v and %v: %+v\n%s", pair[0], pair[1], report.Paths, p.output())
			}
		}
		for _, x := range report.Findings {
			if x.Kind == "tcp on one node" || x.Kind == "double copy" {
				t.Errorf("said: %s", x.Text)
			}
		}
	})
}
