package kernel

import (
	"cmp"
	"math"
	"slices"
	"time"

	"mpitx/recording/algorithm"
	"mpitx/recording/profile"
)

// Use is an operation of a program, and what it took there.
type Use struct {
	Operation
	Calls uint64
	Time  time.Duration // of all ranks
	Ran   string        // what served most of the calls, as mpitx report algorithms writes it
	From  int64         // the sizes of the calls: Bytes is their mean
	To    int64
}

// Distinct are the collectives of a program that can be measured, by function, size and number of ranks, those with the most time first. Sizes are
// the means in each of a profile's ranges of sizes. It needs a profile with algorithms.
func Distinct(p *profile.Profile) (all []Use) {
	type key struct {
		function      string
		bucket, ranks int
	}
	type sum struct {
		Use
		bytes, most uint64
	}
	sums := map[key]*sum{}
	for _, a := range p.AlgorithmsOfSizes() {
		function := algorithm.Operation(a.Function)
		if a.Calls == 0 || a.Object.Size < 2 || !slices.Contains(Functions, function) || !blocking(a.Function, function) {
			continue
		}
		k := key{function, a.Bucket, a.Object.Size}
		s := sums[k]
		if s == nil {
			s = &sum{Use: Use{Operation: Operation{Function: function, Ranks: a.Object.Size}}}
			sums[k] = s
		}
		s.bytes, s.Calls, s.Time = s.bytes+a.Bytes, s.Calls+a.Calls, s.Time+a.Time
		if a.Calls > s.most {
			s.most, s.Ran = a.Calls, a.Text()
		}
	}
	for k, s := range sums {
		s.Bytes = int64(s.bytes / s.Calls)
		from, to := profile.SizesOf(k.bucket)
		if s.From, s.To = int64(from), math.MaxInt64; to != nil {
			s.To = int64(*to)
		}
		if s.Function == "alltoall" || s.Function == "alltoallv" { // a profile counts what a call gives to all ranks
			s.Bytes, s.From = s.Bytes/int64(s.Ranks), (s.From+int64(s.Ranks)-1)/int64(s.Ranks)
			if to != nil {
				s.To /= int64(s.Ranks)
			}
			s.From, s.To = min(s.From, s.Bytes), max(s.To, s.Bytes)
		}
		all = append(all, s.Use)
	}
	slices.SortFunc(all, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Function, b.Function), a.Ranks-b.Ranks, cmp.Compare(a.Bytes, b.Bytes))
	})
	return all
}

// blocking reports whether a function of MPI is the blocking one of its operation.
func blocking(name, operation string) bool {
	return len(name) == len("MPI_")+len(operation) || name[len(name)-2:] == "_c" && len(name) == len("MPI__c")+len(operation)
}
