package tuning

import "testing"

// The numbers are those that Open MPI 4.1.4 has of these texts (measured).
func TestOpenMPINumber(t *testing.T) {
	for _, c := range []struct {
		text, number string
		whole        bool
	}{
		{"8192", "8192", true}, {"64k", "65536", true}, {"8kb", "8192", true}, {"8Ki", "8192", true}, {"1MiB", "1048576", true}, {"0x20", "32", true}, {"-1", "-1", true},
		{"8192,16384", "8192", false}, {"1T", "1", false}, {"3 # three", "3", false}, {"8 k", "8", false}, {"5x", "5", false}, {"1.5", "1", false}, {"8kx", "8192", false},
	} {
		if number, whole := openMPINumber(c.text); number != c.number || whole != c.whole {
			t.Errorf("%q: %s %v", c.text, number, whole)
		}
	}
}

func TestFoundIn(t *testing.T) {
	for asked, want := range map[string]bool{"a.tune": false, "a.tune,b.tune": true, "/w/a.tune,b.tune": true, "b.tune,a.tune": false, "a.tune,/x/b.tune": false, "a.tune,b.tune,c": false} {
		if got := foundIn("/w/a.tune,/w/b.tune", asked); got != want {
			t.Errorf("%s: %t", asked, got)
		}
	}
}
