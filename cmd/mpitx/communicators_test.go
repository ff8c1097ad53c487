//go:build cgo && linux

package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestProfileCommunicators: communicators that a line makes and frees have one row. Those that are not freed are found, and what fills the
// profile is named; totals of functions are right all the same. The program begins with calls on MPI_FILE_NULL, which is 0 in MPICH.
func TestProfileCommunicators(t *testing.T) {
	t.Parallel()
	eachFamily(t, func(f *onFamily) {
		t, dir, environ, family := f.T, f.dir, f.environ, f.family
		program := f.build("mpicc", "testdata/profile/communicators.c", "-g", "-O1", "-w")
		run := func(name string, code int, arguments ...string) (*profiledRun, string) {
			p := newProcess(environ, dir, append([]string{"mpitx", "profile", "-n", "2", "--dir", name, "--", program}, arguments...)...)
			p.run(hung)
			if p.failure != "" || (p.code == 0) != (code == 0) {
				t.Fatalf("%s: exit code %d: %s", p.failure, p.code, p.output())
			}
			return readReport(t, environ, filepath.Join(dir, name)), p.stderr.String()
		}

		const steps = 6000
		r, said := run("free", 0, "free", strconv.Itoa(steps))
		if text := unfreedIn(r); text != "" || strings.Contains(said, "full") || strings.Contains(said, "told apart") {
			t.Errorf("finding %q\n%s", text, said)
		}
		checkTotals(t, r, map[string]uint64{"MPI_Comm_split": 2 * steps, "MPI_Allreduce": 2 * steps, "MPI_Send": 10, "MPI_Recv": 10, "MPI_File_sync": 2, "MPI_File_close": 2})
		checkLine(t, r, fmt.Sprintf("MPI_Send communicators.c:%d", lineIn(t, "testdata/profile/communicators.c", "output")), 10)
		rows := communicators(t, environ, filepath.Join(dir, "free"))
		for key, want := range map[string]string{"MPI_Comm_split": "2 12000 0", "MPI_Comm_dup copy": "2 12000 0", "MPI_Win_create": "2 120 0"} {
			if got := rows[key]; len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, not %q", key, got, want)
			}
		}
		kept := slices.Concat(rows["MPI_Comm_dup"], rows["MPI_Comm_dup of MPI_COMM_WORLD"])
		if len(kept) != 60 || kept[0] != "0 2 2" {
			t.Errorf("kept: %d, %q", len(kept), kept)
		}

		const leaks = 3000
		count, code, made := "of 3000", 0, uint64(leaks)
		if family == "mpich" { // it ends the job
			count, code, made = "of 2046", 1, 2046
		}
		r, said = run("leak", code, "leak", strconv.Itoa(leaks))
		where := fmt.Sprintf("made by MPI_Comm_dup: communicators.c:%d", lineIn(t, "testdata/profile/communicators.c", "leak"))
		text := unfreedIn(r)
		if !strings.Contains(text, count+" communicators were never freed on each of 2 ranks, "+where) || strings.Contains(text, "2048 context ids") != (family == "mpich") {
			t.Errorf("finding %q", text)
		}
		if !strings.Contains(said, "the profile is full: ") || !strings.Contains(said, "are not freed; free those that the program does not need") {
			t.Errorf("no cause in %s", said)
		}
		if f := r.function("MPI_Iprobe"); f.Calls != 2*made {
			t.Errorf("%d calls of MPI_Iprobe", f.Calls)
		}
		if family != "mpich" {
			checkLine(t, r, fmt.Sprintf("MPI_Send communicators.c:%d", lineIn(t, "testdata/profile/communicators.c", "output")), 10)
		}
		for key, all := range communicators(t, environ, filepath.Join(dir, "leak")) {
			if strings.HasPrefix(key, "MPI_Comm_dup") && slices.ContainsFunc(all, func(row string) bool { return row != "0 2 2" }) {
				t.Errorf("%s: %q", key, all[0])
			}
		}
	})
}

func unfreedIn(r *profiledRun) string {
	for _, f := range r.Findings {
		if f.Kind == "objects not freed" {
			return f.Text
		}
	}
	return ""
}

func checkTotals(t *testing.T, r *profiledRun, calls map[string]uint64) {
	t.Helper()
	for name, want := range calls {
		if f := r.function(name); f.Calls != want {
			t.Errorf("%s: %d calls, not %d", name, f.Calls, want)
		}
	}
}

func checkLine(t *testing.T, r *profiledRun, site string, calls uint64) {
	t.Helper()
	for _, s := range r.Sites {
		if s.Name+" "+s.Site == site && s.Calls == calls {
			return
		}
	}
	t.Errorf("no %s with %d calls", site, calls)
}

// communicators returns how many objects were freed (by how many ranks), made and not freed: of each row, by the function that made them and
// their name.
func communicators(t *testing.T, environ []string, dir string) map[string][]string {
	t.Helper()
	p := newProcess(environ, dir, "mpitx", "report", dir, "communicators", "-o", "csv")
	p.run(hung)
	table, err := csv.NewReader(&p.stdout).ReadAll()
	if err != nil || len(table) == 0 {
		t.Fatal(err, p.output())
	}
	rows := map[string][]string{}
	for _, row := range table[1:] {
		field := func(name string) string { return row[slices.Index(table[0], name)] }
		key := strings.TrimSpace(field("made_by") + " " + field("name"))
		if strings.HasPrefix(field("name"), "MPI COMMUNICATOR") || field("kind") == "window" { // named by the library
			key = field("made_by")
		}
		rows[key] = append(rows[key], field("freed")+" "+field("made")+" "+field("alive"))
	}
	return rows
}
