package network

import (
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

const (
	sent, again             = "mpitx:net/tcp/segments_sent", "mpitx:net/tcp/segments_retransmitted"
	packets, drops, inError = "mpitx:net/e0/packets_received", "mpitx:net/e0/drops_received", "mpitx:net/e0/errors_received"
)

// grows are the amounts by which variables of a rank grow in each of its seconds.
type grows map[string][]uint64

// of are the findings of a run with one rank on each node.
func of(t *testing.T, ranks ...grows) (found []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	for rank, all := range ranks {
		host := fmt.Sprint("node", rank+1)
		s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
		s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(len(ranks)), Clock: 1, NsPerTick: 1, Host: host, Thread: 1})
		s.Clock(0, 0, 1e18, 0)
		var offsets []uint32
		names := slices.Sorted(maps.Keys(all))
		values := make([]uint64, len(names))
		for i, name := range names {
			s.Column(uint32(i), recordingtest.Column{Variable: name, Class: int32(catalog.ClassCounter), Type: int32(catalog.TypeUint64), Count: 1, Size: 8})
			offsets = append(offsets, uint32(i))
			values[i] = 5000 // before the run
		}
		row := func() (b []byte) {
			for _, v := range values {
				b = binary.LittleEndian.AppendUint64(b, v)
			}
			return b
		}
		s.Set(0, 8*len(names), offsets...)
		s.Sample(0, 0, row(), nil)
		for k := range all[names[0]] {
			for i, name := range names {
				values[i] += all[name][k]
			}
			s.Sample(0, uint64(k+1)*1e9, row(), nil)
		}
		s.End(1)
		s.Seal()
		if err := recordingtest.Save(dir, host, s.Out); err != nil {
			t.Fatal(err)
		}
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, f := range Findings(run, recording.Options{}) {
		found = append(found, f.Text)
	}
	return found
}

func TestFindings(t *testing.T) {
	busy := []uint64{1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}
	none := []uint64{0, 0, 0, 0, 0, 0, 0, 0}
	quiet := grows{sent: busy, again: none}
	lossy := []uint64{0, 0, 0, 30, 20, 40, 0, 0}
	for _, c := range []struct {
		name string
		runs []grows
		want []string
	}{
		{"nothing sent again", []grows{quiet, quiet}, nil},
		{"idle", []grows{{sent: none, again: none}}, nil},
		{"one in a million", []grows{{sent: []uint64{1e6, 1e6}, again: []uint64{0, 1}}}, nil},
		{"many, but few of all", []grows{{sent: []uint64{1e6, 1e6}, again: []uint64{900, 900}}}, nil},
		{"one of few", []grows{{sent: []uint64{3, 3}, again: []uint64{0, 1}}}, nil},
		{"of node 2", []grows{quiet, {sent: busy, again: lossy}},
			[]string{"node2 retransmitted 3 % of its TCP segments from 3.00 s to 6.00 s (90 of 3000, of the sockets of rank 1)"}},
		{"few before and after it", []grows{{sent: []uint64{1e6, 1e6, 1e6, 1000, 1000, 1e6, 1e6, 1e6}, again: []uint64{3, 1, 2, 30, 50, 2, 1, 3}}},
			[]string{"node1 retransmitted 4 % of its TCP segments from 3.00 s to 5.00 s (80 of 2000, of the sockets of rank 0)"}},
		{"twice", []grows{{sent: busy, again: []uint64{200, 0, 0, 0, 0, 0, 100, 0}}},
			[]string{"node1 retransmitted 20 % of its TCP segments from 0.00 s to 1.00 s (200 of 1000, of the sockets of rank 0), and as much at 1 other time"}},
		{"of an unknown number", []grows{{again: lossy}, {packets: busy, again: lossy}}, nil},
		{"drops of an unknown number", []grows{{drops: lossy, sent: busy, again: lossy}},
			[]string{"node1 retransmitted 3 % of its TCP segments from 3.00 s to 6.00 s (90 of 3000, of the sockets of rank 0)"}},
		{"of another program", []grows{{packets: busy, drops: lossy, inError: lossy}}, nil},
		{"of another program, beside quiet sockets", []grows{{packets: busy, drops: lossy, sent: busy, again: none}}, nil},
		{"drops at another time", []grows{{packets: busy, drops: []uint64{99, 0, 0, 0, 0, 0, 0, 0}, sent: busy, again: lossy}},
			[]string{"node1 retransmitted 3 % of its TCP segments from 3.00 s to 6.00 s (90 of 3000, of the sockets of rank 0)"}},
		{"drops of the other node", []grows{{packets: busy, drops: lossy, inError: none}, {sent: busy, again: lossy}},
			[]string{"node2 retransmitted 3 % of its TCP segments from 3.00 s to 6.00 s (90 of 3000, of the sockets of rank 1); meanwhile interface e0 of node1 " +
				"dropped 90 packets, or had errors in them, and received 3000: of this job or of other programs"}},
		{"the loopback", []grows{{"mpitx:net/lo/packets_received": busy, "mpitx:net/lo/drops_received": lossy, sent: busy, again: lossy}},
			[]string{"node1 retransmitted 3 % of its TCP segments from 3.00 s to 6.00 s (90 of 3000, of the sockets of rank 0)"}},
		{"a link", []grows{{"mpitx:net/ib/mlx5_0/1/link_downed": []uint64{0, 1, 0}, "mpitx:net/ib/mlx5_0/1/symbol_errors": []uint64{5, 5, 5}}},
			[]string{"the link of InfiniBand port mlx5_0/1 of node1 went down 1 time from 1.00 s to 2.00 s"}},
		{"a link that stays", []grows{{"mpitx:net/ib/mlx5_0/1/link_downed": []uint64{0, 0, 0}}}, nil},
	} {
		if found := of(t, c.runs...); !slices.Equal(found, c.want) {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, strings.Join(found, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
