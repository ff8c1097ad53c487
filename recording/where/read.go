package where

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"mpitx/recording"
)

// The bits of a row's field "arguments": enum chain_argument of agent/chain/state.h.
const (
	argObject      = 1 | 2 | 4
	argDestination = 8
	argSource      = 16
	argRoot        = 32
	argTarget      = 64
	argTag         = 128
	argExchange    = 256
	argBytes       = 512
	argCollective  = 4096
	argPolls       = 8192

	testFound = 1 << 31 // CHAIN_TEST_FOUND of the field "tests"
)

// maxRanks is the largest number of ranks that a job may have without all being in the run: a damaged run may claim any.
var maxRanks = 1 << 18

// Sites resolves addresses of code to places for people.
type Sites func(r *recording.Rank, address uint64) string

// Stacks resolves return addresses, the innermost first, to frames for people. whole: the last one is the outermost.
type Stacks func(r *recording.Rank, addresses []uint64, whole bool) []string

// Read reads the states of all processes of a run.
func Read(run *recording.Run, sites Sites) *Job { return ReadStacks(run, sites, nil) }

// ReadStacks is Read, with the stacks of threads that wait in a call.
func ReadStacks(run *recording.Run, sites Sites, stacks Stacks) *Job {
	if sites == nil {
		sites = Offset
	}
	job := &Job{}
	seen := map[int]bool{}
	now := time.Since(run.Start)
	byRank := map[*recording.Rank]*reader{}
	for _, r := range run.Ranks {
		p := &Process{Rank: r.Rank, PID: r.PID, Host: r.Host, Condition: condition(r), End: endOf(r)}
		job.Size = max(job.Size, min(r.Spawned.First+r.Size, maxRanks))
		job.Processes = append(job.Processes, p)
		seen[r.Rank] = true
		byRank[r] = &reader{rank: r, process: p, now: now, sites: sites, stacks: stacks, taken: map[uint64]fields{}, objects: map[kindHandle]*Object{}}
	}
	var rows, epochs []*recording.Row
	for row := range run.Rows(recording.Options{}) {
		switch row.Table.Name {
		case "objects":
			byRank[row.Table.Rank].addObject(fieldsOf(row))
		case "where messages":
			byRank[row.Table.Rank].process.Messages = messagesOf(fieldsOf(row))
		case "where":
			rows = append(rows, row) // objects may come later
		case "epochs":
			epochs = append(epochs, row)
		case "stacks":
			if f := fieldsOf(row); stacks != nil {
				byRank[row.Table.Rank].taken[stackKey(f)] = f
			}
		}
	}
	identify(byRank)
	for _, row := range epochs {
		byRank[row.Table.Rank].addEpoch(fieldsOf(row))
	}
	for _, row := range rows {
		byRank[row.Table.Rank].addThread(fieldsOf(row))
	}
	for _, p := range byRank {
		p.nest()
	}
	for rank := range job.Size {
		if !seen[rank] {
			job.Processes = append(job.Processes, &Process{Rank: rank, Condition: Missing})
		}
	}
	slices.SortStableFunc(job.Processes, func(a, b *Process) int { return a.Rank - b.Rank })
	for _, p := range job.Processes {
		if len(p.Threads) == 0 && p.Condition < Finalized {
			p.Condition = Unknown
		}
	}
	return job
}

func condition(r *recording.Rank) Condition {
	switch r.State {
	case recording.StateUnreachable:
		return Unreachable
	case recording.StateDied:
		return Dead
	case recording.StateDamaged:
		return Unknown
	case recording.StateEnded:
		if r.End == recording.EndFinalize && alive(r.PID, r.Node) {
			return Finalized
		}
		return Exited
	}
	if stopped(r.PID) {
		return Stopped
	}
	return Running
}

// fields are a row's values by name.
type fields struct {
	row    *recording.Row
	byName map[string]*recording.Field
}

func fieldsOf(row *recording.Row) fields {
	f := fields{row, make(map[string]*recording.Field, len(row.Table.Fields))}
	for i := range row.Table.Fields {
		f.byName[row.Table.Fields[i].Name] = &row.Table.Fields[i]
	}
	return f
}

// at is an element of a field; the zero value if there is no such field.
func (f fields) at(name string, i int) recording.Value {
	field := f.byName[name]
	if field == nil || i >= field.Count {
		return recording.Value{}
	}
	return f.row.FieldValues(field)[i]
}

func (f fields) count(name string) uint64 {
	if field := f.byName[name]; field != nil {
		return uint64(field.Count)
	}
	return 0
}

