package cli

import "testing"

// What a failed run said is shown without the lines about its recording, which is deleted.
func TestReasons(t *testing.T) {
	said := "no input file\nmpitx: a_b is not sampled: reading it crashes or hangs the library\nmpitx: 2 variables are not sampled: reading them crashes or hangs the library: a, b\nmpitx: profiled in /tmp/x/0; next: mpitx report /tmp/x/0\nmpitx: start ./nosuch: there is no such file\n"
	if got := reasons(said, "/tmp/x/0"); got != "no input file\nmpitx: start ./nosuch: there is no such file\n" {
		t.Error(got)
	}
}
