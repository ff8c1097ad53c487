package profile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/recording/finding"
	"mpitx/recording/paths"
	"mpitx/text"
)

// pathsOf are the paths between different ranks that a condition holds for, the ranks, and the bytes of messages on them.
func (p *Profile) pathsOf(is func(*paths.Path) bool) (list []*paths.Path, ranks []int, bytes uint64) {
	for _, path := range p.Paths {
		if path.A != path.B && path.Messages+path.Operations+uint64(path.Sockets.Count) > 0 && is(path) {
			list = append(list, path)
			ranks = append(ranks, path.A, path.B)
			bytes += path.Bytes
		}
	}
	slices.Sort(ranks)
	return list, slices.Compact(ranks), bytes
}

// communicating is the part of the run time in functions that reach other ranks.
func (p *Profile) communicating() float64 {
	return p.Share(p.timeOf(func(f *Function) bool { return f.MessagesSent+f.MessagesReceived > 0 || collective(f.Name) }))
}

// chooses names the setting that chooses transports below a layer.
func chooses(path *paths.Path) string {
	switch path.Carriers[0].Layer {
	case paths.BTL:
		return "btl, which chooses Open MPI's transports"
	case paths.UCX:
		return "UCX_TLS, which chooses UCX's transports"
	}
	return "the settings of the library's transports"
}

// between says which ranks a path or several are about.
func between(list []*paths.Path, ranks []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("ranks %d and %d", ranks[0], ranks[1])
	}
	return text.Count(len(list), "pair") + " of " + text.Ranks(ranks)
}

// overTCP reports whether ranks of one node have TCP for their small or for their large messages, because a layer chose it that has settings for it.
func overTCP(path *paths.Path, use paths.Use) bool {
	tcp := false
	for _, c := range path.Carriers {
		if c.Layer == paths.Kernel || (c.Use == paths.All || c.Use == use) && c.Transport != "tcp" {
			return false
		}
		tcp = tcp || c.Transport == "tcp"
	}
	return path.OneNode && tcp
}

// tcpOnNode finds ranks of one node that reach each other over TCP.
func tcpOnNode(p *Profile) []found {
	what := "reach each other over TCP, and not by shared memory"
	list, ranks, bytes := p.pathsOf(func(path *paths.Path) bool { return overTCP(path, paths.Small) })
	if len(list) == 0 {
		what = "send large messages over TCP, and only small ones by shared memory"
		list, ranks, bytes = p.pathsOf(func(path *paths.Path) bool {
			return overTCP(path, paths.Large) && path.Bytes > 0 && path.Sockets.Bytes >= path.Bytes/2
		})
	}
	if len(list) == 0 {
		return nil
	}
	return []found{{Finding: finding.Finding{Kind: "tcp on one node", Ranks: ranks, Share: p.communicating(),
		Figures: finding.Figures{"pairs": float64(len(list)), "bytes": float64(bytes)},
		Text:    fmt.Sprintf("%s on one node %s", between(list, ranks), what),
		Next:    chooses(list[0]) + " (mpitx list --changed, and mpitx report RUN paths)"}}}
}

// refusedCopies finds single copies that the system refused.
func refusedCopies(p *Profile) []found {
	list, ranks, _ := p.pathsOf(func(path *paths.Path) bool { return path.Copies.Failed > 0 })
	if len(list) == 0 {
		return nil
	}
	failed, calls := uint64(0), uint64(0)
	for _, path := range list {
		failed, calls = failed+path.Copies.Failed, calls+path.Copies.Calls
	}
	return []found{{Finding: finding.Finding{Kind: "single copy refused", Ranks: ranks, Share: p.communicating(),
		Figures: finding.Figures{"failed": float64(failed), "calls": float64(calls)},
		Text:    fmt.Sprintf("the system refused %d of %s between %s: %s", failed, text.Count(int(calls), "single copy"), between(list, ranks), list[0].Copies.Error),
		Next:    "kernel.yama.ptrace_scope, and at what a container may do (CAP_SYS_PTRACE)"}}}
}

