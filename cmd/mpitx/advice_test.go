//go:build cgo && linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Advice names a setting with its place, says nothing of a program without communication, and says of one with a late rank that no setting
// helps.
func TestAdvice(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		must := func(args ...string) string {
			f.Helper()
			p := f.run(append([]string{"mpitx"}, args...)...)
			if p.failure != "" || p.code != 0 {
				f.Fatalf("%q: %s: exit code %d: %s", args, p.failure, p.code, p.output())
			}
			return p.stdout.String()
		}
		must("list", "--mpi", f.family, "-o", "names")
		late := f.build("mpicc", filepath.Join("testdata", "tune", "late.c"), "-O1", "-g")
		must("profile", "-n", "2", "--dir", "late", "--no-summary", "--", late)
		known := strings.Contains(must("report", "late", "-o", "json"), `"late arrival"`) // beside other programs, either rank may be the last
		if got := must("report", "late", "advice"); known && !strings.Contains(strings.Join(strings.Fields(got), " "), "no setting of collectives makes that shorter") {
			f.Errorf("late: %s", got)
		}
		must("profile", "-n", "2", "--dir", "alone", "--no-summary", "--", late, "alone")
		if got := must("report", "alone", "advice"); got != "No rule has advice for this run.\n" && (strings.Contains(got, "MPI_") || strings.Contains(got, "Try ") || !strings.Contains(got, "for a core")) {
			f.Errorf("alone: %s", got)
		}
		variable, value := f.bad()
		slow := f.build("mpicc", filepath.Join("testdata", "tune", "slow.c"), "-O1", "-g")
		must("profile", "-n", "2", "--dir", "slow", "--no-summary", "--", slow, variable, value)
		got := must("report", "slow", "advice", "-o", "csv")
		place := map[string]string{"openmpi": "is set to linear (file " + filepath.Join(f.dir, "site.conf") + ":2)", "mpich": "is set to 1 (environment MPIR_CVAR_NOLOCAL)"}[f.family]
		if !strings.Contains(got, variable+" "+place) || !strings.Contains(got, "mpitx tune --only "+variable+" -n 2 -- "+slow) {
			f.Errorf("slow: %s", got)
		}

		// Rules of the user's are asked, too, up to the first wrong one.
		file := filepath.Join(f.dir, "config", "mpitx", "advice.txt")
		rules := "openmpi,mpich our own\n\tif setting\n\tsay our site says that {variable} is {value}\n\tlook mpitx report RUN functions\n\twrong never\n\tfrom our site\nopenmpi wrong\n\tif so\n"
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(rules), 0o600)); err != nil {
			f.Fatal(err)
		}
		f.environ = append(f.environ, "XDG_CONFIG_HOME="+filepath.Join(f.dir, "config"))
		p := f.run("mpitx", "report", "slow", "advice")
		if !strings.Contains(p.stdout.String(), ". our site says that "+variable+" is ") || !strings.Contains(p.stdout.String(), "Next: mpitx report slow functions\n") || !strings.Contains(p.stderr.String(), "advice.txt:8: ") {
			f.Errorf("exit code %d: %s", p.code, p.output())
		}
	})
}