func (f fields) signed(name string) int64 {
	v, _ := f.at(name, 0).Int64()
	return v
}

func (f fields) unsigned(name string) uint64 {
	v, _ := f.at(name, 0).Uint64()
	return v
}

func (f fields) signedAt(name string, i int) int64 {
	v, _ := f.at(name, i).Int64()
	return v
}

func (f fields) unsignedAt(name string, i int) uint64 {
	v, _ := f.at(name, i).Uint64()
	return v
}

func (f fields) text(name string) string { return string(f.at(name, 0).Bytes()) }

// reader reads the rows of a process.
type reader struct {
	rank    *recording.Rank
	process *Process
	now     time.Duration
	sites   Sites
	stacks  Stacks
	taken   map[uint64]fields // by stackKey
	objects map[kindHandle]*Object
	list    []object
	nested  []nested
}

// nested is a thread's call in a callback, or a thread itself at level 0.
type nested struct {
	*Thread
	level uint64
}

func messagesOf(f fields) *Messages {
	m := &Messages{Lost: f.unsigned("lost"), Posted: f.signed("posted")}
	for i := range int(min(f.count("sent"), f.count("received"), 1<<messageBits)) {
		m.Sent, m.Received = append(m.Sent, uint32(f.unsignedAt("sent", i))), append(m.Received, uint32(f.unsignedAt("received", i)))
	}
	return m
}

func (x *reader) addThread(f fields) {
	if f.unsigned("thread") == 0 {
		return
	}
	args, calls, inside, progress := f.unsigned("arguments"), f.unsigned("calls"), f.unsigned("inside"), f.unsigned("progress")
	if calls > 0 && f.unsigned("left") == calls {
		inside = 0
	}
	t := &Thread{ID: int(f.unsigned("thread")), Inside: inside != 0, Peer: NoRank, Tag: NoTag, Bytes: -1, Since: -1}
	if calls > 0 {
		t.Call = f.text("function")
		address := f.unsigned("address")
		if f.unsigned("sited") == calls {
			address = f.unsigned("site")
		}
		t.Site = x.sites(x.rank, address)
	}
	t.Class = ClassOf(t.Call, args&argCollective != 0, args&argPolls != 0)
	if t.HasObject = args&argObject != 0; t.HasObject {
		t.Object = x.objects[kindHandle{args & argObject / 2, f.unsigned("handle")}]
	}
	for bit, role := range map[uint64]Role{argDestination: Destination, argSource: Source, argRoot: Root, argTarget: Target} {
		if args&bit != 0 {
			t.Role, t.Peer = role, x.special(f.signed("peer"))
		}
	}
	if args&argTag != 0 {
		t.Tag = x.tag(f.signed("tag"))
	}
	if t.Exchange = args&argExchange != 0; t.Exchange {
		t.Source, t.SourceTag = x.special(f.signed("source")), x.tag(f.signed("source_tag"))
	}
	if bytes := f.unsigned("bytes"); args&argBytes != 0 && bytes <= math.MaxInt64 {
		t.Bytes = int64(bytes)
	}
	if args&argCollective != 0 {
		t.Collective = f.unsigned("collective")
	}
	at := x.now
	if x.process.Condition != Running && x.process.Condition != Stopped {
		at = time.Duration(f.signed("beat")) // nothing is known about the time after it
	}
	if f.unsigned("seen") == 2*calls+inside {
		t.Since = max(at-time.Duration(f.signed("since")), 0)
	} else if x.process.Condition == Stopped {
		t.Since = max(at-time.Duration(f.signed("beat")), 0)
	}
	t.Calls, t.Progress = calls, progress
	t.Idle = max(at-time.Duration(f.signed("moved")), 0)
	if t.Looked = f.unsigned("looked") == progress+1; t.Looked {
		for i := range min(f.unsigned("listed"), f.count("pending_handle")) {
			i := int(i)
			t.Pending = append(t.Pending, Request{
				Call: string(f.at("pending_function", i).Bytes()), Object: x.anyObject(f.unsignedAt("pending_handle", i)),
				Peer: x.special(f.signedAt("pending_peer", i)), Tag: x.tag(f.signedAt("pending_tag", i)),
				Collective: f.unsignedAt("pending_number", i), Starts: f.unsignedAt("pending_starts", i)})
		}
		t.More = int(f.unsigned("pending")) - len(t.Pending)
	}
	if tests := f.unsigned("tests") &^ testFound; t.Class == Poll && t.Looked && tests > 0 && f.unsigned("test_progress") == progress {
		for i := range int(min(tests, f.count("test_function"))) {
			if name := string(f.at("test_function", i).Bytes()); !slices.Contains(t.Tests, name) {
				t.Tests = append(t.Tests, name)
			}
		}
		slices.Sort(t.Tests)
		if tests > 1 || t.Call != t.Tests[0] { // one probe is shown as a call
			t.Call, t.Object, t.HasObject, t.Role, t.Peer, t.Tag = t.Tests[0], nil, false, NoPeer, NoRank, NoTag
		}
		t.Site = x.sites(x.rank, f.unsignedAt("test_address", 0))
	}
	x.addReads(t, f)
	if t.Inside && !t.Polls() && calls > 0 && f.unsigned("stacked") == calls {
		t.Stack = x.stack(f)
	}
	if !t.Inside {
		x.addOutside(t, f)
	}
	x.process.Working = max(x.process.Working, int(f.unsigned("working")))
	x.process.Dormant = max(x.process.Dormant, int(f.unsigned("dormant")))
	x.nested = append(x.nested, nested{t, f.unsigned("nested")})
}

