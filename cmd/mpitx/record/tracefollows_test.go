//go:build cgo && linux

package record

import "testing"

// TestTraceFollows: what is said of a job that has failed is true, also if the trace is then written.
func TestTraceFollows(t *testing.T) {
	o := &traceOutput{}
	for out, want := range map[string]string{
		"":      "still writing 'run 1/trace.pftrace'; if that is cut short, run mpitx export 'run 1' -o perfetto --out 'run 1/trace.pftrace'",
		"a.csv": "still writing a.csv; if that is cut short, run mpitx export 'run 1' -o csv --out a.csv",
	} {
		o.file.Out = out
		if got := o.promise("run 1"); got.Text != want || got.Kept != "" || o.file.Out != out {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
