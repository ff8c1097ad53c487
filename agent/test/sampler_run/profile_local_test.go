package samplerrun

import (
	"fmt"
	"math"
	"testing"
)

// Of short local calls, one in eight is timed after the first thousand of a site, whatever pattern they follow. All are counted.
func TestProfileLocal(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		program, tool := m.compile(t, "profile_local.c"), m.compile(t, "profile_local_tool.c", "-shared", "-fPIC")
		for _, period := range []int{2, 8, 16} {
			for _, exact := range []bool{false, true} {
				t.Run(fmt.Sprint(period, exact), func(t *testing.T) {
					config := []string{"profile=record", "stack=1"}
					if exact {
						config = append(config, "exact_times=1")
					}
					r := m.run(t, job{n: 1, config: config, program: []string{program}, preload: []string{"agent", tool}, env: []string{fmt.Sprint("PERIOD=", period)}})
					rows := r.table(t, 0, "profile calls")
					same(t, "calls", sums(rows, "function", "calls"), map[string]string{
						"MPI_Init": "1", "MPI_Type_size": "10500", "MPI_Comm_size": "5000", "MPI_Iprobe": "1250", "MPI_Finalize": "1"})
					for _, row := range rows {
						if row.text("function") != "MPI_Finalize" { // its time is not known
							localTimes(t, row, r.run.Ranks[0].NsPerTick, period, exact)
						}
					}
				})
			}
		}
	})
}

// localTimes checks one row.
func localTimes(t *testing.T, row tableRow, tick float64, period int, exact bool) {
	t.Helper()
	name, calls, untimed, picked := row.text("function"), row.number("calls"), row.number("untimed"), row.number("picked")
	var timed, long int64
	for i, v := range row["durations"] {
		n, _ := v.Int64()
		timed += n
		if math.Ldexp(1+float64(i%4)/4, 5+i/4)*tick > 15000 { // the tool's long calls take 20 µs
			long += n
		}
	}
	if timed+untimed != calls {
		t.Errorf("%s: %d calls, %d with a time, %d without", name, calls, timed, untimed)
	}
	ticks, squares := float64(row.number("picked_ticks")), float64(row.number("picked_squares"))
	if ticks > float64(row.number("ticks")) || float64(picked)*squares < ticks*ticks*0.999 {
		t.Errorf("%s: %d calls were picked, with a time of %v of %d, and squares of %v", name, picked, ticks, row.number("ticks"), squares)
	}
	if exact || name == "MPI_Iprobe" || name == "MPI_Init" || calls < 1000 {
		if untimed != 0 || picked != 0 {
			t.Errorf("%s: %d of %d calls have no time, %d were picked", name, untimed, calls, picked)
		}
		return
	}
	if lost := timed - 1000 - picked; lost < 0 || lost > 300 { // calls whose time does not count, as the process lost its core in them
		t.Errorf("%s: %d calls were timed, %d of them picked", name, timed, picked)
	}
	within(t, name+": timed calls", timed-1000, calls-1000, 1./8, 0)
	if name == "MPI_Type_size" { // others may take long as well, if the process loses its core
		within(t, name+": long ones of the picked calls", long-int64(math.Ceil(1000/float64(period))), picked, 1/float64(period), 30)
	}
}

// within checks the number of those of n that have something with a probability: it is off by five standard deviations once in a million runs.
func within(t *testing.T, what string, got, n int64, probability float64, more int64) {
	t.Helper()
	mean, deviation := float64(n)*probability, math.Sqrt(float64(n)*probability*(1-probability))
	if x := float64(got); x < mean-5*deviation || x > mean+5*deviation+float64(more) {
		t.Errorf("%s: %d, not %.0f ± %.0f", what, got, mean, 5*deviation)
	}
}
