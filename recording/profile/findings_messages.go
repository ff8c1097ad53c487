package profile

import (
	"fmt"
	"time"

	"mpitx/recording"
	"mpitx/recording/finding"
	"mpitx/text"
)

// hotSpots finds a rank that receives or sends far more than its share of all bytes.
func hotSpots(p *Profile) (list []found) {
	if len(p.Ranks) < 4 {
		return nil
	}
	sent, received, all := map[int]uint64{}, map[int]uint64{}, uint64(0)
	for i := range p.Pairs {
		if pair := &p.Pairs[i]; pair.Source != pair.Destination {
			sent[pair.Source] += pair.Bytes()
			received[pair.Destination] += pair.Bytes()
			all += pair.Bytes()
		}
	}
	inMessages := p.timeOf(func(f *Function) bool { return f.MessagesSent+f.MessagesReceived > 0 })
	for _, way := range []struct {
		verb  string
		bytes map[int]uint64
	}{{"receives", received}, {"sends", sent}} {
		rank, most := 0, uint64(0)
		for _, r := range p.Ranks {
			if way.bytes[r.Number] > most {
				rank, most = r.Number, way.bytes[r.Number]
			}
		}
		share := part(float64(most), time.Duration(all))
		if share < 0.5 {
			continue
		}
		list = append(list, found{Finding: finding.Finding{Kind: "hot spot", Ranks: []int{rank}, Share: p.Share(inMessages) * share,
			Figures: finding.Figures{"bytes": float64(most), "share_of_bytes": share},
			Text:    fmt.Sprintf("rank %d %s %s of all bytes of point-to-point messages", rank, way.verb, text.RoughPercent(share)),
			Next:    fmt.Sprintf("whether the other ranks wait for rank %d; a collective, or spreading its work, may be faster", rank)}})
	}
	return list
}

// smallMessages finds programs that send very many small messages.
func smallMessages(p *Profile) []found {
	const largest = 8 // bucket: less than 256 bytes
	var all, small uint64
	var busiest *Sizes
	for _, s := range p.Sizes {
		if s.Received {
			continue
		}
		for k, n := range s.Messages {
			if all += n; k <= largest {
				small += n
			}
		}
		if busiest == nil || s.Count() > busiest.Count() {
			busiest = s
		}
	}
	perSecond := float64(small) / max(p.Elapsed().Seconds(), 1e-9) // on each rank
	share := part(float64(small), time.Duration(all))
	if share < 0.8 || perSecond < 10000 {
		return nil
	}
	inMessages := p.timeOf(func(f *Function) bool { return f.MessagesSent > 0 })
	return []found{{Finding: finding.Finding{Kind: "small messages", Subject: busiest.Function, Share: p.Share(inMessages) * share,
		Figures: finding.Figures{"messages": float64(small), "share_of_messages": share, "messages_per_second": perSecond},
		Text:    fmt.Sprintf("%s of the messages have less than 256 bytes: %.0f a second on each rank, most of them by %s", text.RoughPercent(share), perSecond, busiest.Function),
		Next:    "whether several messages can be sent as one"}}}
}

// settled reports whether a rank has received what it will receive: it has ended, or died in a call that it had been in for long.
func (r *Rank) settled() bool {
	return r.finalized() || r != nil && r.Process != nil && r.Process.State == recording.StateDied && r.OpenFor >= time.Second
}

// sendsFrom is the only line from which a rank sends; "" if there are several.
func (p *Profile) sendsFrom(rank int) (only string) {
	for _, s := range p.Sites {
		for i := range s.Ranks {
			switch r := &s.Ranks[i]; {
			case s.Within != "" || r.Rank.Number != rank || r.MessagesSent == 0:
			case s.Place() == "" || only != "" && only != s.Where():
				return ""
			default:
				only = s.Where()
			}
		}
	}
	return only
}

// lostMessages finds messages that were sent to a rank that has ended without receiving them.
func lostMessages(p *Profile) []found {
	var lost, all uint64
	var worst *Pair
	for i := range p.Pairs {
		pair := &p.Pairs[i]
		if !pair.SourceKnown || !pair.DestinationKnown || !p.rank(pair.Source).settled() || !p.rank(pair.Destination).settled() {
			continue
		}
		all += pair.MessagesSent
		if pair.MessagesSent <= pair.MessagesReceived {
			continue
		}
		lost += pair.MessagesSent - pair.MessagesReceived
		if worst == nil || pair.MessagesSent-pair.MessagesReceived > worst.MessagesSent-worst.MessagesReceived {
			worst = pair
		}
	}
	if worst == nil || len(p.Cut.Phases) > 0 {
		return nil
	}
	line := p.sendsFrom(worst.Source)
	from := ""
	if line != "" {
		from = " (" + line + ")"
	}
	return []found{{Finding: finding.Finding{Kind: "lost messages", Subject: line, Ranks: []int{worst.Source, worst.Destination}, Share: significant,
		Figures: finding.Figures{"messages_lost": float64(lost), "messages": float64(all)},
		Text:    fmt.Sprintf("%d of %d messages were not received, most of them from rank %d to rank %d%s", lost, all, worst.Source, worst.Destination, from),
		Next:    "whether a receive is missing, or its request was freed or cancelled: mpitx trace names the messages"}}}
}

// timeOf is the time in some of the functions.
func (p *Profile) timeOf(which func(*Function) bool) (sum time.Duration) {
	for _, f := range p.Functions {
		if f.Within == "" && which(f) {
			sum += f.Time
		}
	}
	return sum
}
