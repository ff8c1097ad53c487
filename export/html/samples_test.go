package html

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// Samples of two ranks over five seconds become charts of 400 points at most; what never changes has none.
func TestSamples(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	var chunks []byte
	for rank := range int32(2) {
		s := recordingtest.NewStream(uint64(rank)+1, rank)
		s.Header(recordingtest.Header{Rank: rank, Size: 2, Clock: 1, NsPerTick: 1, Host: "node1", Program: "/app"})
		s.Clock(0, 0, 1_700_000_000_000_000_000, 0)
		for id, name := range []string{"queue<script>", "constant"} {
			s.Column(uint32(id), recordingtest.Column{Variable: name, Class: int32(catalog.ClassLevel), Type: int32(catalog.TypeInt), Count: 1, Size: 4})
		}
		s.Column(2, recordingtest.Column{Variable: "ratio", Class: int32(catalog.ClassLevel), Type: int32(catalog.TypeDouble), Count: 1, Size: 8})
		s.Set(0, 16, 0, 1, 2)
		for i := range uint32(5000) {
			row := binary.LittleEndian.AppendUint32(nil, i/1000*10+uint32(rank))
			row = binary.LittleEndian.AppendUint32(row, 7)
			ratio := []float64{1, 2, math.NaN(), math.Inf(-1)}[i%4]
			s.Sample(0, uint64(i)*uint64(time.Millisecond), binary.LittleEndian.AppendUint64(row, math.Float64bits(ratio)), nil)
		}
		s.Clock(5e9, 5e9, 1_700_000_005_000_000_000, 0)
		s.End(1)
		s.Seal()
		chunks = append(chunks, s.Out...)
	}
	if err := recordingtest.Save(dir, "node1", chunks); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	all, width := collect(run, recording.Options{})
	if width != 16*time.Millisecond || len(all) != 3 {
		t.Fatal(width, len(all))
	}
	n := 0.0
	for i, b := range all["queue<script>"].bins {
		n += b.n
		if at := time.Duration(i) * width; b.n > 0 && (b.low > float64(at/time.Second*10)+10 || b.high < float64(at/time.Second*10)+1 || b.sum < b.n*b.low || b.sum > b.n*b.high) {
			t.Errorf("%v: %+v", at, b)
		}
	}
	if b := all["queue<script>"].bins[0]; n != 10000 || b != (bin{32, 16, 0, 1}) {
		t.Errorf("%v samples; first %+v", n, b)
	}
	charts, more := samples(run, recording.Options{}, export.Terminal{UTF8: true})
	if len(charts) != 2 || more != 0 || charts[0].Title != "queue<script>" || strings.Contains(string(charts[0].SVG), "<script") || !strings.Contains(string(charts[0].SVG), "time in s<") {
		t.Errorf("%d charts: %.300v", len(charts), charts)
	}
	if b := all["ratio"].bins[0]; b != (bin{16, 24, 1, 2}) || strings.Contains(string(charts[1].SVG), "NaN") {
		t.Errorf("%+v: infinite numbers have no place: %s", b, charts[1].SVG)
	}
}
