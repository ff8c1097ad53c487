package queues

import "testing"

// The part of unexpected messages is known only from events of the library that count both kinds, if none were lost.
func TestUnexpectedShare(t *testing.T) {
	peers := []Peer{{Unexpected: 3, Expected: 1}, {Unexpected: 0, Expected: 6}}
	for name, c := range map[string]struct {
		q    *Queues
		want float64
	}{
		"events":          {&Queues{Peers: peers}, 0.3},
		"no messages":     {&Queues{}, 0},
		"from calls":      {&Queues{Peers: peers, Derived: true}, 0},
		"arrivals only":   {&Queues{Peers: peers, Source: mpichSource}, 0},
		"lost events":     {&Queues{Peers: peers, Lost: 1}, 0},
		"without a trace": {nil, 0},
	} {
		if got := c.q.UnexpectedShare(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
