package runs

import (
	"bytes"
	"testing"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
)

// The estimated size of an export is about right.
func TestSampleBytes(t *testing.T) {
	run := manyRun(t, 2, 2000)
	some := func(c *recording.Column) bool { return c.ID%4 == 0 && c.Class == catalog.ClassCounter }
	for _, f := range []export.Format{export.FormatCSV, export.FormatJSON, export.FormatNDJSON} {
		for _, o := range []SampleOptions{{}, {Wide: true}, {Options: recording.Options{Column: some}}} {
			var b bytes.Buffer
			if err := Samples(&b, run, f, o); err != nil {
				t.Fatal(err)
			}
			if got, is := SampleBytes(run, f, o), float64(b.Len()); got < is/1.5 || got > is*1.5 {
				t.Errorf("%s, wide %v: %.0f bytes, in truth %.0f", f, o.Wide, got, is)
			}
		}
	}
	if got := SampleBytes(run, "parquet", SampleOptions{}); got < 16*4000 || got > 16*4000*8 {
		t.Errorf("Parquet: %.0f bytes", got)
	}
}
