package export

import (
	"testing"
)

func TestApart(t *testing.T) {
	for _, x := range []struct {
		a, b  string
		width int
		x, y  string
	}{
		{"1", "2", 9, "1", "2"},
		{"shm,sockets,tcp,udp,rstream,usnic", "shm,sockets,tcp,udp,rstream,usnic,net", 16, "…tream,usnic", "…tream,usnic,net"},
		{"abcdefghijklmnopqrstuvwxyz1", "abcdefghijklmnopqrstuvwxyz2 and much more", 12, "…xyz1", "…xyz2 and m…"},
		{"one that differs at once", "two that differs at once", 9, "one that…", "two that…"},
		{"ééééééééé1", "ééééééééé2", 6, "…éééé1", "…éééé2"},
		{"", "a long text", 5, "", "a lo…"},
	} {
		if x1, y1 := tty.Apart(x.a, x.b, x.width); x1 != x.x || y1 != x.y {
			t.Errorf("%q, %q in %d: %q, %q", x.a, x.b, x.width, x1, y1)
		}
	}
}
