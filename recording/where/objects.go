package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/recording"
)

// object is an object with what identifies it.
type object struct {
	*Object
	id, parent, order, group, kind, handle uint64

	madeBy string
	made   int64 // when; 0: an older mpitx recorded it
	job    int   // of an intercommunicator with a job that the process has spawned: its number; else 0
}

// kindHandle is a handle in one process. Handles of different kinds may be equal.
type kindHandle struct{ kind, handle uint64 }

var kinds = []string{"communicator", "window", "file"}

func (x *reader) addObject(f fields) {
	kind := f.unsigned("kind")
	o := &Object{Name: f.text("name"), Size: int(f.signed("size")), Rank: int(f.signed("rank")), Collectives: f.unsigned("collectives"), Inter: f.unsigned("side") != 0, Side: f.unsigned("side")}
	if kind < uint64(len(kinds)) {
		o.Kind = kinds[kind]
	}
	for i := range int(f.count("recent_number")) {
		if e := (Entry{string(f.at("recent_function", i).Bytes()), x.special(f.signedAt("recent_root", i)), f.unsignedAt("recent_number", i)}); e.Number > 0 {
			o.Recent = append(o.Recent, e)
		}
	}
	for i := range int(f.count("persistent_number")) {
		if n := f.unsignedAt("persistent_number", i); n > 0 {
			if o.Starts == nil {
				o.Starts = map[uint64]uint64{}
			}
			o.Starts[n] = f.unsignedAt("persistent_starts", i)
		}
	}
	o.Failed = f.unsigned("failed") > 0
	x.list = append(x.list, object{o, f.unsigned("id"), f.unsigned("parent"), f.unsigned("order"), f.unsigned("group"), kind, f.unsigned("handle"), f.text("made_by"), f.signed("made_at"), int(f.signed("job"))})
	x.process.Objects = append(x.process.Objects, o)
}

// anyObject is the object of a request, whose kind is not recorded.
func (x *reader) anyObject(handle uint64) *Object {
	for kind := range kinds {
		if o := x.objects[kindHandle{uint64(kind), handle}]; o != nil {
			return o
		}
	}
	return nil
}

