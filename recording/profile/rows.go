package profile

import (
	"fmt"
	"math"
	"slices"
	"time"

	"mpitx/recording"
	"mpitx/recording/paths"
)

// The tables, see docs/run-format.md.
const (
	tableCalls      = "profile calls"
	tableWaits      = "profile waits"
	tablePeers      = "profile peers"
	tableSizes      = "profile sizes"
	tableAlgorithms = "profile algorithms"
	tableArrivals   = "profile arrivals"
	tablePhases     = "profile phases"
	tableObjects    = "objects"
	tableWhere      = "where"
	tablePaths      = paths.Table
)

// needed are the fields that each table must have; others are 0 if they are missing.
var needed = map[string][]string{
	tableCalls:      {"function", "phase", "object", "within", "calls", "ticks"},
	tableWaits:      {"function", "phase", "job", "rank"},
	tablePeers:      {"job", "rank", "phase", "messages_sent", "bytes_sent", "messages_received", "bytes_received"},
	tableSizes:      {"function", "phase", "received", "messages", "bytes"},
	tableAlgorithms: {"function", "phase", "algorithm", "calls", "ticks"},
	tableArrivals:   {"function", "phase", "object", "kept", "instance", "enter", "leave", "size", "role"},
	tablePhases:     {"phase", "entered", "self"},
	tableObjects:    {"id", "kind", "name"},
	tableWhere:      {},
	tablePaths:      {"kind", "name", "rank"},
}

// row reads the values of a row by their fields' names.
type row struct {
	*recording.Row
	fields map[string]*recording.Field
	tick   float64 // nanoseconds
}

// fieldsOf finds a table's fields. It returns an error if a needed one is missing.
func fieldsOf(t *recording.Table) (map[string]*recording.Field, error) {
	fields := map[string]*recording.Field{}
	for i := range t.Fields {
		fields[t.Fields[i].Name] = &t.Fields[i]
	}
	for _, name := range needed[t.Name] {
		if fields[name] == nil {
			return nil, fmt.Errorf("the table %q of rank %d has no field %q: a newer mpitx wrote the run; read it with that version", t.Name, t.Rank.Rank, name)
		}
	}
	return fields, nil
}

func (r *row) value(name string) recording.Value {
	if f := r.fields[name]; f != nil {
		return r.Value(f, 0)
	}
	return recording.Value{}
}

func (r *row) count(name string) uint64 {
	n, _ := r.value(name).Uint64()
	return n
}

func (r *row) number(name string) int {
	n, _ := r.value(name).Int64()
	return int(n)
}

func (r *row) text(name string) string { return string(r.value(name).Bytes()) }

// duration converts ticks.
func (r *row) duration(name string) time.Duration { return r.inTime(float64(r.count(name))) }

func (r *row) inTime(ticks float64) time.Duration {
	return time.Duration(min(ticks*r.tick, math.MaxInt64/2))
}

// time is a time since the job's start.
func (r *row) time(name string) time.Duration { return time.Duration(r.number(name)) }

func (r *row) totals() Totals {
	untimed, added, failure := r.untimed()
	return Totals{Calls: r.count("calls"), Time: r.duration("ticks") + added, Untimed: untimed, TimeError: failure,
		MessagesSent: r.count("messages_sent"), BytesSent: r.count("bytes_sent"),
		MessagesReceived: r.count("messages_received"), BytesReceived: r.count("bytes_received"),
		BytesOut: r.count("gave"), BytesIn: r.count("got"), Abandoned: r.count("abandoned"), Estimated: r.count("estimated")}
}

func (r *row) histogram() Histogram {
	h := Histogram{tick: r.tick}
	f := r.fields["durations"]
	for i := 0; f != nil && i < f.Count; i++ {
		n, _ := r.Value(f, i).Uint64()
		h.counts[min(i, buckets-1)] += n
	}
	return h
}

// process is the rows of one process.
type process struct {
	rank                                                     *recording.Rank
	calls, waits, peers, sizes, algorithms, phases, declared []*row
	now                                                      []*row // what each thread does
	paths, arrivals                                          []*row
}

// processes reads tables of processes, one process at a time.
func processes(run *recording.Run, rank func(*recording.Rank) bool, ours func(*recording.Table) bool, yield func(*process)) error {
	fields := map[*recording.Table]map[string]*recording.Field{}
	var err error
	var p *process
	flush := func() {
		if p != nil {
			yield(p)
		}
	}
	for found := range run.Rows(recording.Options{Rank: rank, Table: ours, ByThread: true}) {
		t := found.Table
		if fields[t] == nil {
			if fields[t], err = fieldsOf(t); err != nil {
				return err
			}
		}
		if p == nil || p.rank != t.Rank {
			flush()
			p = &process{rank: t.Rank}
		}
		list := map[string]*[]*row{tableCalls: &p.calls, tableWaits: &p.waits, tablePeers: &p.peers, tableSizes: &p.sizes, tableAlgorithms: &p.algorithms, tablePhases: &p.phases, tableObjects: &p.declared, tableWhere: &p.now, tablePaths: &p.paths, tableArrivals: &p.arrivals}[t.Name]
		*list = append(*list, &row{found, fields[t], t.Rank.NsPerTick})
	}
	flush()
	return nil
}

// mainThread is the thread that initialized MPI; if that is not known, the process's first one, or else the one with the most calls.
func (p *process) mainThread() int {
	calls := map[int]uint64{}
	for _, c := range p.calls {
		if Initializes(c.text("function")) {
			return c.Threads[0]
		}
		calls[c.Threads[0]] += c.count("calls")
	}
	if _, known := calls[p.rank.PID]; known {
		return p.rank.PID
	}
	main, most := 0, uint64(0)
	for thread, n := range calls {
		if n > most || n == most && thread < main {
			main, most = thread, n
		}
	}
	return main
}

func (p *process) threads() int {
	var all []int
	for _, c := range p.calls {
		if !slices.Contains(all, c.Threads[0]) {
			all = append(all, c.Threads[0])
		}
	}
	return len(all)
}

// Initializes reports whether a function starts MPI: a rank's run time begins after it.
func Initializes(function string) bool {
	return function == "MPI_Init" || function == "MPI_Init_thread" || function == "MPI_Session_init"
}

// lastSign is the last time at which something is known about a process.
func (p *process) lastSign(at time.Duration) time.Duration {
	for _, row := range p.now {
		at = max(at, row.time("beat"))
	}
	return at
}

// open is the call that a thread of an unfinished process is in, as far as it was seen to be in it.
func (p *process) open(thread int, at time.Duration) (function string, since time.Duration) {
	for _, row := range p.now {
		inside := row.count("inside")
		if p.rank.State != recording.StateEnded && row.number("thread") == thread && inside != 0 && row.count("seen") == 2*row.count("calls")+inside {
			return row.text("function"), max(at-row.time("since"), 0)
		}
	}
	return "", 0
}
