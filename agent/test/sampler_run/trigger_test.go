package samplerrun

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/agent/condition"
	"mpitx/recording"
	"mpitx/recording/trigger"
	"mpitx/symbols"
)

// trigger is the configuration of triggers: conditions, each with the functions of --on and the actions of --then after semicolons.
func triggerLines(t *testing.T, triggers ...string) []string {
	t.Helper()
	config := []string{"interval_ns=0"}
	for _, text := range triggers {
		parts := strings.Split(text+";;", ";")
		c, err := condition.Parse(parts[0])
		if err != nil {
			t.Fatal(err)
		}
		one := condition.Trigger{Condition: c}
		if parts[1] != "" {
			one.On = strings.Split(parts[1], ",")
		}
		if parts[2] != "" {
			if one.Then, err = condition.ParseActions(parts[2]); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range c.Variables {
			config = append(config, "pvar="+v.Pattern())
		}
		config = append(config, "trigger="+strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(one.Configuration()))
	}
	return config
}

// triggered is what triggers found in triggers.c on a rank.
func (r *result) triggered(t *testing.T, rank int) (totals []trigger.Totals) {
	t.Helper()
	for _, one := range trigger.Read(r.run) {
		i := slices.IndexFunc(one.Ranks, func(k trigger.RankTotals) bool { return k.Rank == rank })
		if i < 0 {
			totals = append(totals, trigger.Totals{})
			continue
		}
		totals = append(totals, one.Ranks[i].Totals)
		if one.Ranks[i].Missed != 0 {
			t.Errorf("rank %d: %s: %d calls were not checked", rank, one.Condition, one.Ranks[i].Missed)
		}
	}
	return totals
}

// The calls of triggers.c are known, so each condition is true in a known number of calls. wants: times true and fired on ranks 0 and 1.
func TestTriggers(t *testing.T) {
	cases := []struct {
		text string
		want [2][2]uint64
	}{
		{"sent > 1M", [2][2]uint64{{3, 3}, {0, 0}}},
		{"bytes > 1M", [2][2]uint64{{3, 3}, {3, 3}}},
		{"received == 2000000", [2][2]uint64{{0, 0}, {3, 3}}},
		{"bytes > 1M;MPI_Bcast,MPI_Ssend", [2][2]uint64{{0, 0}, {0, 0}}},
		{"peer == 1 and tag == 1;MPI_*send", [2][2]uint64{{7, 7}, {0, 0}}},
		{"not (peer == 1 and tag == 1);MPI_Send", [2][2]uint64{{3, 3}, {0, 0}}},
		{"comm == solver", [2][2]uint64{{3, 3}, {3, 3}}},
		{"comm != 'solver' and comm == world and tag == 2", [2][2]uint64{{2, 2}, {2, 2}}},
		{"comm == self", [2][2]uint64{{0, 0}, {0, 0}}},
		{"root == 1", [2][2]uint64{{1, 1}, {1, 1}}},
		{"function == MPI_Bcast or function == 'MPI_Allr*'", [2][2]uint64{{2, 2}, {2, 2}}},
		{"time > 0s;MPI_Recv", [2][2]uint64{{0, 0}, {11, 11}}},
		{"mpitx:messages_received >= 3;MPI_Recv", [2][2]uint64{{0, 0}, {8, 1}}},
		{"mpitx:messages_sent/MPI_Ssend == 1 and sent > 1k;MPI_Send", [2][2]uint64{{3, 1}, {0, 0}}},
		{"delta(mpitx:messages_received) > 0;MPI_Recv", [2][2]uint64{{0, 0}, {10, 1}}},
		{"mpitx:bytes_sent == 700 or mpitx:bytes_sent == 2000700;MPI_Send", [2][2]uint64{{2, 1}, {0, 0}}},
		{"mpitx:time_in_init > 1ns;MPI_Bcast", [2][2]uint64{{1, 1}, {1, 1}}},
		{"max(mpitx:no_such_variable) >= 0;MPI_Send", [2][2]uint64{{0, 0}, {0, 0}}},
	}
	each(t, func(t *testing.T, m *mpi) {
		var texts []string
		for _, c := range cases {
			texts = append(texts, c.text)
		}
		r := m.start(t, 2, triggerLines(t, texts...), "triggers")
		for rank := range 2 {
			totals := r.triggered(t, rank)
			if len(totals) != len(cases) {
				t.Fatalf("%d triggers", len(totals))
			}
			for i, c := range cases {
				got := [2]uint64{totals[i].Held, totals[i].Fired}
				if got != c.want[rank] || totals[i].Recorded != totals[i].Fired {
					t.Errorf("rank %d: %s: true %d times, fired %d times, %d events; want %v", rank, c.text, got[0], got[1], totals[i].Recorded, c.want[rank])
				}
			}
		}
		for _, one := range trigger.Read(r.run) {
			if uint64(len(one.Events)) != one.Recorded {
				t.Errorf("%s: %d events of %d", one.Condition, len(one.Events), one.Recorded)
			}
		}
	})
}

// The example of the specification: receives while many unexpected messages wait. Rank 1 calls MPI_Recv when 7, 6, 5 … wait.
func TestTriggerOnQueue(t *testing.T) {
	m := mpis[0]
	m.needs(t)
	name := "pml_ob1_unexpected_msgq_length"
	texts := []string{
		"comm == world and tag == 1 and " + name + " > 5;MPI_Recv", "comm == world and tag == 1 and " + name + "[0] == 7;MPI_Recv",
		"comm == world and tag == 1 and max(" + name + "@comm) > 2;MPI_Recv", "comm == world and tag == 1 and " + name + "@self > 0;MPI_Recv",
		"comm == world and tag == 1 and " + name + "[5] >= 0;MPI_Recv", // no such element
	}
	r := m.run(t, job{n: 2, config: triggerLines(t, texts...), program: []string{m.compile(t, "triggers.c")}, env: []string{"OMPI_MCA_pml=ob1"}})
	want := [][2]uint64{{2, 1}, {1, 1}, {5, 1}, {0, 0}, {0, 0}}
	for i, got := range r.triggered(t, 1) {
		if got.Held != want[i][0] || got.Fired != want[i][1] {
			t.Errorf("%s: true %d times, fired %d times; want %v", texts[i], got.Held, got.Fired, want[i])
		}
	}
	for i, value := range []float64{7, 7, 7} {
		e := trigger.Read(r.run)[i].Events
		if len(e) != 1 || e[0].Rank != 1 || e[0].Function != "MPI_Recv" || len(e[0].Values) != 1 || e[0].Values[0] != value || *e[0].Peer != 0 || *e[0].Tag != 1 || e[0].ObjectName != "MPI_COMM_WORLD" {
			t.Errorf("%s: %+v", texts[i], e)
		}
	}
}

func TestTriggerActions(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		config := append(triggerLines(t, "tag == 1;MPI_Send,MPI_Recv;backtrace,sample,stop=SIGUSR1", "tag == 2;MPI_Send;count", "bytes > 1M;MPI_Recv;pcontrol=0"),
			"profile=record", "stack=0", "pvar=mpitx:messages_sent")
		r := m.run(t, job{n: 2, config: config, program: []string{m.compile(t, "triggers.c", "-g")}})
		for _, line := range []string{"rank 0 signals 7", "rank 1 signals 7"} {
			if !strings.Contains(r.stdout, line) {
				t.Errorf("%s is missing:\n%s", line, r.stdout)
			}
		}
		all := trigger.Read(r.run)
		if all[1].Fired != 3 || all[1].Recorded != 0 || len(all[1].Events) != 0 {
			t.Errorf("count: %+v", all[1])
		}
		// Samples are taken before the call: rank 0 has sent 0 to 6 messages.
		var sent []float64
		for in := range r.run.Instants(recording.Options{As: recording.Raw, Rank: func(k *recording.Rank) bool { return k.Rank == 0 }}) {
			if !in.Last {
				sent = append(sent, in.Cells[0].Value.Float64())
			}
		}
		if !slices.Equal(sent, []float64{0, 1, 2, 3, 4, 5, 6}) {
			t.Errorf("samples: %v", sent)
		}
		resolver := symbols.New(symbols.Options{})
		defer resolver.Close()
		for _, e := range all[0].Events {
			var functions []string
			for _, address := range e.Stack {
				if module := e.Module(address); module != nil {
					m := symbols.Module(*module)
					for _, f := range resolver.Resolve(&m, address) {
						functions = append(functions, f.Function+" "+filepath.Base(f.File))
					}
				}
			}
			want := []string{"receive triggers.c", "main triggers.c"}
			if e.Rank == 0 {
				want = want[1:]
			}
			if len(functions) < len(want) || !slices.Equal(functions[:len(want)], want) {
				t.Errorf("rank %d: the stack is %v, want %v", e.Rank, functions, want)
			}
		}
		// After the first long message, rank 1's profile stands still: 1 + 7 + 1 receives, or one less if that call does not count.
		var calls float64
		for row := range r.run.Rows(recording.Options{Rank: func(k *recording.Rank) bool { return k.Rank == 1 }}) {
			if row.Table.Name == "profile calls" && row.Values()[0].String() == "MPI_Recv" {
				for i := range row.Table.Fields {
					if f := &row.Table.Fields[i]; f.Name == "calls" {
						calls += row.FieldValues(f)[0].Float64()
					}
				}
			}
		}
		if calls != 8 && calls != 9 {
			t.Errorf("the profile has %v calls of MPI_Recv", calls)
		}
	})
}

