package export

import (
	"io"

	"mpitx/catalog"
	"mpitx/recording/profile"
)

// The JSON document of a report; docs/schema.md describes it.
type (
	jsonRun struct {
		Program   string   `json:"program"`
		Programs  []string `json:"programs,omitempty"` // if there are several
		Library   string   `json:"library"`
		Size      int      `json:"size"`
		Start     string   `json:"start"`
		ElapsedNs int64    `json:"elapsed_ns"`
		Tools     []string `json:"tools,omitempty"`
		// Incomplete are the ranks whose numbers may be too small, and which are in no mean.
		Incomplete []int    `json:"incomplete_ranks,omitempty"`
		Cut        *jsonCut `json:"cut,omitempty"`
	}
	jsonCut struct {
		Phases        []string `json:"phases,omitempty"`
		Ranks         []int    `json:"ranks,omitempty"`
		Communicators []string `json:"communicators,omitempty"`
	}
	jsonEfficiency struct {
		ElapsedNs     int64   `json:"elapsed_ns"`
		Parallel      float64 `json:"parallel"`
		LoadBalance   float64 `json:"load_balance"`
		Communication float64 `json:"communication"`
		Processor     float64 `json:"processor,omitzero"`
		Computing     float64 `json:"computing_balance,omitzero"`
	}
	jsonFinding struct {
		Kind  string  `json:"kind"`
		Text  string  `json:"text"`
		Next  string  `json:"next,omitempty"`
		Share float64 `json:"share"`
	}
	jsonTotals struct {
		Calls            uint64 `json:"calls"`
		TimeNs           int64  `json:"time_ns"`
		MessagesSent     uint64 `json:"messages_sent"`
		BytesSent        uint64 `json:"bytes_sent"`
		MessagesReceived uint64 `json:"messages_received"`
		BytesReceived    uint64 `json:"bytes_received"`
		BytesOut         uint64 `json:"bytes_out"`
		BytesIn          uint64 `json:"bytes_in"`
		Abandoned        uint64 `json:"abandoned"`
		Estimated        uint64 `json:"estimated"`
	}
	jsonRankTotals struct {
		Rank int `json:"rank"`
		jsonTotals
	}
	jsonFrame struct {
		Function string `json:"function,omitempty"`
		File     string `json:"file,omitempty"`
		Line     int    `json:"line,omitzero"`
		Inlined  bool   `json:"inlined,omitzero"`
		Module   string `json:"module,omitempty"`
		BuildID  string `json:"build_id,omitempty"`
		Offset   uint64 `json:"offset"`
	}
	jsonBucket struct {
		FromNs int64  `json:"from_ns"`
		ToNs   int64  `json:"to_ns"`
		Calls  uint64 `json:"calls"`
	}
	jsonWait struct {
		Rank         int    `json:"rank"`
		For          int    `json:"for"`
		Calls        uint64 `json:"calls"`
		TimeNs       int64  `json:"time_ns"`
		SharedCalls  uint64 `json:"shared_calls"`
		SharedTimeNs int64  `json:"shared_time_ns"`
	}
	jsonFunction struct {
		Name   string      `json:"name"`
		Within string      `json:"within,omitempty"`
		Site   string      `json:"site,omitempty"`
		Stack  []jsonFrame `json:"stack,omitempty"`
		jsonTotals
		Share     float64          `json:"share"`
		MeanNs    int64            `json:"mean_ns"`
		MinNs     int64            `json:"min_ns"`
		P50Ns     int64            `json:"p50_ns"`
		P95Ns     int64            `json:"p95_ns"`
		P99Ns     int64            `json:"p99_ns"`
		MaxNs     int64            `json:"max_ns"`
		Imbalance float64          `json:"imbalance"`
		Durations []jsonBucket     `json:"durations,omitempty"`
		Ranks     []jsonRankTotals `json:"ranks"`
		Waits     []jsonWait       `json:"waits,omitempty"`
	}
	jsonRank struct {
		Rank      int    `json:"rank"`
		Host      string `json:"host"`
		State     string `json:"state"`
		Threads   int    `json:"threads"`
		ElapsedNs int64  `json:"elapsed_ns"`
		InMPINs   int64  `json:"in_mpi_ns"`
		UsefulNs  int64  `json:"useful_ns"`
		SpawnedBy *int   `json:"spawned_by,omitempty"`
		Why       string `json:"incomplete,omitempty"`
		jsonTotals
		Processor *jsonProcessor `json:"processor,omitempty"`
	}
	jsonPhaseRank struct {
		Rank      int    `json:"rank"`
		Entered   uint64 `json:"entered"`
		ElapsedNs int64  `json:"elapsed_ns"`
		InMPINs   int64  `json:"in_mpi_ns"`
		jsonTotals
	}
	jsonPhase struct {
		Name       string         `json:"name"`
		Entered    uint64         `json:"entered"`
		FirstNs    int64          `json:"first_ns"`
		LastNs     int64          `json:"last_ns"`
		Efficiency jsonEfficiency `json:"efficiency"`
		jsonTotals
		Ranks []jsonPhaseRank `json:"ranks"`
	}
	jsonObject struct {
		Name   string `json:"name"`
		Kind   string `json:"kind"`
		Size   int    `json:"size"`
		Groups int    `json:"groups"`
		MadeBy string `json:"made_by,omitempty"`
		Parent string `json:"parent,omitempty"`
		Made   uint64 `json:"made"`
		Alive  uint64 `json:"alive"`
		jsonTotals
		Ranks []jsonRankTotals `json:"ranks"`
	}
	jsonPair struct {
		Source           int    `json:"source"`
		Destination      int    `json:"destination"`
		Messages         uint64 `json:"messages"`
		Bytes            uint64 `json:"bytes"`
		MessagesReceived uint64 `json:"messages_received"`
		BytesReceived    uint64 `json:"bytes_received"`
	}
	jsonTraffic struct {
		MessagesSent     uint64 `json:"messages_sent"`
		BytesSent        uint64 `json:"bytes_sent"`
		MessagesReceived uint64 `json:"messages_received"`
		BytesReceived    uint64 `json:"bytes_received"`
	}
	jsonSizes struct {
		Function string           `json:"function"`
		Received bool             `json:"received"`
		Bytes    uint64           `json:"bytes"`
		Sizes    []jsonSizeBucket `json:"sizes"`
	}
	jsonSizeBucket struct {
		From     uint64  `json:"bytes_from"`
		To       *uint64 `json:"bytes_to,omitempty"`
		Messages uint64  `json:"messages"`
	}
)

