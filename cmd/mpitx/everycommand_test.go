//go:build cgo && linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mpitx/cmd/mpitx/internal/locate"
)

// everyCommand checks that a table has a line for each command of mpitx, so that new ones are not forgotten.
func everyCommand(t *testing.T, has func(name string) bool) {
	t.Helper()
	for _, c := range newRoot(&app{errs: io.Discard, env: &locate.Env{}}).Commands() {
		if !has(c.Name()) {
			t.Errorf("mpitx %s: not tested here", c.Name())
		}
	}
}

// shell runs a line of sh in a folder.
func shell(t *testing.T, dir string, environ []string, line string) *process {
	t.Helper()
	p := newProcess(environ, dir, "sh", "-c", line)
	p.run(time.Minute)
	if p.failure != "" {
		t.Errorf("%s: %s\n%s", line, p.failure, p.output())
	}
	return p
}

// An answer that cannot be written is an error of every command; one that writes none does not need standard output.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	environ := append(testEnvironment(t), "MPITX_MPI=demo")
	run, _ := counted(t, 10)
	answers := map[string][]string{
		"list": {"list", "list -o json", "list -n 3", "list --tree", "list nothing -o csv"}, "show": {"show demo_rank", "show -n 2 demo_rank"},
		"read": {"read demo_rank", "read demo_win_limit -n 2"}, "write": {"write demo_type_int=5", "write demo_version=2 -n 2"},
		"snapshot": {"snapshot", "snapshot -n 2"}, "export": {"export RUN", "export RUN -o parquet", "export RUN --wide -o json"},
		"stats": {"stats RUN"}, "top": {"top RUN --once", "top RUN --once --by-rank -o csv"}, "recover": {"recover RUN"},
		"doctor": {"doctor --mpi demo", "doctor -o json --mpi demo"}, "version": {"version", "--version"}, "setup": {"setup --help"}, "tui": {"tui --help"},
		"serve": {"serve", "serve -n 2"}, "": {"", "--help", "help list", "completion bash", "__complete li", "list --help"},
		"sample": {"sample --help"}, "record": {"record --help"},
	}
	silent := map[string]string{
		"snapshot -o file": "0", "export RUN --out file.csv": "0", "export RUN -o parquet --out file.parquet": "0", "list --nonsense": "2", "show nothing": "1",
		"setup --mpi demo": "0", "top": "2", "tui": "2", "sample": "2",
	}
	for _, family := range families {
		workload := " --mpi " + family + " -n 2 --pvar mpitx:calls --duration 50ms --no-summary --workload pingpong"
		answers["sample"] = append(answers["sample"], "sample"+workload, "sample -o parquet"+workload)
		answers["list"] = append(answers["list"], "list --mpi "+family, "list -n 2 --mpi "+family)
		silent["sample --out "+family+".csv"+workload] = "0"
		silent["record --dir "+family+workload] = "0"
	}
	everyCommand(t, func(name string) bool { return answers[name] != nil })
	for way, why := range map[string]string{">&-": "standard output is closed", ">/dev/full": "no space left on device"} {
		dir := t.TempDir()
		for _, lines := range answers {
			for _, line := range lines {
				p := shell(t, dir, environ, "mpitx "+strings.ReplaceAll(line, "RUN", run)+" </dev/null "+way)
				want := regexp.MustCompile(`(?m)^mpitx: cannot write the answer: ` + why)
				if p.code == 0 || len(want.FindAllString(p.stderr.String(), -1)) != 1 && !strings.HasPrefix(line, "serve") { // whose reader is a program
					t.Errorf("mpitx %s %s: exit code %d:\n%s", line, way, p.code, p.stderr.String())
				}
			}
		}
		for line, want := range silent {
			p := shell(t, dir, environ, "mpitx "+strings.ReplaceAll(line, "RUN", run)+" "+way)
			if fmt.Sprint(p.code) != want || strings.Contains(p.stderr.String(), why) {
				t.Errorf("mpitx %s %s: exit code %d, want %s:\n%s", line, way, p.code, want, p.stderr.String())
			}
		}
		for _, file := range []string{"file", "file.csv", "file.parquet"} {
			if st, err := os.Stat(filepath.Join(dir, file)); err != nil || st.Size() == 0 {
				t.Errorf("%s: %s was not written: %v", way, file, err)
			}
		}
	}
}
