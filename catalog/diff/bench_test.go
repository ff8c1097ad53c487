//go:build unix

package diff

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"mpitx/catalog"
)

// large is a catalog of n variables with the names and descriptions of Open MPI. change tells for each variable what to change.
func large(from *catalog.Catalog, n int, change func(i int, v *catalog.Variable)) *catalog.Catalog {
	out := *from
	out.Cvars = nil
	for i := range n {
		v := from.Cvars[i%len(from.Cvars)]
		if round := i / len(from.Cvars); round > 0 {
			v.Name = fmt.Sprintf("%s_%d", v.Name, round)
			v.Description = fmt.Sprintf("%s (%d)", v.Description, round)
		}
		change(i, &v)
		out.Cvars = append(out.Cvars, v)
	}
	return &out
}

// processorTime is the processor time of this process in milliseconds. Unlike the wall time it does not depend on other load.
func processorTime() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

// BenchmarkCompare compares catalogs in which a tenth of the variables are renamed and a tenth changed, and then catalogs that have
// nothing in common, which is the most work.
func BenchmarkCompare(b *testing.B) {
	from := snapshot(b, "openmpi-4.1.4")
	keep := func(int, *catalog.Variable) {}
	some := func(i int, v *catalog.Variable) {
		switch i % 10 {
		case 0:
			v.Name = strings.Replace(v.Name, "_", "_new_", 1)
		case 1:
			v.Before = &catalog.Reading{Status: catalog.StatusOK, Value: catalog.NewText("new")}
		}
	}
	all := func(i int, v *catalog.Variable) { v.Name, v.Description = "new_"+v.Name, v.Description+" now" }
	for _, n := range []int{1300, 10000, 100000} {
		for _, x := range []struct {
			name   string
			change func(int, *catalog.Variable)
		}{{"some", some}, {"all", all}} {
			b.Run(fmt.Sprintf("%s/%d", x.name, n), func(b *testing.B) {
				one, other := large(from, n, keep), large(from, n, x.change)
				start := processorTime()
				for b.Loop() {
					compare(one, other)
				}
				b.ReportMetric((processorTime()-start)/float64(b.N), "cpu-ms/op")
			})
		}
	}
}