// identify gives each object a name that is the same in all processes that share it: the way from a predefined communicator
// to it, by groups and order. MPI_COMM_WORLD is the object 1, MPI_COMM_SELF the object 2. It also says how objects without a name were made.
func identify(all map[*recording.Rank]*reader) {
	byNumber := map[int]*reader{}
	for _, x := range all {
		byNumber[x.process.Rank] = x
		x.inOrder()
	}
	var ranks []int
	for rank := range byNumber {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	for _, rank := range ranks { // who spawns comes before those that are spawned
		byNumber[rank].identify(byNumber)
	}
}

// inOrder sorts the objects by when they were made: rows of freed objects are used again. A handle is that of the last one, also if it is
// freed: a call that frees it may wait.
func (x *reader) inOrder() {
	slices.SortStableFunc(x.list, func(a, b object) int { return cmp.Compare(a.made, b.made) })
	for _, o := range x.list {
		x.objects[kindHandle{o.kind, o.handle}] = o.Object
	}
}

// Functions that make a communicator of all processes of another one.
var wholly = []string{"MPI_Comm_dup", "MPI_Comm_dup_with_info", "MPI_Comm_idup", "MPI_Comm_idup_with_info", "MPI_Intercomm_merge"}

func (x *reader) identify(byNumber map[int]*reader) {
	byID := map[uint64]*Object{}
	nth := map[string]int{}
	count := func(key string) string {
		nth[key]++
		return fmt.Sprintf("%s.%d", key, nth[key]-1)
	}
	for _, o := range x.list {
		byID[o.id] = o.Object
		parent := byID[o.parent]
		known := parent != nil && parent.Identity != ""
		switch {
		case o.id == 1:
			if o.Identity = "world"; x.rank.Spawned.First > 0 {
				o.Identity = fmt.Sprintf("world from %d", x.rank.Spawned.First)
			}
		case o.id == 2:
			o.Identity = fmt.Sprintf("self of %d", x.process.Rank)
		case o.madeBy == "MPI_Comm_get_parent":
			o.Identity = byNumber[x.rank.Spawned.Spawner].spawned(x.rank.Spawned)
		case o.job > 0 && known:
			o.Identity = count(parent.Identity + "/spawn")
		case o.madeBy == "MPI_Intercomm_create" && o.group != 0: // its groups make it from different communicators
			o.Identity = count(fmt.Sprintf("inter/%x", o.group))
		case o.kind == 2 && known: // all processes of the communicator open it
			o.Identity, o.Rank, o.Size = count(parent.Identity+"/"+o.Name), parent.Rank, parent.Size
		case o.group != 0 && known:
			o.Identity = fmt.Sprintf("%s/%x.%d.%d", parent.Identity, o.group, o.kind, o.order)
		case known && (o.kind == 1 || slices.Contains(wholly, o.madeBy)):
			o.Identity = fmt.Sprintf("%s/%s.%d", parent.Identity, o.madeBy, o.order)
		}
		o.Made = recording.ObjectName("", o.madeBy, nameOf(parent))
		if o.Made != "" && o.order > 0 {
			o.Made += fmt.Sprintf(" #%d", o.order+1)
		}
	}
}

// spawned identifies the intercommunicator through which a process has spawned others; "" if it is unknown.
func (x *reader) spawned(s recording.Spawned) string {
	if x == nil || s.First == 0 {
		return ""
	}
	for _, o := range x.list {
		if o.job == s.Job && o.job > 0 {
			return o.Identity
		}
	}
	return ""
}

func nameOf(o *Object) string {
	if o == nil {
		return ""
	}
	return o.Name
}

// objectText names an object.
func objectText(o *Object) string {
	switch {
	case o == nil:
		return "an unknown object"
	case o.Name != "":
		return o.Name
	case o.Made != "":
		return o.Made
	}
	return "a " + o.Kind + " without a name"
}

// Epoch is what a process has begun on a window and not ended.
type Epoch struct {
	Kind   EpochKind
	Window *Object
	Site   string
	Held   bool // MPI_Win_lock has returned, which may be before the process holds the lock
	Target int  // a rank in the window; allTargets
	Proved int  // the target at which an operation of the epoch is known to be complete, so that the lock is held; NoRank: none

	Members      []int // ranks in the window, of post and start
	Unknown      bool  // Members are unknown
	Begun, Ended uint64
}

// EpochKind is how an epoch was begun.
type EpochKind uint8

// The kinds of epochs, as in a row's field "kind".
const (
	Exclusive EpochKind = 1 + iota
	Shared
	Exposure // MPI_Win_post
	Access   // MPI_Win_start
	Lost     // there was no room for all epochs of the process
)

const allTargets = -1

func (x *reader) addEpoch(f fields) {
	kind := EpochKind(f.unsigned("kind"))
	if kind == 0 || kind > Lost {
		return
	}
	e := &Epoch{Kind: kind, Window: x.objects[kindHandle{1, f.unsigned("handle")}], Held: f.unsigned("held") != 0, Target: int(f.signed("target")),
		Proved: NoRank, Begun: f.unsigned("begun"), Ended: f.unsigned("ended"), Unknown: f.signed("members") < 0}
	if address := f.unsigned("address"); address != 0 {
		e.Site = x.sites(x.rank, address)
	}
	if proved := f.signed("proved"); proved >= 0 {
		e.Proved = int(proved)
	}
	for i := range min(f.signed("members"), int64(f.count("member"))) {
		rank, _ := f.at("member", int(i)).Int64()
		e.Members = append(e.Members, int(rank))
	}
	x.process.Epochs = append(x.process.Epochs, e)
}

// Polled is a one-sided read that a thread repeats, without finding another value.
type Polled struct {
	Call   string
	Window *Object
	Target int // a rank in the window
	Site   string
}

// addReads adds the reads of a thread that polls by them: since its last progress it has done nothing else.
func (x *reader) addReads(t *Thread, f fields) {
	onWindow := t.HasObject && (t.Object != nil && t.Object.Kind == "window" || strings.HasPrefix(t.Call, "MPI_Win_"))
	completes := t.Call == "MPI_Wait" || t.Call == "MPI_Test"
	repeats := f.unsigned("reads") > 0 && f.unsigned("read_progress") == f.unsigned("progress")
	switch {
	case repeats && (onWindow || completes) && (!t.Inside || t.Since < pollGap):
		t.Class = Poll
		t.Reads = &Polled{Call: f.text("read_function"), Window: x.objects[kindHandle{1, f.unsigned("read_handle")}], Target: int(f.signed("read_target"))}
		t.Reads.Site = x.sites(x.rank, f.unsigned("read_address"))
	case onWindow && t.Inside: // such a call may be progress only when it ends
		t.Idle = min(t.Idle, max(t.Since, 0))
	}
}
