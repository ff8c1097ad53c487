//go:build cgo && linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where each size has another fast algorithm, mpitx tune --kernel writes a file of rules. The application is faster with it, and runs the algorithms.
func TestTuneBySize(t *testing.T) {
	eachFamily(t, func(f *onFamily) {
		if f.family != "openmpi" {
			f.Skip("the functions of MPICH's algorithms cannot be replaced")
		}
		program := f.build("mpicc", filepath.Join("testdata", "tune", "bysize.c"), "-O1")
		f.environ = append(f.environ, f.preload(filepath.Join("..", "tune", "oneforeach.c")))
		p := f.run("mpitx", "tune", "-n", "2", "--runs", "12", "--kernel", "--only", "algorithms by size", "--dir", "campaign", "--", program)
		rules, err := os.ReadFile(filepath.Join(f.dir, "campaign", "rules.conf"))
		if err != nil || p.code != 0 || !strings.Contains(p.stdout.String(), "RECOMMENDED: coll_tuned_dynamic_rules_filename=rules.conf") {
			f.Fatalf("%v: exit code %d: %s\n%s", err, p.code, p.output(), rules)
		}
		if p := f.run("mpitx", "tune", "--check", "campaign/rules.conf"); p.code != 0 {
			f.Error(p.output())
		}
		if p := f.run("mpitx", "profile", "-n", "2", "--settings", "campaign/settings.conf", "--dir", "used", "--no-summary", "--", program); p.code != 0 {
			f.Fatal(p.output())
		}
		ran := strings.Join(strings.Fields(f.run("mpitx", "report", "used", "algorithms", "-o", "csv").stdout.String()), "\n")
		if strings.Count(ran, ",binomial,") != 1 || strings.Count(ran, ",chain,") != 1 {
			f.Errorf("%s\n%s", ran, rules)
		}
	})
}
