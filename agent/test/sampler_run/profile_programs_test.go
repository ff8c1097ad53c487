package samplerrun

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

// Calls through the bindings for Fortran have the sites in the program, however deep stacks are.
func TestProfileFortran(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		for _, binding := range []string{"-DMPI", "-DF77", "-DF08"} {
			for _, stack := range []string{"stack=1", "stack=4"} {
				t.Run(binding+" "+stack, func(t *testing.T) {
					program := m.compile(t, "profile_fortran.F90", binding)
					r := m.run(t, job{config: []string{"profile=record", stack}, program: []string{program}})
					calls := r.table(t, 0, "profile calls")
					same(t, "calls", sums(calls, "function phase", "calls messages_sent bytes_sent messages_received bytes_received"), map[string]string{
						"MPI_Init ": "1 0 0 0 0", "MPI_Pcontrol ": "1 0 0 0 0", "MPI_Pcontrol solve": "1 0 0 0 0", "MPI_Irecv solve": "5 0 0 0 0", "MPI_Isend solve": "5 5 80 0 0",
						"MPI_Waitall solve": "5 0 0 5 80", "MPI_Barrier solve": "5 0 0 0 0", "MPI_Barrier ": "3 0 0 0 0", "MPI_Allreduce ": "3 0 0 0 0",
						"MPI_Finalize ": "1 0 0 0 0",
					})
					sites := map[string]int{}
					for _, row := range calls {
						address, _ := row["stack"][0].Uint64()
						if module := r.rank(t, 0).Module(address); module == nil || module.Path != program {
							t.Errorf("%s: call site %#x in %+v", row.text("function"), address, module)
						}
						sites[row.text("function")]++
					}
					if sites["MPI_Barrier"] != 2 || sites["MPI_Waitall"] != 1 {
						t.Errorf("numbers of call sites: %v", sites)
					}
				})
			}
		}
	})
}

// countsOf reads the counts that the tool of counts=FILE wrote.
func countsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "MPI") && len(words) == 6 {
			counts[words[0]] = words[1] + " " + words[5]
		}
	}
	return counts
}

// The profile has the same calls, also nested and abandoned ones, as the tool that only counts.
func TestProfileCounts(t *testing.T) {
	programs := []struct {
		ranks   int
		source  string
		late    map[string]string // counts that differ: calls within MPI_Finalize are not recorded
		options []string
		config  []string
	}{
		{ranks: 2, source: "calls.c"},
		{ranks: 1, source: "callbacks.c", late: map[string]string{"MPI_Comm_size": "2 0"}},
		{ranks: 1, source: "threads.c", options: []string{"-pthread"}},
		{ranks: 1, source: "persistent_null.c"},
		{ranks: 1, source: "profile_fork.c"},
		{ranks: 1, source: "neighbors.c"},
		{ranks: 1, source: "persistent_collective.c"},
		{ranks: 2, source: "objects.c"},
		{ranks: 2, source: "times.c"},
		{ranks: 1, source: "exception.cc"},
		{ranks: 3, source: "messages.c"},
		{ranks: 2, source: "calls.c", config: []string{"pvar=mpitx:*", "interval_ns=1000000"}}, // samples at the same time
	}
	each(t, func(t *testing.T, m *mpi) {
		for _, p := range programs {
			t.Run(p.source+strings.Join(p.config, ","), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "counts")
				r := m.run(t, job{n: p.ranks, config: append(p.config, "profile=record", "counts="+file+".%r"), program: []string{m.compile(t, p.source, p.options...)}})
				for rank := range p.ranks {
					want := countsOf(t, fmt.Sprint(file, ".", rank))
					maps.Copy(want, p.late)
					same(t, fmt.Sprint("rank ", rank), sums(r.table(t, rank, "profile calls"), "function", "calls abandoned"), want)
				}
			})
		}
	})
}

// A process's live files take less than 4 MiB, and totals by function stay right when there is no room for more call sites.
func TestProfileFull(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		live := t.TempDir()
		r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "profile_full.c")}, live: live})
		const calls = "300 0 0 0 0 0 0"
		want := map[string]string{
			"MPI_Init": "1 0 0 0 0 0 0", "MPI_Pcontrol": "600 0 0 0 0 0 0", "MPI_Comm_rank": calls, "MPI_Comm_size": calls, "MPI_Comm_test_inter": calls,
			"MPI_Comm_get_name": calls, "MPI_Type_size": calls, "MPI_Initialized": calls, "MPI_Finalized": calls, "MPI_Query_thread": calls,
			"MPI_Is_thread_main": calls, "MPI_Barrier": calls, "MPI_Allreduce": "300 0 0 0 0 2400 2400", "MPI_Send": calls,
			"MPI_Sendrecv": "300 300 2400 300 2400 0 0",
		}
		rows := r.table(t, 0, "profile calls")
		same(t, "calls", sums(rows, "function", transfers), want)
		if len(rows) < 2000 || len(rows) > 3100 {
			t.Errorf("%d rows", len(rows))
		}
		same(t, "peers", sums(r.table(t, 0, "profile peers"), "job rank", "messages_sent bytes_received"), map[string]string{"0 0": "300 2400"})
		if lost := r.rank(t, 0).Counters.LostRows; lost != 0 {
			t.Errorf("%d rows lost", lost)
		}
		if n := notes(r.rank(t, 0), recording.NoteReduced); len(n) != 2 || !strings.Contains(n[0], "profile is full: the program has too many phases; use fewer names") || !strings.Contains(n[1], "too many phase names") {
			t.Errorf("notes: %q", n)
		}
		var bytes int64
		files, _ := filepath.Glob(filepath.Join(live, "*.live"))
		for _, file := range files {
			if info, err := os.Stat(file); err == nil {
				bytes += info.Size()
			}
		}
		if bytes == 0 || bytes >= 4<<20 {
			t.Errorf("%d bytes of live files", bytes)
		}
	})
}

