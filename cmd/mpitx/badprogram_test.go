//go:build cgo && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUnfitPrograms profiles and runs programs that cannot be observed, or not as usual: they run as without mpitx, or are refused before
// anything is started.
func TestUnfitPrograms(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		t.Run(family, func(t *testing.T) {
			dir, environ := t.TempDir(), append(testEnvironment(t), "MPITX_MPI=", "ASAN_OPTIONS=detect_leaks=0")
			compile := func(out, compiler, source string, options ...string) {
				file := filepath.Join(dir, out+".c")
				if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
					t.Fatal(err)
				}
				if text, err := exec.Command(compiler, append(options, "-o", filepath.Join(dir, out), file)...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", out, err, text)
				}
			}
			const plain = "#include <stdio.h>\nint main(void) { puts(\"ran\"); return 0; }\n"
			const barrier = "#include <mpi.h>\n#include <stdio.h>\nint main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); puts(\"ran\"); MPI_Finalize(); return 0; }\n"
			compile("plain", "gcc", plain)
			compile("static", "gcc", plain, "-static")
			compile("asan", "mpicc."+family, barrier, "-fsanitize=address")
			compile("tsan", "mpicc."+family, barrier, "-fsanitize=thread")
			compile("setuid", "mpicc."+family, barrier)
			elevated := os.Getuid() == 0 && os.Chown(filepath.Join(dir, "setuid"), 65534, 65534) == nil && os.Chmod(filepath.Join(dir, "setuid"), 0o755|os.ModeSetuid) == nil
			if err := os.WriteFile(filepath.Join(dir, "script"), []byte("#!/bin/sh\nASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=false exec ./asan\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				program, dir string
				code         int
				ran          string
				message      string
			}{
				{"plain", "run", 0, "ranran", `^mpitx: nothing was recorded: ./plain links no MPI library, and did not call MPI_Init; give the program that calls MPI`},
				{"static", "run", 2, "", `^mpitx: ./static: it is linked statically, so the agent cannot be loaded; link it dynamically`},
				{"setuid", "run", 2, "", `^mpitx: ./setuid: it has the setuid bit, so the loader ignores LD_PRELOAD; observe a copy without it`},
				{"missing", "run", 1, "", `^mpitx: start ./missing: there is no such file; give the path of the application`},
				{"asan", "run", 0, "ranran", `^mpitx: (profiled|the states of all ranks are) in run; next: `},
				{"tsan", "run", 0, "ranran", `^mpitx: (profiled|the states of all ranks are) in run; next: `},
				{"script", "run", 0, "ranran", `^mpitx: (profiled|the states of all ranks are) in run; next: `},
				{"asan", "/proc/run", 1, "", `^mpitx: run directory /proc/run: .*; choose a writable place with --dir or \$MPITX_DIR`},
			} {
				launcher := slices.Clone(launchers[family])
				launcher[slices.Index(launcher, "4")] = "2"
				if c.code == 0 && !runsAlone(environ, dir, launcher, "./"+c.program) {
					t.Logf("%s crashes with this library also without mpitx", c.program)
					continue
				}
				if c.program == "setuid" && !elevated {
					continue // only root can give the program to another user
				}
				for _, command := range []string{"profile", "run"} {
					p := newProcess(environ, dir, append(slices.Clone(launcher), "mpitx", command, "--dir", c.dir, "--", "./"+c.program)...)
					p.run(hung)
					if p.failure != "" || p.code != c.code && (c.code == 0 || p.code == 0) || strings.ReplaceAll(p.stdout.String(), "\n", "") != c.ran {
						t.Errorf("%s %s: %s exit code %d, not %d: %s", command, c.program, p.failure, p.code, c.code, p.output())
					}
					if n := len(regexp.MustCompile("(?m)"+c.message).FindAllString(p.stderr.String(), -1)); n != 1 {
						t.Errorf("%s %s: %d times %s in\n%s", command, c.program, n, c.message, p.stderr.String())
					}
					_, err := os.Stat(filepath.Join(dir, "run"))
					if recorded := c.program == "asan" || c.program == "tsan" || c.program == "script"; (err == nil) != (recorded && c.dir == "run") {
						t.Errorf("%s %s: run directory: %v", command, c.program, err)
					}
					os.RemoveAll(filepath.Join(dir, "run"))
				}
			}
		})
	}
}

// runsAlone reports whether the library can run a program at all: Debian's MPICH crashes under the thread sanitizer, Open MPI 6 under both.
func runsAlone(environ []string, dir string, launcher []string, program string) bool {
	p := newProcess(environ, dir, append(slices.Clone(launcher), program)...)
	p.run(hung)
	return p.failure == "" && p.code == 0
}