// jsonDocument writes the members of a document, each element of a list on a line of its own.
type jsonDocument struct {
	b   []byte
	err error
}

func (d *jsonDocument) value(x any) {
	if d.err == nil {
		d.b, d.err = catalog.AppendJSON(d.b, x)
	}
}

func (d *jsonDocument) member(name string, x any) {
	d.b = append(d.b, ",\n  \""+name+"\": "...)
	d.value(x)
}

func jsonList[T any](d *jsonDocument, name string, all []T) {
	d.b = append(d.b, ",\n  \""+name+"\": ["...)
	for i, x := range all {
		if i > 0 {
			d.b = append(d.b, ',')
		}
		d.b = append(d.b, "\n    "...)
		d.value(x)
	}
	if len(all) > 0 {
		d.b = append(d.b, "\n  "...)
	}
	d.b = append(d.b, ']')
}

func reportJSON(w io.Writer, p *profile.Profile, o ReportOptions) error {
	d := &jsonDocument{b: []byte("{\n  \"schema\": \"mpitx.report\",\n  \"version\": 1")}
	run := runOf(p)
	run.Tools = o.Tools
	d.member("run", run)
	if p.Efficiency.Parallel > 0 {
		d.member("efficiency", efficiencyOf(p.Efficiency))
	}
	if p.Processor != nil {
		d.member("processor", coresOf(p.Processor))
	}
	jsonList(d, "findings", mapped(o.Findings, func(f profile.Finding) jsonFinding { return jsonFinding{f.Kind, f.Text, f.Next, f.Weight} }))
	function := func(f *profile.Function) jsonFunction { return functionOf(p, f) }
	jsonList(d, "functions", mapped(p.Functions, function))
	jsonList(d, "sites", mapped(p.Sites, function))
	jsonList(d, "ranks", mapped(p.Ranks, func(r *profile.Rank) jsonRank {
		j := jsonRank{r.Number, r.Process.Host, r.Process.State.String(), r.Threads, int64(r.Elapsed), int64(r.InMPI), int64(r.Useful()), nil, r.Incomplete(), totalsOf(&r.Totals), processorOf(p, r)}
		if s := r.Process.Spawned; s.First > 0 {
			j.SpawnedBy = &s.Spawner
		}
		return j
	}))
	jsonList(d, "phases", mapped(p.Phases, phaseOf))
	jsonList(d, "communicators", mapped(p.Objects, objectOf))
	jsonList(d, "matrix", mapped(p.Pairs, pairOf))
	jsonList(d, "onesided", mapped(p.OneSided, pairOf))
	jsonList(d, "sizes", mapped(p.Sizes, sizesOf))
	if o := p.Others; o != (profile.Totals{}) {
		d.member("other_jobs", jsonTraffic{o.MessagesSent, o.BytesSent, o.MessagesReceived, o.BytesReceived})
	}
	if len(o.Triggers) > 0 {
		jsonList(d, "triggers", mapped(o.Triggers, triggerOf))
	}
	if d.err != nil {
		return d.err
	}
	_, err := w.Write(append(d.b, "\n}\n"...))
	return err
}

