package progress

import (
	"strings"
	"testing"
	"time"
)

func TestBar(t *testing.T) {
	var out strings.Builder
	at := time.Unix(1, 0)
	b := &Bar{w: &out, what: "exporting", start: at, now: func() time.Time { return at }}
	step := func(d time.Duration, done, total uint64) string {
		out.Reset()
		at = at.Add(d)
		b.Update(done, total)
		return out.String()
	}
	if got := step(900*time.Millisecond, 1, 4); got != "" {
		t.Errorf("a short work shows %q", got)
	}
	if got, want := step(200*time.Millisecond, 1, 4), "\rmpitx: exporting [#######-----------------------]  25 %"; got != want {
		t.Errorf("%q", got)
	}
	if got := step(50*time.Millisecond, 2, 4); got != "" {
		t.Errorf("too often: %q", got)
	}
	if got := step(100*time.Millisecond, 9, 4); !strings.HasSuffix(got, "[##############################] 100 %") {
		t.Errorf("%q", got)
	}
	if got, want := step(time.Second, 7, 0), "\rmpitx: exporting: 7 samples"; strings.TrimRight(got, " ") != want || len(got) < 50 {
		t.Errorf("%q does not cover what was there", got)
	}
	out.Reset()
	b.Clear()
	if got := out.String(); strings.Trim(got, "\r ") != "" || len(got) < 50 {
		t.Errorf("%q", got)
	}
	out.Reset()
	b.Clear()
	if out.Len() > 0 {
		t.Errorf("cleared twice: %q", out.String())
	}
	(&Bar{}).Update(1, 2) // and one that shows nothing
}

// A line is shorter than the terminal, so that the next one overwrites it.
func TestNarrow(t *testing.T) {
	for _, test := range []struct {
		columns     int
		done, total uint64
		want        string
	}{
		{60, 1, 2, "mpitx: running with and without the settings [###---]  50 %"},
		{50, 1, 2, "mpitx: running with and without the settings  50 %"[:49]},
		{51, 1, 2, "mpitx: running with and without the settings  50 %"},
		{20, 1, 2, "mpitx: running with"},
		{50, 123, 0, "mpitx: running with and without the settings: 123 "[:49]},
		{0, 1, 2, "mpitx: running with and without the settings [###############---------------]  50 %"},
	} {
		var out strings.Builder
		columns := 200
		b := &Bar{w: &out, what: "running with and without the settings", now: time.Now, columns: func() int { return columns }}
		b.Update(1, 2)
		columns, b.shown = test.columns, time.Time{} // the terminal shrinks
		out.Reset()
		b.Update(test.done, test.total)
		got := strings.TrimPrefix(out.String(), "\r")
		if strings.TrimRight(got, " ") != strings.TrimRight(test.want, " ") || test.columns > 0 && len(got) >= test.columns {
			t.Errorf("%d columns: %q, want %q", test.columns, got, test.want)
		}
		out.Reset()
		if b.Clear(); test.columns > 0 && len(strings.Trim(out.String(), "\r")) >= test.columns {
			t.Errorf("%d columns: cleared with %q", test.columns, out.String())
		}
	}
}
