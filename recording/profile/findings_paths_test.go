package profile

import (
	"strings"
	"testing"

	"mpitx/recording/paths"
)

// Each sentence about paths, and paths that it must not be said of.
func TestPathFindings(t *testing.T) {
	vader := []paths.Carrier{{Layer: paths.BTL, Transport: "vader", Use: paths.All, Limit: 4096}}
	tcp := []paths.Carrier{{Layer: paths.UCX, Transport: "tcp", Device: "eth0", Use: paths.All, Limit: 65536}}
	path := func(of paths.Path) *paths.Path {
		of.A, of.B = 0, max(of.B, 1)
		return &of
	}
	large := paths.Path{OneNode: true, Carriers: vader, CopiesFollowed: true, Messages: 10, Bytes: 50000}
	sizes := func(bucket int, messages uint64) *Sizes {
		s := &Sizes{}
		s.Messages[bucket] = messages
		return s
	}
	with := func(p paths.Path, change func(*paths.Path)) *paths.Path {
		change(&p)
		return path(p)
	}
	for name, c := range map[string]struct {
		path  *paths.Path
		sizes []*Sizes
		want  string
	}{
		"tcp":              {path: path(paths.Path{OneNode: true, Carriers: tcp, Messages: 1}), want: "ranks 0 and 1 on one node reach each other over TCP, and not by shared memory; UCX_TLS"},
		"tcp, two nodes":   {path: path(paths.Path{Carriers: tcp, Messages: 1})},
		"tcp, unused":      {path: path(paths.Path{OneNode: true, Carriers: tcp})},
		"tcp among others": {path: path(paths.Path{OneNode: true, Carriers: append(tcp[:1:1], vader...), Messages: 1})},
		"tcp, spawned":     {path: path(paths.Path{OneNode: true, Carriers: []paths.Carrier{{Layer: paths.Kernel, Transport: "tcp", Use: paths.All}}, Messages: 1})},
		"tcp, large": {path: path(paths.Path{OneNode: true, Carriers: []paths.Carrier{{Layer: paths.UCX, Transport: "sysv", Use: paths.Small}, {Layer: paths.UCX, Transport: "tcp", Use: paths.Large}}, Messages: 1, Bytes: 1000,
			Sockets: paths.Sockets{Bytes: 1000}}), want: "ranks 0 and 1 on one node send large messages over TCP, and only small ones by shared memory; UCX_TLS"},
		"tcp, large, none sent": {path: path(paths.Path{OneNode: true, Carriers: []paths.Carrier{{Layer: paths.UCX, Transport: "sysv", Use: paths.Small}, {Layer: paths.UCX, Transport: "tcp", Use: paths.Large}}, Messages: 1, Bytes: 1000,
			Sockets: paths.Sockets{Bytes: 100}})},
		"unknown":        {path: path(paths.Path{OneNode: true, Unknown: "why", Messages: 10, Bytes: 1 << 30})},
		"double":         {path: path(large), want: "large messages between ranks 0 and 1 on one node were copied into shared memory and out of it, and none directly; btl_vader_single_copy_mechanism"},
		"small messages": {path: with(large, func(p *paths.Path) { p.Bytes = 1000 })},
		"copied":         {path: with(large, func(p *paths.Path) { p.Copies.Calls = 1 })},
		"not followed":   {path: with(large, func(p *paths.Path) { p.CopiesFollowed = false })},
		"unknown limit": {path: with(large, func(p *paths.Path) {
			p.Carriers = []paths.Carrier{{Layer: paths.BTL, Transport: "vader", Use: paths.All}}
		})},
		"cma": {path: with(large, func(p *paths.Path) {
			p.Carriers = []paths.Carrier{{Layer: paths.UCX, Transport: "sysv", Limit: 10}, {Layer: paths.UCX, Transport: "cma", Limit: 10}}
		})},
		"refused": {path: with(large, func(p *paths.Path) { p.Copies = paths.Copies{Calls: 5, Failed: 4, Error: "operation not permitted"} }),
			want: "the system refused 4 of 5 single copies between ranks 0 and 1: operation not permitted; kernel.yama"},
		"slower":      {path: path(paths.Path{Carriers: tcp, Messages: 1, Faster: "ib0 (100 Gbit/s)", Sockets: paths.Sockets{Interfaces: []string{"eth0"}}}), want: "ranks 0 and 1 reach each other over eth0; their nodes have a faster interface: ib0 (100 Gbit/s); whether"},
		"over":        {path: path(paths.Path{Carriers: vader, Messages: 1}), sizes: []*Sizes{sizes(13, 90), sizes(3, 10)}, want: "90 % of the messages have between one and two times the eager limit of vader, which is 4.096 kB: the sender asks the receiver before it sends them; btl_vader_eager_limit"},
		"far over":    {path: path(paths.Path{Carriers: vader, Messages: 1}), sizes: []*Sizes{sizes(14, 90)}},
		"under":       {path: path(paths.Path{Carriers: vader, Messages: 1}), sizes: []*Sizes{sizes(12, 90)}},
		"half over":   {path: path(paths.Path{Carriers: vader, Messages: 1}), sizes: []*Sizes{sizes(13, 50), sizes(14, 50)}},
		"no messages": {path: path(paths.Path{Carriers: vader}), sizes: []*Sizes{sizes(13, 90)}},
	} {
		p := &Profile{Paths: []*paths.Path{c.path}, Sizes: c.sizes}
		var said []string
		for _, find := range []func(*Profile) []found{tcpOnNode, refusedCopies, doubleCopies, slowInterfaces, overLimit} {
			for _, f := range find(p) {
				said = append(said, f.Text+"; "+f.Next)
			}
		}
		if got := strings.Join(said, " | "); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || len(said) > 1 {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
