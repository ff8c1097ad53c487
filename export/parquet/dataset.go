package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/trace"
	"mpitx/recording/waits"
)

// maxPart bounds the rows of a file of a data set. Each file has a time of its own, so that readers skip those outside of a time that is
// asked for; row groups, which they skip likewise, have groupRows.
var maxPart = 1 << 20 // tests change it

// DatasetOptions choose the part of a run to write. Events of PERUSE are not derived.
type DatasetOptions struct {
	Trace    runs.TraceOptions
	Samples  recording.Options
	Progress func(done, total uint64) // called now and then; may be nil
}

// Written counts the rows of each table of a data set, and its files.
type Written struct {
	Calls, Messages, Events, Waits, Samples uint64
	Files                                   int
	Missing                                 waits.Missing // why waits may be missing
}

// waitRow is the schema of waits, with the names of traces.
type waitRow struct {
	Time       float64 `parquet:"time"`          // when the call began, in seconds since the job's start
	TimeNs     int64   `parquet:"time_ns,delta"` // the same, exact
	DurationNs int64   `parquet:"duration_ns"`
	Thread     int32   `parquet:"thread,dict"`
	Kind       string  `parquet:"kind,dict"`
	Name       string  `parquet:"name,dict"`
	Object     string  `parquet:"object,dict"`
	Site       string  `parquet:"site,dict"`
	Phase      string  `parquet:"phase,dict"`
	ForRank    int32   `parquet:"for_rank,dict"`
	ForThread  int32   `parquet:"for_thread,dict"`
	ForName    string  `parquet:"for_name,dict"`
	ForSite    string  `parquet:"for_site,dict"`
	ForPhase   string  `parquet:"for_phase,dict"`
}

// Dataset writes the calls, messages and other events of a run's trace, its waits and its samples into an empty directory: for each table
// and rank a directory of files, one after the other in time. A run without a trace, or without samples, has only the other tables. One rank
// is written after the other, so that the memory and the open files do not grow with the number of ranks; only waits need all calls at once,
// in 24 bytes each, as their report does.
func Dataset(dir string, run *recording.Run, o DatasetOptions) (n Written, err error) {
	ranks := ranksOf(run)
	steps := uint64(0)
	step := func() {
		if steps++; o.Progress != nil {
			o.Progress(steps, uint64(3*len(ranks))) // trace, samples and waits of each rank
		}
	}
	if trace.Has(run) {
		err = traceTables(dir, run, &o, &n, step)
	}
	if err == nil && run.Sampled() {
		err = samplesTable(dir, run, ranks, &o, &n, step)
	}
	return n, err
}

// ranksOf are the numbers of a run's ranks, ascending.
func ranksOf(run *recording.Run) (all []int) {
	for _, r := range run.Ranks {
		all = append(all, r.Rank)
	}
	return slices.Compact(all)
}

func traceTables(dir string, run *recording.Run, o *DatasetOptions, n *Written, step func()) error {
	x := o.Trace.Options
	x.Flows, x.Parts, x.Derive = true, true, nil
	t := trace.Read(run, x)
	calls, messages, events := newTable[traceRow](dir, "calls", run), newTable[traceRow](dir, "messages", run), newTable[traceRow](dir, "events", run)
	err := func() (err error) {
		for rank, part := range t.ByRank {
			err = errors.Join(calls.begin(rank), messages.begin(rank), events.begin(rank))
			if err == nil {
				err = runs.TraceRowsOf(part, o.Trace.Site, func(r *runs.TraceRow) error {
					table := events
					switch r.Kind {
					case "call":
						table = calls
					case "send", "receive":
						table = messages
					}
					return table.add(traceRowOf(r))
				})
			}
			if err != nil {
				return err
			}
			step()
		}
		return nil
	}()
	err = cmp.Or(err, calls.end(&n.Calls, n), messages.end(&n.Messages, n), events.end(&n.Events, n))
	if err == nil {
		if x.Rank != nil || x.To > x.From { // waits need the whole trace
			t = trace.Read(run, trace.Options{Flows: true, Parts: true})
		}
		err = waitsTable(dir, run, t, o, n, step)
	}
	return err
}

func waitsTable(dir string, run *recording.Run, t *trace.Trace, o *DatasetOptions, n *Written, step func()) error {
	site := o.Trace.Site
	if site == nil {
		site = func(*recording.Rank, uint64) string { return "" }
	}
	a := waits.ReadTrace(run, t, site).Waits()
	n.Missing = a.Missing
	from, to := o.Trace.From, o.Trace.To
	chosen := map[int]bool{}
	for _, r := range run.Ranks {
		chosen[r.Rank] = o.Trace.Rank == nil || o.Trace.Rank(r)
	}
	table := newTable[waitRow](dir, "waits", run)
	var err error
	for _, rank := range a.RankNumbers() {
		if !chosen[rank] {
			continue
		}
		if err = table.begin(rank); err != nil {
			break
		}
		a.OfRank(rank, func(w *waits.Wait) bool {
			if to > from && (w.To < from || w.From >= to) {
				return true
			}
			err = table.add(waitRow{w.From.Seconds(), int64(w.From), int64(w.To - w.From), int32(w.Thread), w.Kind.String(), w.Function, w.Object, w.Place, w.Phase,
				int32(w.For), int32(w.OnThread), w.On.Function, w.On.Place, w.On.Phase})
			return err == nil
		})
		if err != nil {
			break
		}
		step()
	}
	return cmp.Or(err, table.end(&n.Waits, n))
}

