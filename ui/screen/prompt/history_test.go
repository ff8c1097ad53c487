package prompt

import (
	"fmt"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	var h History
	for _, l := range []string{"one", "two", "", "one", "three"} {
		h.Add(l)
	}
	if got := strings.Join(h.Lines, " "); got != "two one three" {
		t.Errorf("lines %q", got)
	}
	h.Rewind()
	var got []string
	line := "draft"
	for _, key := range "-----++++++" {
		if key == '-' {
			line = h.Older(line)
		} else {
			line = h.Newer(line)
		}
		got = append(got, line)
	}
	if s := strings.Join(got, " "); s != "three one two two two one three draft draft draft draft" {
		t.Error(s)
	}
	for i := range 2 * maxHistory {
		h.Add(fmt.Sprint(i))
	}
	if len(h.Lines) != maxHistory || h.Lines[maxHistory-1] != fmt.Sprint(2*maxHistory-1) {
		t.Errorf("%d lines, the last is %s", len(h.Lines), h.Lines[len(h.Lines)-1])
	}
	if line := new(History).Older("x"); line != "x" {
		t.Errorf("an empty history has %q", line)
	}
}