// At most 1,000 events of a trigger are recorded, and all are counted.
func TestTriggerLimit(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		r := m.start(t, 2, triggerLines(t, "sent >= 0;MPI_Sendrecv"), "sampler_exec", "flood")
		for rank := range 2 {
			if got := r.triggered(t, rank)[0]; got.Fired != floods || got.Recorded != 1000 {
				t.Errorf("rank %d: %+v", rank, got)
			}
		}
	})
}

// A damaged configuration is ignored with a note, and the program runs.
func TestTriggerConfiguration(t *testing.T) {
	m := mpis[0]
	m.needs(t)
	good := "text a\\nvalue x\\nvariable mpitx:calls\\n"
	bad := []string{"", "nonsense", "text a", "code and", good + "code v1:sum", good + "code v0:sum v0:sum", good + "code v0:nonsense", good + "code n12",
		"text a\\ncode comm:0", "text a\\ncode function:7", "text a\\nthen stop=0\\ncode n0000000000000000", "text a\\nthen pcontrol=123456\\ncode bytes",
		"text a\\non @@\\ncode bytes", "text a\\ncode if:3 bytes", "text a\\ncode bytes if:1 bytes", "text a\\ncode" + strings.Repeat(" bytes", 70),
		good + "variable x*\\ncode bytes", "text a\\ncode" + strings.Repeat(" bytes", 17) + strings.Repeat(" and", 16), good + "then shout\\ncode bytes"}
	config := []string{"null=record"} // so that there is a run
	for _, b := range bad {
		config = append(config, "trigger="+b)
	}
	r := m.run(t, job{n: 1, config: config, program: []string{m.compile(t, "sampler_exscan.c")}})
	found := 0
	for _, n := range r.run.Ranks[0].Notes {
		if strings.HasPrefix(n.Text, "trigger: ignored: the configuration is invalid") {
			found++
		}
	}
	if found != len(bad) || trigger.Has(r.run) || r.code != 0 {
		t.Errorf("%d notes for %d configurations, exit code %d", found, len(bad), r.code)
	}
}
