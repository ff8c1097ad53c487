package parquet

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"time"

	parquetgo "github.com/parquet-go/parquet-go"

	"mpitx/export/runs"
	"mpitx/recording"
	"mpitx/recording/trace"
)

// traceRow is the schema of traces, with the columns of CSV. Numbers that do not apply are null.
type traceRow struct {
	Time       float64 `parquet:"time"`          // seconds since the job's start
	TimeNs     int64   `parquet:"time_ns,delta"` // the same, exact
	DurationNs int64   `parquet:"duration_ns"`
	Rank       int32   `parquet:"rank,dict"`
	Thread     int32   `parquet:"thread,dict"`
	Kind       string  `parquet:"kind,dict"`
	Name       string  `parquet:"name,dict"`
	Object     string  `parquet:"object,dict"`
	Peer       *int32  `parquet:"peer,optional"`
	Tag        *int32  `parquet:"tag,optional"`
	Bytes      *uint64 `parquet:"bytes,optional"`
	Request    *uint64 `parquet:"request,optional"`
	Sequence   *uint64 `parquet:"sequence,optional"`
	Flow       *uint64 `parquet:"flow,optional"`
	Depth      int32   `parquet:"depth,dict"`
	Site       string  `parquet:"site,dict"`
	Status     string  `parquet:"status,dict"`
	RaisedNs   *int64  `parquet:"raised_ns,optional"` // since the job's start
	Operation  string  `parquet:"operation,dict"`
	Algorithm  string  `parquet:"algorithm,dict"`
}

func traceRowOf(r *runs.TraceRow) traceRow {
	return traceRow{Time: r.Time.Seconds(), TimeNs: int64(r.Time), DurationNs: int64(r.Duration), Rank: int32(r.Rank), Thread: int32(r.Thread), Kind: r.Kind,
		Name: r.Name, Object: r.Object, Peer: small(r.Peer), Tag: small(r.Tag), Bytes: copyOf(r.Bytes), Request: copyOf(r.Request), Sequence: copyOf(r.Sequence),
		Flow: copyOf(r.Flow), Depth: int32(r.Depth), Site: r.Site, Status: r.Status, RaisedNs: nanoseconds(r.Raised), Operation: r.Operation, Algorithm: r.Algorithm}
}

// Trace writes the trace of a run, in bounded memory.
func Trace(w io.Writer, run *recording.Run, o runs.TraceOptions) (trace.Totals, error) {
	to := &output{Writer: w}
	out := parquetgo.NewGenericWriter[traceRow](to, slices.Concat(settings(run), []parquetgo.WriterOption{
		parquetgo.KeyValueMetadata("mpitx.schema", runs.TraceSchema), parquetgo.KeyValueMetadata("mpitx.version", strconv.Itoa(runs.TraceVersion))})...)
	rows := make([]traceRow, 0, batch)
	flush := func() error {
		_, err := out.Write(rows)
		rows = rows[:0]
		return err
	}
	totals, err := runs.TraceRows(run, o, func(r *runs.TraceRow) error {
		if rows = append(rows, traceRowOf(r)); len(rows) < batch {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = out.Close()
	}
	return totals, cmp.Or(to.err, err)
}

func small(n *int) *int32 {
	if n == nil {
		return nil
	}
	v := int32(*n)
	return &v
}

func copyOf(n *uint64) *uint64 {
	if n == nil {
		return nil
	}
	v := *n
	return &v
}

func nanoseconds(t *time.Duration) *int64 {
	if t == nil {
		return nil
	}
	v := int64(*t)
	return &v
}