func mapped[T, U any](all []T, f func(T) U) []U {
	list := make([]U, len(all))
	for i, x := range all {
		list[i] = f(x)
	}
	return list
}

func runOf(p *profile.Profile) jsonRun {
	r := jsonRun{Start: p.Run.Start.UTC().Format("2006-01-02T15:04:05.000Z"), Incomplete: p.IncompleteRanks()}
	for _, rank := range p.Ranks {
		if rank.Process.Spawned.First == 0 || r.Program == "" {
			r.Program, r.Library, r.Size = rank.Process.Program, oneLine(rank.Process.Library), max(r.Size, rank.Process.Size)
		}
		r.ElapsedNs = max(r.ElapsedNs, int64(rank.Elapsed))
	}
	if all := programsOf(processes(p)...); len(all) > 1 {
		r.Programs = all
	}
	if c := p.Cut; cutText(c) != "" {
		r.Cut = &jsonCut{c.Phases, c.Ranks, c.Objects}
	}
	return r
}

func efficiencyOf(e profile.Efficiency) jsonEfficiency {
	return jsonEfficiency{int64(e.Elapsed), e.Parallel, e.LoadBalance, e.Communication, e.Processor, e.Computing}
}

func totalsOf(t *profile.Totals) jsonTotals {
	return jsonTotals{t.Calls, int64(t.Time), t.MessagesSent, t.BytesSent, t.MessagesReceived, t.BytesReceived, t.BytesOut, t.BytesIn, t.Abandoned, t.Estimated}
}

func ranksOf(ranks []profile.RankTotals) []jsonRankTotals {
	return mapped(ranks, func(r profile.RankTotals) jsonRankTotals { return jsonRankTotals{r.Rank.Number, totalsOf(&r.Totals)} })
}

func functionOf(p *profile.Profile, f *profile.Function) jsonFunction {
	j := jsonFunction{Name: f.Name, Within: f.Within, Site: f.Place(), jsonTotals: totalsOf(&f.Totals), Share: p.ShareOf(f), MeanNs: int64(f.Mean()), MinNs: int64(f.Shortest),
		P50Ns: int64(f.Percentile(50)), P95Ns: int64(f.Percentile(95)), P99Ns: int64(f.Percentile(99)), MaxNs: int64(f.Longest),
		Imbalance: p.SpreadOf(f.Ranks, profile.Time).Imbalance(), Ranks: ranksOf(f.Ranks)}
	for _, b := range f.Durations.Buckets() {
		j.Durations = append(j.Durations, jsonBucket{int64(b.From), int64(b.To), b.Calls})
	}
	for _, w := range f.Waits {
		j.Waits = append(j.Waits, jsonWait{w.Rank.Number, w.For, w.Calls, int64(w.Time), w.SharedCalls, int64(w.SharedTime)})
	}
	frames := f.Frames
	if len(frames) == 0 {
		frames = mapped(f.Stack, func(a profile.Address) profile.Frame { return profile.Frame{Address: a} })
	}
	for _, frame := range frames {
		j.Stack = append(j.Stack, jsonFrame{frame.Function, frame.File, frame.Line, frame.Inlined, frame.Address.Path, frame.Address.BuildID, frame.Address.Offset})
	}
	return j
}

func phaseOf(ph *profile.Phase) jsonPhase {
	return jsonPhase{ph.Name, ph.Entered, int64(ph.First), int64(ph.Last), efficiencyOf(ph.Efficiency), totalsOf(&ph.Totals),
		mapped(ph.Ranks, func(r profile.RankPhase) jsonPhaseRank {
			return jsonPhaseRank{r.Rank.Number, r.Entered, int64(r.Elapsed), int64(r.InMPI), totalsOf(&r.Totals)}
		})}
}

func objectOf(o *profile.Object) jsonObject {
	j := jsonObject{o.Name, o.Kind.String(), o.Size, o.Groups, o.MadeBy, "", o.Made, o.Alive, totalsOf(&o.Totals), ranksOf(o.Ranks)}
	if o.Parent != nil {
		j.Parent = o.Parent.Text()
	}
	return j
}

func pairOf(pair profile.Pair) jsonPair {
	j := jsonPair{pair.Source, pair.Destination, pair.Messages(), pair.Bytes(), pair.MessagesReceived, pair.BytesReceived}
	if pair.OneSided {
		j.Messages, j.Bytes = pair.MessagesSent, pair.BytesSent
	}
	return j
}

func sizesOf(s *profile.Sizes) jsonSizes {
	j := jsonSizes{Function: s.Function, Received: s.Received, Bytes: s.Bytes}
	for k, n := range s.Messages {
		if n == 0 {
			continue
		}
		from, to := profile.SizeRange(k)
		bucket := jsonSizeBucket{From: from, To: &to, Messages: n}
		if to == 0 && k > 0 {
			bucket.To = nil
		}
		j.Sizes = append(j.Sizes, bucket)
	}
	return j
}
