package queues

import (
	"cmp"
	"testing"
	"time"

	"mpitx/recording/finding"
)

// A finding names several ranks as one sentence can.
func TestDescribe(t *testing.T) {
	pair := func(rank, peer int) Pair { return Pair{Rank: rank, Peer: peer} }
	for want, f := range map[string]Finding{
		"rank 0 waits for rank 1: 4 of its receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; rank 1 sends late":                                                              {Finding: finding.Finding{Kind: LateSender}, relation: onePair, Pairs: []Pair{pair(0, 1)}},
		"rank 0 waits for ranks 1-2: 4 of its receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; ranks 1-2 send late":                                                         {Finding: finding.Finding{Kind: LateSender}, relation: sameRank, Pairs: []Pair{pair(0, 1), pair(0, 2)}},
		"ranks 1-2 wait for rank 0: 4 of their receives on ring were posted 2.000 ms on average before their messages were sent, 8.000 ms in all; rank 0 sends late":                                                     {Finding: finding.Finding{Kind: LateSender}, relation: samePeer, Pairs: []Pair{pair(1, 0), pair(2, 0)}, Derived: true},
		"ranks 0-2 each wait for the rank before: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                               {Finding: finding.Finding{Kind: LateSender}, relation: apart, distance: 1, Pairs: []Pair{pair(0, 2), pair(1, 0), pair(2, 1)}},
		"ranks 0-1,3 each wait for the rank before: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all; rank 2 does not wait, and sends late":                       {Finding: finding.Finding{Kind: LateSender}, relation: apart, distance: 1, Pairs: []Pair{pair(0, 3), pair(1, 0), pair(3, 2)}},
		"ranks 0-1 receive late: 4 of 5 messages from each other, in pairs of neighbours, on ring came before their receives, and waited 2.000 ms on average, 8.000 ms in all; post their receives earlier":              {Finding: finding.Finding{Kind: LateReceives}, relation: both, distance: 1, Pairs: []Pair{pair(0, 1), pair(1, 0)}},
		"ranks 0-1 wait for each other: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                                         {Finding: finding.Finding{Kind: LateSender}, relation: mutual, Pairs: []Pair{pair(0, 1), pair(1, 0)}},
		"ranks 0-3 wait for each other, in pairs of neighbours: 4 of their receives on ring waited 2.000 ms on average in the queue of posted receives, 8.000 ms in all":                                                 {Finding: finding.Finding{Kind: LateSender}, relation: both, distance: 1, Pairs: []Pair{pair(0, 1), pair(1, 0), pair(2, 3), pair(3, 2)}},
		"rank 0 waits for rank 1: 1 of its receives on ring was posted 8.000 ms before its message was sent; rank 1 sends late":                                                                                          {Finding: finding.Finding{Kind: LateSender}, Messages: 1, relation: onePair, Pairs: []Pair{pair(0, 1)}, Derived: true},
		"rank 0 receives late: 1 of 5 messages from rank 1 on ring came before its receive, and waited 8.000 ms; post its receives earlier":                                                                              {Finding: finding.Finding{Kind: LateReceives}, Messages: 1, relation: onePair, Pairs: []Pair{pair(0, 1)}},
		"ranks 0,4 each receive late: 4 of 5 messages from the rank that is 2 after on ring came before their receives, and waited 2.000 ms on average, 8.000 ms in all; post their receives earlier":                    {Finding: finding.Finding{Kind: LateReceives}, relation: apart, distance: -2, Pairs: []Pair{pair(0, 2), pair(4, 6)}},
		"rank 0 receives late: 4 of 5 messages from rank 1 on ring were sent before their receives were posted, and waited at most 2.000 ms on average, 8.000 ms in all; post its receives earlier, most of all in main": {Finding: finding.Finding{Kind: LateReceives}, relation: onePair, Pairs: []Pair{pair(0, 1)}, Derived: true, Site: "main"},
	} {
		f.Comm, f.Messages, f.Of, f.Waited = "ring", cmp.Or(f.Messages, 4), 5, 8*time.Millisecond
		if f.describe(); f.Text != want || f.Figures["messages"] != float64(f.Messages) || f.Figures["mean_wait_ns"] != 8e6/float64(f.Messages) {
			t.Errorf("%s\nwant %s\n%v", f.Text, want, f.Figures)
		}
	}
}
