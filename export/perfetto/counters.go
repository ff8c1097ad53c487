package perfetto

import (
	"strconv"
	"time"

	"mpitx/recording"
)

// counters are the tracks of a column's elements.
type counters struct {
	tracks []uint64
	last   time.Duration
}

// samples writes samples as counters of their rank's process.
func (x *writer) samples(o recording.Options) {
	all := map[*recording.Column]*counters{}
	for in := range x.run.Instants(o) {
		for i := range in.Cells {
			cell := &in.Cells[i]
			if !cell.Status.HasValue() || cell.Value.Kind == recording.Text {
				continue
			}
			c := all[cell.Column]
			if c == nil {
				c = &counters{tracks: make([]uint64, cell.Column.Count), last: in.Time}
				all[cell.Column] = c
			}
			if cell.Element >= len(c.tracks) {
				continue
			}
			if c.tracks[cell.Element] == 0 {
				c.tracks[cell.Element] = x.counter(in.Rank, cell, o.As)
			}
			x.start(typeCounter, c.tracks[cell.Element])
			if n, ok := cell.Value.Int64(); ok {
				x.body = varint(x.body, eventValue, uint64(n))
			} else {
				x.body = double(x.body, eventDouble, cell.Value.Float64())
			}
			c.last = max(c.last, in.Time)
			x.finish(c.last)
		}
		if x.err != nil {
			return
		}
	}
}

// counter writes the descriptor of an element's track.
func (x *writer) counter(r *recording.Rank, cell *recording.Cell, as recording.Transform) uint64 {
	p, c := x.process(r), cell.Column
	track := x.newTrack()
	name := c.Variable
	if c.ObjectName != "" {
		name += " " + c.ObjectName
	}
	if peer, ok := c.Peer(cell.Element); ok {
		name += " rank " + strconv.Itoa(peer)
	} else if c.Count > 1 || c.First > 0 {
		name += " [" + strconv.Itoa(c.First+cell.Element) + "]"
	}
	var counter []byte
	switch unit := c.UnitAs(as); unit {
	case "ns":
		counter = varint(nil, counterUnit, unitNs)
	case "B":
		counter = varint(nil, counterUnit, unitBytes)
	default:
		counter = field(nil, counterUnitTxt, valid(unit))
	}
	x.body = varint(varint(x.body[:0], trackID, track), trackParent, p.track)
	x.body = field(field(x.body, trackName, valid(name)), trackCounter, counter)
	x.descriptor()
	return track
}