func samplesTable(dir string, run *recording.Run, ranks []int, o *DatasetOptions, n *Written, step func()) error {
	table := newTable[row](dir, "samples", run)
	b := new(rows)
	flush := func() error {
		err := table.write(b.rows[:b.n])
		b.n = 0
		return err
	}
	yield := runs.SampleRowsOf(run, o.Samples.As)
	var err error
	for _, rank := range ranks {
		x := o.Samples
		x.Rank = func(r *recording.Rank) bool { return r.Rank == rank && (o.Samples.Rank == nil || o.Samples.Rank(r)) }
		err = table.begin(rank)
		if err == nil {
			err = yield(x, func(r *runs.SampleRow) error {
				if b.add(r); b.n < batch {
					return nil
				}
				return flush()
			})
		}
		if err == nil {
			err = flush()
		}
		if err != nil {
			break
		}
		step()
	}
	return cmp.Or(err, table.end(&n.Samples, n))
}

// rankTable writes the files of one table of a data set, one after the other.
type rankTable[T any] struct {
	dir       string
	out       *parquetgo.GenericWriter[T]
	to        output
	file      *os.File // nil: none is open
	rank      int      // that is being written
	part      int      // of it, that comes next
	rows      int      // in the file
	total     uint64
	files     int
	unwritten []T
}

// withoutRank leaves out the column that is the name of a directory: some readers do not take both.
var withoutRank = parquetgo.StructTag(`parquet:"-"`, "Rank").(parquetgo.WriterOption)

func newTable[T any](dir, name string, run *recording.Run) *rankTable[T] {
	t := &rankTable[T]{dir: filepath.Join(dir, name), unwritten: make([]T, 0, batch)}
	t.out = parquetgo.NewGenericWriter[T](&t.to, append(settings(run), withoutRank, parquetgo.KeyValueMetadata("mpitx.schema", "mpitx.dataset."+name), parquetgo.KeyValueMetadata("mpitx.version", "1"))...)
	return t
}

// begin ends the rows of a rank and begins those of another one.
func (t *rankTable[T]) begin(rank int) error {
	err := t.close()
	t.rank, t.part = rank, 0
	return err
}

func (t *rankTable[T]) add(row T) error {
	if t.unwritten = append(t.unwritten, row); len(t.unwritten) < batch {
		return nil
	}
	return t.flush()
}

func (t *rankTable[T]) flush() error {
	err := t.write(t.unwritten)
	t.unwritten = t.unwritten[:0]
	return err
}

func (t *rankTable[T]) write(rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	if t.file != nil && t.rows >= maxPart {
		if err := t.closeFile(); err != nil {
			return err
		}
	}
	if err := t.open(); err != nil {
		return err
	}
	n, err := t.out.Write(rows)
	t.rows += n
	t.total += uint64(n)
	return cmp.Or(t.to.err, err)
}

// open opens the next file of the rank, unless one is open. Readers take "rank=3" for a column: Hive's way.
func (t *rankTable[T]) open() (err error) {
	if t.file != nil {
		return nil
	}
	dir := filepath.Join(t.dir, fmt.Sprintf("rank=%d", t.rank))
	for _, d := range []string{t.dir, dir} { // not the directory above: it is gone if the export was stopped
		if err = os.Mkdir(d, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if t.file, err = os.OpenFile(filepath.Join(dir, fmt.Sprintf("part-%04d.parquet", t.part)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return err
	}
	t.to.Writer = t.file
	t.out.Reset(&t.to)
	t.part++
	t.files++
	t.rows = 0
	return nil
}

func (t *rankTable[T]) closeFile() error {
	if t.file == nil {
		return nil
	}
	err := cmp.Or(t.out.Close(), t.file.Close())
	t.file = nil
	return cmp.Or(t.to.err, err)
}

func (t *rankTable[T]) close() error { return cmp.Or(t.flush(), t.closeFile()) }

// end closes the last file, and adds up. A table without rows gets a file without rows, so that readers find its columns.
func (t *rankTable[T]) end(rows *uint64, n *Written) error {
	err := t.close()
	if err == nil && t.files == 0 {
		err = cmp.Or(t.open(), t.closeFile())
	}
	*rows += t.total
	n.Files += t.files
	return err
}
