package trace

import (
	"encoding/binary"
	"strings"

	"mpitx/recording"
	"mpitx/recording/algorithm"
)

var le = binary.LittleEndian

// The flags of events (enum trace_flags in the agent).
const (
	flagSent = 1 << iota
	flagReceived
	flagEstimated
	flagFailed
	flagAbandoned
	flagPosts
	flagConcurrent
	flagRoot
	flagOpen
	flagOneSided
	flagPartitioned
	flagExclusive

	depthShift, depthMask = 16, 0xff
	slotShift             = 24
)

// names are the fields of calls, messages and posts, with their sizes. A type that lacks one reads it as 0.
var names = [...]struct {
	name string
	size int
}{{"begin", 8}, {"site", 8}, {"bytes", 8}, {"function", 4}, {"object", 4}, {"peer", 4}, {"tag", 4}, {"job", 4}, {"request", 4}, {"sequence", 4}, {"flags", 4},
	{"phase", 4}, {"entered", 4}, {"slot", 4}, {"lasted", 4}, {"outcome", 4}, {"algorithm", 4}, {"channel", 4}, {"partitions", 4}}

const (
	fieldBegin = iota
	fieldSite
	fieldBytes
	fieldFunction
	fieldObject
	fieldPeer
	fieldTag
	fieldJob
	fieldRequest
	fieldSequence
	fieldFlags
	fieldPhase
	fieldEntered
	fieldSlot
	fieldLasted
	fieldOutcome
	fieldAlgorithm
	fieldChannel
	fieldPartitions
)

// The outcomes of MPI_Cancel.
const (
	outcomeAsked = iota
	outcomeCancelled
)

// kind is what a type of events is.
type kind uint8

const (
	kindOther kind = iota
	kindCall
	kindRepeat
	kindMessage
	kindHidden
	kindPost
	kindStart // of a partitioned receive
	kindDone
	kindCancel
	kindPart
	kindPhase
	kindExternal
)

var kindsByName = map[string]kind{typeCall: kindCall, typeRepeat: kindRepeat, typeMessage: kindMessage, typeHidden: kindHidden, typePost: kindPost, typeDone: kindDone, typeCancel: kindCancel, typePart: kindPart, typePhase: kindPhase,
	typePartitioned: kindMessage, typeStart: kindStart}

// layout says where the fields of a type of events are; -1: nowhere.
type layout struct {
	kind kind
	at   [len(names)]int16
}

func layoutOf(t *recording.EventType) *layout {
	l := &layout{kind: kindsByName[t.Name]}
	for i := range l.at {
		l.at[i] = -1
	}
	if l.kind == kindOther {
		if source, _, _ := strings.Cut(t.Name, " "); source == "mpi_t" || source == "peruse" {
			l.kind = kindExternal
		}
		return l
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		for k := range names {
			if f.Name == names[k].name && f.Size() == names[k].size && f.Count == 1 {
				l.at[k] = int16(f.Offset())
			}
		}
	}
	return l
}

func (l *layout) u64(body []byte, field int) uint64 {
	if at := l.at[field]; at >= 0 {
		return le.Uint64(body[at:])
	}
	return 0
}

func (l *layout) u32(body []byte, field int) uint32 {
	if at := l.at[field]; at >= 0 {
		return le.Uint32(body[at:])
	}
	return 0
}

func (l *layout) i32(body []byte, field int) int { return int(int32(l.u32(body, field))) }

// process is what the decoder keeps for each rank.
type process struct {
	rank    *recording.Rank
	layouts []*layout // by type
	texts   []string  // by number, of those below maxTexts; "": not known yet
	objects map[uint32]*Object
	served  map[servedBy]string
	clocks  map[int64]sourceClock // of event sources; nil: not read yet
	first   int                   // the number in the run of rank 0 of its MPI_COMM_WORLD

	last   *Object // the object that was asked for last, and its number
	lastID uint32
}

const maxTexts = 1 << 14

func (p *process) layout(t *recording.EventType) *layout {
	for len(p.layouts) <= t.ID {
		p.layouts = append(p.layouts, nil)
	}
	if p.layouts[t.ID] == nil {
		p.layouts[t.ID] = layoutOf(t)
	}
	return p.layouts[t.ID]
}

func (p *process) text(id uint32) string {
	if id >= maxTexts {
		return p.rank.Text(uint64(id))
	}
	for uint32(len(p.texts)) <= id {
		p.texts = append(p.texts, "")
	}
	if p.texts[id] == "" { // it may still come
		p.texts[id] = p.rank.Text(uint64(id))
	}
	return p.texts[id]
}

// servedBy is a text of the agent about calls of a function, by their numbers.
type servedBy struct{ text, function uint32 }

// algorithm is how a collective call was served.
func (p *process) algorithm(l *layout, body []byte) string {
	if l.at[fieldAlgorithm] < 0 {
		return ""
	}
	key := servedBy{l.u32(body, fieldAlgorithm), l.u32(body, fieldFunction)}
	words, known := p.served[key]
	if !known {
		if text := p.text(key.text); text != "" {
			served := algorithm.Parse(text, p.text(key.function))
			words = served.Text()
		}
		if p.served == nil {
			p.served = map[servedBy]string{}
		}
		p.served[key] = words
	}
	return words
}

func (p *process) object(id uint32) *Object {
	if id != p.lastID {
		p.last, p.lastID = p.objects[id], id
	}
	return p.last
}

// peer converts a rank in MPI_COMM_WORLD to the number in the run.
func (p *process) peer(peer, job int) int {
	if job == 0 && peer >= 0 {
		return p.first + peer
	}
	return peer
}

// find is the number in the run of the other side of a message, also if it is in another job whose processes are known.
func (p *process) find(o *Object, peer, job int) (rank int, known bool) {
	switch {
	case job == 0:
		return p.peer(peer, 0), peer >= 0
	case o != nil && o.whole != nil && peer >= 0:
		rank = o.whole.Opposite(p.rank.Rank, peer)
		return rank, rank >= 0
	}
	return peer, false
}

// processes finds the process of a rank.
type processes struct {
	trace *Trace
	all   map[*recording.Rank]*process
	last  *process
}

func newProcesses(t *Trace) processes {
	return processes{trace: t, all: map[*recording.Rank]*process{}}
}

func (x *processes) of(r *recording.Rank) *process {
	if x.last != nil && x.last.rank == r {
		return x.last
	}
	p := x.all[r]
	if p == nil {
		p = &process{rank: r, objects: x.trace.objects[r], first: r.Spawned.First}
		x.all[r] = p
	}
	x.last = p
	return p
}
