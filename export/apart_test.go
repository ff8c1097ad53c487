package export

import (
	"bytes"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/catalog/diff"
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

// At every width, new values and names are whole, no line is too long, and what both sides share is said once.
func TestDiffFitted(t *testing.T) {
	load := func(text string) *catalog.Catalog {
		c := &catalog.Catalog{Before: catalog.Stage{Read: true}}
		v := catalog.NewText(text)
		c.Cvars = []catalog.Variable{{Kind: catalog.Cvars, Name: "a_variable_with_a_long_name_of_many_words", Origin: &catalog.Origin{Kind: catalog.OriginLauncher},
			Before: &catalog.Reading{Status: catalog.StatusOK, Value: v}}}
		return c
	}
	d := diff.Compare(diff.Side{Catalog: load("a value that is so long that it has to be cut: 1")}, diff.Side{Catalog: load("a value that is so long that it has to be cut: 2")}, diff.Options{})
	for _, width := range []int{60, 80, 100, 240} {
		var b bytes.Buffer
		if err := Diff(&b, d, FormatTable, Terminal{Width: width, IsTTY: true, UTF8: true}); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		for l := range strings.Lines(text) {
			if Width(strings.TrimSuffix(l, "\n")) > width {
				t.Errorf("%d: %q", width, l)
			}
		}
		words := strings.Join(strings.Fields(text), " ")
		if !strings.Contains(words, "a_variable_with_a_long_name_of_many_words") || !strings.Contains(words, "→ a value that is so long that it has to be cut: 2 (set in launcher)") ||
			!strings.Contains(words, ": 1 →") || strings.Count(words, "launcher") != 1 || !strings.Contains(words, d.Items[0].Reason) {
			t.Errorf("%d:\n%s", width, text)
		}
	}
}
