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
	b.what, b.columns = "running with and without the settings", 60
	if got := step(time.Second, 1, 2); strings.TrimRight(got, " ") != "\rmpitx: running with and without the settings [###---]  50 %" {
		t.Errorf("on a narrow terminal: %q", got)
	}
	(&Bar{}).Update(1, 2) // and one that shows nothing
}