// addOutside adds what a thread does that is not in MPI.
func (x *reader) addOutside(t *Thread, f fields) {
	t.Sleeps = f.unsigned("asleep") == t.Calls+1
	if f.unsigned("sleeping") == t.Calls+1 {
		t.Outside, t.Busy = cmp.Or(f.text("outside"), "unknown"), f.unsigned("busy") != 0
	}
	switch slept := f.signed("slept"); {
	case x.process.Condition == Running && t.Outside == "" && !t.Sleeps && x.rank.Node != nil && x.rank.Node.Here():
		t.kernel = kernelOf(x.rank.PID, t.ID)
	case x.process.Condition != Running && t.Outside != "" && slept > 0 && time.Duration(f.signed("beat")-slept) > lookOutside:
		t.Outside, t.Busy, t.Unclear = "", false, true // it had woken up when the agent looked last
	}
}

// lookOutside is more than the time between two looks of the agent at threads that are not in MPI.
const lookOutside = 300 * time.Millisecond

// stackKey is the key of a row of the tables where and stacks.
func stackKey(f fields) uint64 { return f.unsigned("thread")<<8 | f.unsigned("nested")&0xff }

// stack is the stack of the call of a row; nil if it is of another call.
func (x *reader) stack(row fields) []string {
	f, ok := x.taken[stackKey(row)]
	if !ok || f.unsigned("calls") != row.unsigned("calls") {
		return nil
	}
	var addresses []uint64
	for i := range min(f.unsigned("frames"), f.count("address")) {
		addresses = append(addresses, f.unsignedAt("address", int(i)))
	}
	return x.stacks(x.rank, addresses, f.unsigned("ending") == 0)
}

// nest adds the threads to the process, and to their calls those of callbacks.
func (x *reader) nest() {
	slices.SortFunc(x.nested, func(a, b nested) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.level, b.level)) })
	var inner *Thread // the innermost call of the thread
	for _, t := range x.nested {
		if t.level == 0 {
			inner = t.Thread
			x.process.Threads = append(x.process.Threads, inner)
			continue
		}
		if inner == nil || inner.ID != t.ID {
			continue
		}
		outermost := x.process.Threads[len(x.process.Threads)-1]
		outermost.Idle = min(outermost.Idle, t.Idle)
		if t.Inside && inner.Inside {
			inner.Inner, inner = t.Thread, t.Thread
		}
	}
}

// unstated is CALL_NONE of agent/mpi/call.h.
const unstated = -1000000

// special translates the numbers that the families use for special ranks.
func (x *reader) special(rank int64) int {
	anySource, procNull := int64(-2), int64(-1)
	switch x.rank.Family {
	case "openmpi":
		anySource, procNull = -1, -2
	case "abi":
		anySource, procNull = -1, -3
	}
	switch {
	case rank == unstated:
		return NoRank
	case rank == anySource:
		return AnySource
	case rank == procNull:
		return ProcNull
	case rank < 0: // MPI_ROOT
		return NoRank
	}
	return int(rank)
}

func (x *reader) tag(tag int64) int {
	switch {
	case tag == unstated:
		return NoTag
	case tag < 0:
		return AnyTag
	}
	return int(tag)
}

// Offset is the module and the offset in it of an address.
func Offset(r *recording.Rank, address uint64) string {
	if m := r.Module(address); m != nil {
		return fmt.Sprintf("%s+%#x", filepath.Base(m.Path), address-m.Bias)
	}
	return ""
}
