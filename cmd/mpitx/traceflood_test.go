//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
)

func buildFlood(t *testing.T, family string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "flood")
	if text, err := exec.Command("mpicc."+family, "-O1", "-o", program, "testdata/flood.c").CombinedOutput(); err != nil {
		t.Fatalf("flood.c: %v\n%s", err, text)
	}
	return program
}

// TestTraceRate: one line says how large the trace will be, under each launcher and with -n. A program that is slow does not make it 0.
func TestTraceRate(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	const rate = `mpitx: the trace takes about [1-9][0-9.]* [kM]B a second`
	for _, family := range families {
		program, environ := buildFlood(t, family), append(testEnvironment(t), "MPITX_MPI=")
		n := []string{"mpitx", "trace", "--mpi", family, "-n", "4"}
		for _, c := range []struct {
			how, then string
			words     []string
		}{
			{"launcher", `, [1-9][0-9.]* [MG]B an hour; --max-size SIZE limits it, --function GLOB makes it smaller\n`, append(slices.Clone(launchers[family]), "mpitx", "trace")},
			{"n", `, [1-9][0-9.]* [MG]B an hour; --max-size SIZE limits it, --function GLOB makes it smaller\n`, n},
			{"stop", `; after about [0-9hm.]+s --max-size is reached, and further events are counted only\n`, append(slices.Clone(n), "--max-size", "1G")},
			{"last", `; the last [0-9hm.]+s are kept \(--max-size, --policy last\)\n`, append(slices.Clone(n), "--max-size", "1G", "--policy", "last")},
		} {
			t.Run(family+"/"+c.how, func(t *testing.T) {
				t.Parallel()
				p := newProcess(environ, t.TempDir(), append(c.words, "--", program, "10000", "300")...)
				if p.run(hung); p.code != 0 || len(regexp.MustCompile(rate+c.then).FindAllString(p.stderr.String(), -1)) != 1 {
					t.Errorf("%s: exit code %d: %s", p.failure, p.code, p.output())
				}
			})
		}
	}
}

// TestTraceMaxSize: at --max-size, the newest events are dropped, or the oldest are replaced. The summary counts them: with those in the
// trace they are all.
func TestTraceMaxSize(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		program := buildFlood(f.T, f.family)
		const calls = 50_000
		for policy, text := range map[string]string{
			"stop": `mpitx: (\d+) events dropped, as --max-size was reached or the buffers were full; give a greater size, --policy last, or --function GLOB\n`,
			"last": `mpitx: (\d+) events until [0-9.hms ]+ replaced by newer ones, as --max-size was reached \(--policy last\)\n`,
		} {
			p := f.run("mpitx", "trace", "--mpi", f.family, "-n", "1", "--dir", policy, "--out", policy+".csv", "--max-size", "2M", "--policy", policy, "--function", "MPI_Sendrecv", "--", program, strconv.Itoa(calls))
			said := regexp.MustCompile(text).FindStringSubmatch(p.stderr.String())
			rows, err := os.ReadFile(filepath.Join(f.dir, policy+".csv"))
			if p.code != 0 || said == nil || err != nil {
				f.Errorf("%s: exit code %d, %v: %s", policy, p.code, err, p.output())
				continue
			}
			missing, _ := strconv.Atoi(said[1])
			if kept := strings.Count(string(rows), ",call,") + strings.Count(string(rows), ",send,") + strings.Count(string(rows), ",receive,"); kept+missing != 3*calls || kept == 0 {
				f.Errorf("%s: %d in the trace and %d missing of %d: %s", policy, kept, missing, 3*calls, p.output())
			}
		}
	})
}

// TestTraceFullDisk: the disk is full at once, and then the memory for events. The application does not fail, the rest is counted with its
// reason, and what was recorded can be exported.
func TestTraceFullDisk(t *testing.T) {
	t.Parallel()
	if exec.Command("unshare", "-m", "true").Run() != nil {
		need.Missing(t, "mounts are not allowed")
	}
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, program := t.TempDir(), buildFlood(t, family)
			const calls = 400_000 // of about 200 bytes; the agent keeps 64 MiB
			script := fmt.Sprintf(`mkdir full && mount -t tmpfs -o size=300k none full &&
mpitx trace --mpi %s -n 1 --dir full/run --function MPI_Sendrecv --out out.csv -- %s %d && grep -vc ',lost,' out.csv &&
mpitx export full/run --trace -o csv >part.csv && cmp out.csv part.csv && echo equal
code=$?
mount -o remount,size=128m full && mpitx recover full/run >&2
exit $code`, family, program, calls)
			p := newProcess(append(testEnvironment(t), "MPITX_MPI="), dir, "unshare", "-m", "sh", "-c", script)
			if p.run(hung); p.code != 0 {
				t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			said := p.stderr.String()
			dropped := regexp.MustCompile(`mpitx: (\d+) events dropped: no space left on device [0-9.]+ s after the start; give a --dir with more room`).FindStringSubmatch(said)
			again := regexp.MustCompile(`: (\d+) events dropped while the trace was recorded: no space left on device [0-9.]+ s after the start\n`).FindStringSubmatch(said)
			out := strings.Fields(p.stdout.String())
			if dropped == nil || again == nil || dropped[1] != again[1] || len(out) != 3 || out[0] != "done" || out[2] != "equal" {
				t.Fatalf("got %s", p.output())
			}
			lines, _ := strconv.Atoi(out[1])
			lost, _ := strconv.Atoi(dropped[1])
			if recorded := lines - 1; recorded+lost != 3*calls || recorded < calls || lost < calls/10 {
				t.Errorf("%d recorded and %d lost of %d", recorded, lost, 3*calls)
			}
		})
	}
}
