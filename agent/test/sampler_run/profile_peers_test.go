package samplerrun

import (
	"fmt"
	"testing"
)

// A process that has sent to many others needs less than 4 MiB and 64 bytes for each of them, with the agent's code.
func TestProfilePeers(t *testing.T) {
	const peers = 20000
	each(t, func(t *testing.T, m *mpi) {
		program := m.compile(t, "profile_peers.c", m.compile(t, "profile_peers.c", "-shared", "-fPIC", "-DCROWD"))
		kib := func(config []string, peers int) (n int, r *result) {
			r = m.run(t, job{n: 1, config: config, program: []string{program, fmt.Sprint(peers)}})
			if _, err := fmt.Sscan(r.stdout, &n); err != nil {
				t.Fatalf("%v: %q %s", err, r.stdout, r.stderr)
			}
			return n, r
		}
		bare, _ := kib(nil, peers)
		one, _ := kib([]string{"profile=record"}, 1)
		all, r := kib([]string{"profile=record"}, peers)
		t.Logf("%d KiB without the agent, %d KiB with one peer, %d KiB with %d: %d bytes for each", bare, one, all, peers, (all-one)*1024/peers)
		const agent = 256 // KiB of code and tables that are touched
		if most := 4<<10 + agent + peers*64>>10; all <= one || all-bare >= most {
			t.Errorf("a profile of %d peers takes %d KiB, not less than %d KiB", peers, all-bare, most)
		}
		rows := r.table(t, 0, "profile peers")
		sent := int64(0)
		for _, row := range rows {
			sent += row.number("messages_sent")
		}
		if len(rows) != peers || sent != peers {
			t.Errorf("%d peers, %d messages", len(rows), sent)
		}
	})
}
