//go:build cgo && linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mpitx/recording"
	"mpitx/tune/advice"
)

// On two hosts, ranks that exchange much are on different ones. The placement that the advice gives is read by the launcher, and then their bytes
// stay on a host.
func TestHostsPlacement(t *testing.T) {
	onHosts(t, func(t *testing.T, h *hosts) {
		if out, err := exec.Command("mpicc."+h.family, "-o", filepath.Join(h.dir, "pairs"), "testdata/hosts/pairs.c").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		form := map[string]string{"openmpi": advice.FormRankfile, "mpich": advice.FormHosts}[h.family]
		// crossing runs the program, and returns the bytes of messages between hosts, and what is said of the placement. Debian's MPICH sometimes
		// hangs in MPI_Init on two hosts that are busy, also without mpitx.
		crossing := func(name string, options ...string) (dir string, bytes uint64, said string) {
			var p *process
			for k := range 5 {
				dir = fmt.Sprintf("%s.%d", name, k)
				p = h.process(1, append(h.mpirun(options...), "mpitx", "profile", "--no-summary", "--dir", dir, "--", filepath.Join(h.dir, "pairs"))...)
				if p.run(time.Minute); p.failure == "" {
					break
				}
			}
			var report struct {
				Rows []struct {
					OneNode bool `json:"one_node"`
					Bytes   uint64
				}
			}
			out, _ := h.run(0, loginNode, "mpitx", "report", dir, "paths", "-o", "json")
			if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Rows) < 4 {
				t.Fatalf("%v: %s\n%s", err, out, p.output())
			}
			for _, path := range report.Rows {
				if !path.OneNode {
					bytes += path.Bytes
				}
			}
			said, _ = h.run(0, loginNode, "mpitx", "report", dir, "advice", "-o", "csv")
			return dir, bytes, said
		}
		apart, bytes, said := crossing("apart")
		if want := "40.00 MB of 40.00 MB between ranks crossed nodes, in 80 messages; with 2 ranks on other nodes, 800 B in 8 messages would"; bytes != 40_000_000 || !strings.Contains(said, want) ||
			!strings.Contains(said, "mpitx report "+apart+" advice -o "+form+" --out ranks."+form) {
			t.Errorf("%d bytes: %s", bytes, said)
		}
		for _, form := range slices.Compact([]string{form, advice.FormHosts}) { // Open MPI reads both
			_, message := h.run(0, loginNode, "mpitx", "report", apart, "advice", "-o", form, "--out", "ranks."+form, "--overwrite")
			run, err := recording.Open(filepath.Join(h.dir, apart))
			if err != nil {
				t.Fatal(err)
			}
			options, _ := advice.Launch(run.Ranks[0].Library, form, "ranks."+form)
			run.Close()
			if want := "mpitx: to use it: mpirun -n 4 " + options + " " + filepath.Join(h.dir, "pairs"); !strings.Contains(message, want) {
				t.Errorf("%s: %s", form, message)
			}
			together, bytes, said := crossing("together."+form, strings.Fields(options)...)
			if bytes != 800 || strings.Contains(said, "crossed nodes") {
				text, _ := os.ReadFile(filepath.Join(h.dir, "ranks."+form))
				t.Errorf("%s: %d bytes: %s\n%s", form, bytes, said, text)
			}
			if _, message := h.run(1, loginNode, "mpitx", "report", together, "advice", "-o", form); !strings.Contains(message, together+": no placement with fewer bytes between nodes: the search found none\n") {
				t.Errorf("%s", message)
			}
		}
	})
}