// doubleCopies finds ranks of one node whose large messages were copied twice, and never from one process to another.
func doubleCopies(p *Profile) []found {
	var next string
	list, ranks, bytes := p.pathsOf(func(path *paths.Path) bool {
		if !path.OneNode || path.Copies.Calls > 0 || !path.CopiesFollowed || path.Messages == 0 {
			return false
		}
		for _, c := range path.Carriers {
			shared := c.Layer == paths.BTL && (c.Transport == "vader" || c.Transport == "sm") || c.Layer == paths.UCX && (c.Transport == "sysv" || c.Transport == "posix")
			if !shared || c.Limit == 0 || path.Bytes/path.Messages <= c.Limit {
				return false
			}
		}
		switch c := path.Carriers; {
		case len(c) == 0:
			return false
		case c[0].Transport == "vader":
			next = "btl_vader_single_copy_mechanism, kernel.yama.ptrace_scope, and at what a container may do (CAP_SYS_PTRACE)"
		case c[0].Transport == "sm":
			next = "smsc, which chooses how large messages are copied once, kernel.yama.ptrace_scope, and at what a container may do (CAP_SYS_PTRACE)"
		default:
			next = "UCX_TLS: whether it has cma"
		}
		return true
	})
	if len(list) == 0 {
		return nil
	}
	return []found{{Finding: finding.Finding{Kind: "double copy", Ranks: ranks, Share: p.communicating(),
		Figures: finding.Figures{"pairs": float64(len(list)), "bytes": float64(bytes)},
		Text:    fmt.Sprintf("large messages between %s on one node were copied into shared memory and out of it, and none directly", between(list, ranks)),
		Next:    next}}}
}

// slowInterfaces finds nodes that reach each other over a slower interface, though both have a much faster one.
func slowInterfaces(p *Profile) []found {
	var first *paths.Path
	list, ranks, bytes := p.pathsOf(func(path *paths.Path) bool {
		if path.OneNode || path.Faster == "" {
			return false
		}
		if first == nil {
			first = path
		}
		return first.Faster == path.Faster
	})
	if len(list) == 0 {
		return nil
	}
	return []found{{Finding: finding.Finding{Kind: "slow interface", Ranks: ranks, Certainty: finding.Possible, Share: p.communicating(),
		Figures: finding.Figures{"pairs": float64(len(list)), "bytes": float64(bytes)},
		Text:    fmt.Sprintf("%s reach each other over %s; their nodes have a faster interface: %s", between(list, ranks), strings.Join(first.Sockets.Interfaces, ", "), first.Faster),
		Next:    "whether it connects them: btl_tcp_if_include and UCX_NET_DEVICES choose interfaces"}}}
}

// overLimit finds programs most of whose messages are just too large to be sent at once.
func overLimit(p *Profile) []found {
	limits := map[uint64]paths.Carrier{}
	p.pathsOf(func(path *paths.Path) bool {
		for _, c := range path.Carriers {
			if c.Limit > 0 && path.Messages > 0 {
				limits[c.Limit] = c
			}
		}
		return false
	})
	if len(limits) != 1 {
		return nil
	}
	for limit, c := range limits {
		var all, over uint64
		for _, s := range p.Sizes {
			if s.Received {
				continue
			}
			for k, n := range s.Messages {
				all += n
				if from, to := SizesOf(k); from >= limit && to != nil && *to < 2*limit {
					over += n
				}
			}
		}
		share := part(float64(over), time.Duration(all))
		if share < 0.8 {
			return nil
		}
		next := "the eager limit"
		switch c.Layer {
		case paths.BTL:
			next = "btl_" + c.Transport + "_eager_limit"
		case paths.UCX:
			next = "UCX_RNDV_THRESH"
		}
		return []found{{Finding: finding.Finding{Kind: "over the eager limit", Certainty: finding.Possible, Share: p.communicating(),
			Figures: finding.Figures{"share_of_messages": share, "limit_bytes": float64(limit)},
			Text:    fmt.Sprintf("%s of the messages have between one and two times the eager limit of %s, which is %s: the sender asks the receiver before it sends them", text.RoughPercent(share), c.Transport, text.Amount(float64(limit), "B")),
			Next:    next + ", with mpitx verify"}}}
	}
	return nil
}