// Functions that are not profiled do not hide the messages of others.
func TestProfileSelection(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.run(t, job{n: 2, config: []string{"profile=record", "include=MPI_Wait*", "include=MPI_*send", "exclude=MPI_S*", "stack=0"},
			program: []string{m.compile(t, "profile_known.c"), filepath.Join(t.TempDir(), "file")}})
		rows := r.table(t, 0, "profile calls")
		same(t, "calls", sums(rows, "function", transfers), map[string]string{
			"MPI_Isend": "7 7 56 0 0 0 0", "MPI_Waitall": "7 0 0 7 56 0 0", "MPI_Wait": "12 0 0 6 198 0 0",
		})
		if _, ok := rows[0]["stack"]; ok {
			t.Error("there are call sites")
		}
	})
}

// Calls that the library makes itself count apart. Another tool after the agent counts as a part of the library.
func TestProfileInner(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		tool := m.compile(t, "pmpi_tool.c", "-shared", "-fPIC")
		for _, stack := range []string{"stack=1", "stack=3"} {
			r := m.run(t, job{n: 1, config: []string{"profile=record", "inner=1", stack}, program: []string{m.compile(t, "plain.c")}, preload: []string{"agent", tool}})
			rows := r.table(t, 0, "profile calls")
			got := sums(rows, "function within", "calls ticks")
			for key := range got {
				if strings.HasSuffix(key, " ") {
					got[key], _, _ = strings.Cut(got[key], " ")
				}
			}
			same(t, stack, got, map[string]string{
				"MPI_Init ": "1", "MPI_Comm_rank ": "10", "MPI_Irecv ": "3", "MPI_Send ": "3", "MPI_Wait ": "3", "MPI_Finalize ": "1",
				"MPI_Comm_size MPI_Comm_rank": "10 0", "MPI_Comm_rank MPI_Comm_rank": "10 0", "MPI_Type_size MPI_Send": "3 0", "MPI_Send MPI_Send": "3 0",
			})
			sites := map[string]string{}
			for _, row := range rows {
				sites[row.text("function")+" "+row.text("within")] = fmt.Sprint(row["stack"])
			}
			if a, b := sites["MPI_Send "], sites["MPI_Type_size MPI_Send"]; a != b {
				t.Errorf("sites %s and %s", a, b)
			}
		}
	})
}

// mpitx.h needs no library, however the program is linked, and does nothing without the agent.
func TestProfilePhases(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		want := map[string]string{"main": "3", "own": "1", "deep": "1", "": "1"}
		for _, options := range [][]string{{}, {"-no-pie", "-fno-pie"}, {"-Wl,--no-undefined", "-Wl,--as-needed", "-Wl,-z,now"}, {"-std=c99", "-pedantic-errors", "-Werror"}, {"C++"}} {
			t.Run(strings.Join(options, " "), func(t *testing.T) {
				source := "profile_phases.c"
				if slices.Contains(options, "C++") {
					source, options = "profile_phases.cc", nil
				}
				program := m.compile(t, source, append([]string{"-pthread"}, options...)...)
				if bare := m.run(t, job{program: []string{program}}); bare.code != 0 || bare.stdout != "done\n" {
					t.Errorf("without the agent: exit code %d\n%s%s", bare.code, bare.stdout, bare.stderr)
				}
				r := m.run(t, job{config: []string{"profile=record"}, program: []string{program}})
				calls := map[string]string{}
				for key, value := range sums(r.table(t, 0, "profile calls"), "function phase", "calls") {
					if phase, ok := strings.CutPrefix(key, "MPI_Initialized "); ok {
						calls[phase] = value
					}
				}
				same(t, "calls", calls, want)
				phases := sums(r.table(t, 0, "profile phases"), "phase", "entered")
				if len(phases) != 257 { // with those whose names are too many
					t.Errorf("%d phases", len(phases))
				}
				for i := range 253 {
					delete(phases, strconv.Itoa(i))
				}
				same(t, "phases", phases, map[string]string{"main": "1", "own": "1", "deep": "15", "": "47"})
				if n := strings.Join(notes(r.rank(t, 0), recording.NoteReduced), "; "); !strings.Contains(n, "more than 16 deep") || !strings.Contains(n, "too many phase names") {
					t.Errorf("notes %q", n)
				}
			})
		}
	})
}

