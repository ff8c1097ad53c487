//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// siteLine is the line of the program with a comment, such as "/* line 16 */".
func siteLine(t *testing.T, call string) string {
	t.Helper()
	source, err := os.ReadFile("testdata/wrapped/layered.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(source), "\n") {
		if m := regexp.MustCompile(`(\w+)\(.*/\* line (\d+) \*/`).FindStringSubmatch(line); m != nil && m[1] == call {
			return "layered.c:" + m[2]
		}
	}
	t.Fatalf("no line calls %s", call)
	return ""
}

// Call sites are not in a PMPI wrapper that is preloaded before mpitx's agent, nor in libraries of --skip, but in their callers: in
// profiles, traces and states, with the calls that the wrapper makes itself.
func TestWrapped(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		f.Parallel()
		wrapper := f.build("mpicc", "testdata/wrapped/pmpi.c", "-g", "-O1", "-shared", "-fPIC")
		layer := f.build("mpicc", "testdata/wrapped/layer.c", "-g", "-O1", "-shared", "-fPIC", "-Wl,-soname,liblayer.so.2")
		if err := os.Rename(layer, filepath.Join(f.dir, "liblayer.so.2")); err != nil {
			f.Fatal(err)
		}
		program := f.build("mpicc", "testdata/wrapped/layered.c", "-g", "-O1", "-Wl,-rpath,"+f.dir, "-Wl,--no-as-needed", "-L"+f.dir, "-l:liblayer.so.2")
		wrapped := func(args ...string) *process {
			p := f.run(slices.Concat(launchers[f.family], []string{"env", "LD_PRELOAD=" + wrapper, "mpitx"}, args)...)
			if p.failure != "" {
				f.Fatalf("%q: %s: %s", args, p.failure, p.output())
			}
			return p
		}
		output := func(args ...string) string {
			p := f.run(append([]string{"mpitx"}, args...)...)
			if p.code != 0 {
				f.Fatalf("%q: %s", args, p.output())
			}
			return p.stdout.String()
		}
		wants := func(text string, all ...string) {
			f.Helper()
			for _, want := range all {
				if !regexp.MustCompile(`(?m)` + want).MatchString(text) {
					f.Errorf("no %s in\n%s", want, text)
				}
			}
		}
		send, dup, barrier := siteLine(f.T, "MPI_Send"), siteLine(f.T, "MPI_Comm_dup"), siteLine(f.T, "layer_barrier")

		wrapped("profile", "--no-summary", "--dir", "profiled", "--", program)
		text := output("report", "profiled", "sites", "-o", "csv")
		wants(text, `^MPI_Send,,`+send+`,10,`, `^MPI_Type_size,,`+send+`,10,`, `^MPI_Comm_dup,,`+dup+`,4,`, `^MPI_Barrier,,layer.c:\d+,4,`)
		if strings.Contains(text, "pmpi") {
			f.Error(text)
		}
		p := wrapped("profile", "--no-summary", "--stack", "2", "--skip", "liblayer", "--skip", "libnone.so", "--dir", "skipped", "--", program)
		text = output("report", "skipped", "sites", "-o", "csv")
		wants(text, `^MPI_Send,,`+send+`,10,`, `^MPI_Barrier,,`+barrier+`,4,`)
		wants(p.stderr.String(), `^mpitx: --skip libnone.so: no process has loaded such a library when MPI was initialized$`)
		if strings.Contains(p.stderr.String(), "liblayer") {
			f.Error(p.stderr.String())
		}

		wrapped("trace", "--no-summary", "--skip", "liblayer.so", "--dir", "traced", "--", program)
		text = output("export", "traced", "--trace", "-o", "csv")
		wants(text, `MPI_Send.*`+send, `MPI_Comm_dup.*`+dup, `MPI_Barrier.*`+barrier)
		if strings.Contains(text, "pmpi") || strings.Contains(text, "layer.c") {
			f.Error(text)
		}

		wrapped("run", "--hang", "2s:kill", "--skip", "liblayer.so.2", "--dir", "hung", "--", program, "hang")
		wants(output("where", "hung"), `^1 +.*in MPI_Recv.* main `+siteLine(f.T, "layer_hang")+`$`)
	})
}
