package text

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"btl_tcp_eager_limit", "btl_vader_eager_limit", "bml", "btl", "osc", "mpi_yield_when_idle", "MPIR_CVAR_ALLREDUCE", "coll_tuned_priority"}
	for want, near := range map[string]string{
		"btl_tcp_eager_limt":           "btl_tcp_eager_limit",
		"eager_limit":                  "btl_tcp_eager_limit btl_vader_eager_limit",
		"mpi_yeild_when_idle":          "mpi_yield_when_idle",
		"mpir_cvar_allreduse":          "MPIR_CVAR_ALLREDUCE",
		"OMPI_MCA_coll_tuned_priority": "coll_tuned_priority",
		"btk":                          "btl",
		"BTL":                          "btl bml", // the same name first
		"mpi":                          "mpi_yield_when_idle",
		"duce":                         "",
		"tune":                         "coll_tuned_priority",
		"nosuch":                       "",
		"btl_of_nothing":               "", // has a name of few letters in it
		"zzz":                          "",
		"":                             "",
	} {
		if got := strings.Join(Nearest(names, want, 2), " "); got != near {
			t.Errorf("%s: got %s, want %s", want, got, near)
		}
	}
	if got := Nearest(names, "btl", 0); got != nil {
		t.Error(got)
	}
}

// The banded computation agrees with a full table.
func TestEdits(t *testing.T) {
	words := []string{"", "a", "ab", "ba", "abc", "acb", "kitten", "sitting", "eager_limit", "eagre_limt", "xeager_limi"}
	for _, a := range words {
		for _, b := range words {
			d := distances{want: b}
			want := fullDistance(a, b)
			for most := range 14 {
				got, ok := d.edits(a, most)
				if ok != (want <= most) || ok && got != want {
					t.Errorf("%s to %s within %d: %d %v, not %d", a, b, most, got, ok, want)
				}
			}
		}
	}
}

func fullDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0:
				d[i][j] = j
			case j == 0:
				d[i][j] = i
			default:
				d[i][j] = min(d[i-1][j], d[i][j-1]) + 1
				d[i][j] = min(d[i][j], d[i-1][j-1]+map[bool]int{true: 1}[a[i-1] != b[j-1]])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)]
}