// All memory of the agent together, with its code, is less than 4 MiB, also with many requests at once.
func TestProfileMemory(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program := []string{m.compile(t, "profile_memory.c")}
		// The kernel maps what it still has of a file just written, 600 KiB that no process uses; dd has it forget the agent's.
		if text, err := exec.Command("dd", "of="+m.agent, "oflag=nocache", "conv=notrunc,fdatasync", "count=0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		// The least of several runs: how many pages of its files a process maps depends on what else runs.
		kib := func(config []string) (least int) {
			for range 5 {
				n := 0
				r := m.run(t, job{n: 1, config: config, program: program})
				if _, err := fmt.Sscan(r.stdout, &n); err != nil {
					t.Fatalf("%v: %q", err, r.stdout)
				}
				if least == 0 || n < least {
					least = n
				}
			}
			return least
		}
		bare, profiled := kib(nil), kib([]string{"profile=record"})
		t.Logf("%d KiB without the agent, %d KiB with a profile", bare, profiled)
		if added := profiled - bare; added <= 0 || added >= 4<<10 {
			t.Errorf("%d KiB without the agent, %d KiB with a profile", bare, profiled)
		}
	})
}

// The profile of programs that end in other ways than MPI_Finalize, use only sessions, spawn processes, or are in Python.
func TestProfileKinds(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		calls := func(t *testing.T, r *result) map[string]string {
			return sums(r.table(t, 0, "profile calls"), "function", "calls")
		}
		t.Run("abort", func(t *testing.T) {
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "exits.c"), "abort"}})
			same(t, "calls", calls(t, r), map[string]string{"MPI_Init": "1", "MPI_Abort": "1"})
		})
		t.Run("unfinished", func(t *testing.T) {
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "exits.c"), "unfinished"}})
			same(t, "calls", calls(t, r), map[string]string{"MPI_Init": "1"})
		})
		t.Run("sessions", func(t *testing.T) {
			if m.family == "openmpi" {
				t.Skip("Open MPI 4 has no sessions")
			}
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "sessions.c")}})
			same(t, "calls", calls(t, r), map[string]string{"MPI_Session_init": "1", "MPI_Group_from_session_pset": "1",
				"MPI_Comm_create_from_group": "1", "MPI_Comm_rank": "1", "MPI_Comm_free": "1", "MPI_Group_free": "1", "MPI_Session_finalize": "1"})
			objects := r.table(t, 0, "objects")
			if len(objects) != 1 || objects[0].text("made_by") != "MPI_Comm_create_from_group" || objects[0].text("freed") != "1" || objects[0].text("size") != "1" {
				t.Errorf("objects: %v", objects)
			}
		})
		t.Run("spawn", func(t *testing.T) {
			if m.family != "openmpi" {
				t.Skip("Debian's MPICH cannot spawn processes")
			}
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "messages.c"), "spawn"}})
			same(t, "peers", sums(r.table(t, 0, "profile peers"), "job rank onesided", "messages_sent bytes_sent messages_received bytes_received"),
				map[string]string{"1 0 0": "0 0 2 20", "1 1 0": "2 20 0 0"})
			made := map[string]string{}
			for _, row := range r.table(t, 0, "objects") {
				made[row.text("made_by")] += row.text("size") + " "
			}
			if made["MPI_Comm_spawn"] != "3 " {
				t.Errorf("objects: %v", made)
			}
		})
		t.Run("python", func(t *testing.T) {
			if modules, _ := filepath.Glob("/usr/lib/python3/dist-packages/mpi4py/MPI.*.so"); len(modules) == 0 {
				need.Missing(t, "python3-mpi4py is not installed")
			}
			if m.family != "openmpi" {
				t.Skip("Debian's mpi4py uses Open MPI")
			}
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{"/usr/bin/python3", "../../selftest/testdata/python.py"}})
			got := calls(t, r)
			for function, n := range map[string]string{"MPI_Init_thread": "1", "MPI_Barrier": "5", "MPI_Isend": "1", "MPI_Mprobe": "1", "MPI_Mrecv": "1", "MPI_Wait": "1", "MPI_Finalize": "1"} {
				if calls := got[function] + got[function+"_c"]; calls != n { // mpi4py 4 prefers the functions with large counts
					t.Errorf("%s: %q calls, want %s", function, calls, n)
				}
			}
			same(t, "peers", sums(r.table(t, 0, "profile peers"), "job rank", "messages_sent messages_received"), map[string]string{"0 0": "1 1"})
		})
	})
}
