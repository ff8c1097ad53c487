// Package kernel measures single operations of an MPI library: it writes a list for the built-in program (fixtures/workload/kernel.c), runs it
// under the launcher with a profile, which says what algorithm served each operation, and reads the results.
package kernel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Functions are what an operation may be. Pingpong is half of the way from the first rank to the last and back.
var Functions = []string{"allreduce", "bcast", "reduce", "alltoall", "alltoallv", "allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block",
	"gather", "scatter", "scan", "barrier", Pingpong}

// Pingpong is the function of messages between two ranks.
const Pingpong = "pingpong"

// Most is the number of operations that one run can measure, and of repetitions of one.
const Most = 1000

// Operation is what is measured.
type Operation struct {
	Function string `json:"function"` // "allreduce"
	// Bytes are those of the count argument: of the whole buffer in bcast, reduce, allreduce, scan and pingpong, of the block of one rank in the
	// others.
	Bytes int64  `json:"bytes"`
	Ranks int    `json:"ranks"`           // the first ranks of the job
	Name  string `json:"name,omitempty"`  // a control variable that forces an algorithm; "": none
	Value int64  `json:"value,omitempty"` // of the variable
	// Segment is the value of the variable NAME_segmentsize of Open MPI: messages are cut into segments of so many bytes; 0: it stays as it is.
	Segment int64 `json:"segment,omitempty"`
}

// Limits end the measurement of an operation.
type Limits struct {
	Repetitions int     `json:"repetitions"` // at most Most
	Seconds     float64 `json:"seconds"`     // of all its repetitions
	Precision   float64 `json:"precision"`   // the length of the interval of the median, as a part of the median; 0: not narrow enough ever
}

// Result is what was measured. Times are in nanoseconds.
type Result struct {
	Index  int     `json:"index"`
	Median float64 `json:"median_ns"`
	Low    float64 `json:"low_ns"` // the median lies between Low and High with 95 % confidence, if repetitions are independent
	High   float64 `json:"high_ns"`
	Q1     float64 `json:"q1_ns"`
	Q3     float64 `json:"q3_ns"`
	Min    float64 `json:"min_ns"`
	Max    float64 `json:"max_ns"`

	N        int `json:"n"`        // repetitions
	Missed   int `json:"missed"`   // further repetitions, which some rank began late: they do not count
	Outliers int `json:"outliers"` // of N: farther from the quartiles than 1.5 times their distance

	Start      string  `json:"start"` // "window": at a given time; "barrier": after one
	Window     float64 `json:"window_ns"`
	ClockError float64 `json:"clock_error_ns"` // of the clocks of nodes
	Crowded    bool    `json:"crowded"`        // ranks share cores
	Stopped    string  `json:"stopped"`        // "precision", "repetitions", "time"
	Seconds    float64 `json:"seconds"`        // that it took

	Error     string `json:"error,omitempty"` // why there is no result
	Code      int    `json:"code,omitempty"`  // of the call that failed
	Crashed   bool   `json:"crashed,omitzero"`
	Skipped   bool   `json:"skipped,omitzero"`    // the run ended before it
	Algorithm string `json:"algorithm,omitempty"` // that the library used, as mpitx report algorithms writes it; "": not known
}

// write writes the list. Operations that follow each other with one function, size and number of ranks are measured by turns.
func write(all []Operation, limits Limits) []byte {
	var b bytes.Buffer
	group := 0
	for k, o := range all {
		if k > 0 {
			if last := all[k-1]; last.Function != o.Function || last.Bytes != o.Bytes || last.Ranks != o.Ranks {
				group++
			}
		}
		fmt.Fprintf(&b, "%s bytes=%d ranks=%d repetitions=%d seconds=%g precision=%g group=%d", o.Function, o.Bytes, o.Ranks, min(limits.Repetitions, Most), limits.Seconds, limits.Precision, group)
		if o.Name != "" {
			fmt.Fprintf(&b, " name=%s value=%d", o.Name, o.Value)
			if o.Segment > 0 {
				fmt.Fprintf(&b, " name=%s_segmentsize value=%d", o.Name, o.Segment)
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// read reads the results of so many operations. at is the operation that was measured last.
func read(content []byte, n int) (all []Result, at int, err error) {
	all, at = make([]Result, n), -1
	for k := range all {
		all[k] = Result{Index: k, Skipped: true}
	}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		var one struct {
			Result
			At *int `json:"at"`
		}
		if !strings.HasSuffix(line, "\n") { // the program was killed
			break
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, 0, fmt.Errorf("line %d: %v", number, err)
		}
		if one.At != nil {
			at = *one.At
			continue
		}
		if one.Index < 0 || one.Index >= n {
			return nil, 0, fmt.Errorf("line %d: there is no operation %d", number, one.Index)
		}
		all[one.Index] = one.Result
	}
	return all, at, nil
}
