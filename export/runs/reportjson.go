package runs

import (
	"io"
	"time"

	"mpitx/export"
	"mpitx/recording/profile"
)

// The JSON document of a report; docs/schema.md describes it.
type (
	jsonRun struct {
		Program  string        `json:"program"`
		Programs []string      `json:"programs,omitempty"` // if there are several
		Library  string        `json:"library"`
		Size     int           `json:"size"`
		Start    string        `json:"start"`
		Elapsed  time.Duration `json:"elapsed_ns"`
		Tools    []string      `json:"tools,omitempty"`
		// Incomplete are the ranks whose numbers may be too small, and which are in no mean.
		Incomplete []int        `json:"incomplete_ranks,omitempty"`
		Cut        *profile.Cut `json:"cut,omitempty"`
	}
	jsonRank struct {
		Rank      int           `json:"rank"`
		Host      string        `json:"host"`
		State     string        `json:"state"`
		Threads   int           `json:"threads"`
		Elapsed   time.Duration `json:"elapsed_ns"`
		InMPI     time.Duration `json:"in_mpi_ns"`
		Useful    time.Duration `json:"useful_ns"`
		SpawnedBy *int          `json:"spawned_by,omitempty"`
		Why       string        `json:"incomplete,omitempty"`
		profile.Totals
		InMPIError time.Duration  `json:"in_mpi_error_ns,omitzero"`
		Processor  *jsonProcessor `json:"processor,omitempty"`
	}
	jsonObject struct {
		*profile.Object
		Parent string `json:"parent,omitempty"`
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
		*profile.Sizes
		Buckets []profile.SizeBucket `json:"sizes"`
	}
)

func reportJSON(w io.Writer, p *profile.Profile, o ReportOptions) error {
	d := &export.Document{W: w, B: []byte("{\n  \"schema\": \"mpitx.report\",\n  \"version\": 1")}
	run := runOf(p)
	run.Tools = o.Tools
	d.Member("run", run)
	if p.Efficiency.Parallel > 0 {
		d.Member("efficiency", p.Efficiency)
	}
	if p.Processor != nil {
		d.Member("processor", jsonCores{p.Processor.Groups, p.Processor.Delay()})
	}
	export.AddList(d, "findings", o.Findings)
	export.AddEach(d, "functions", p.Rows(p.Functions))
	export.AddEach(d, "sites", p.Rows(p.Sites))
	export.AddList(d, "ranks", export.Mapped(p.Ranks, func(r *profile.Rank) jsonRank {
		j := jsonRank{r.Number, r.Process.Host, r.Process.State.String(), r.Threads, r.Elapsed, r.InMPI, r.Useful(), nil, r.Incomplete(), r.Totals, r.InMPIError,
			processorOf(p, r)}
		if s := r.Process.Spawned; s.First > 0 {
			j.SpawnedBy = &s.Spawner
		}
		return j
	}))
	export.AddList(d, "phases", p.Phases)
	export.AddList(d, "communicators", export.Mapped(p.Objects, func(o *profile.Object) jsonObject { return jsonObject{o, o.Parent.Text()} }))
	export.AddList(d, "matrix", export.Mapped(p.Pairs, pairOf))
	export.AddList(d, "onesided", export.Mapped(p.OneSided, pairOf))
	export.AddList(d, "sizes", export.Mapped(p.Sizes, func(s *profile.Sizes) jsonSizes { return jsonSizes{s, s.Buckets()} }))
	if len(p.Algorithms) > 0 {
		export.AddList(d, "algorithms", export.Mapped(p.Algorithms, algorithmOf))
	}
	if len(p.Arrivals) > 0 {
		export.AddList(d, "arrivals", export.Mapped(p.Arrivals, arrivalsOf))
	}
	if len(p.Paths) > 0 {
		export.AddList(d, "paths", p.Paths)
	}
	if o := p.Others; o != (profile.Totals{}) {
		d.Member("other_jobs", jsonTraffic{o.MessagesSent, o.BytesSent, o.MessagesReceived, o.BytesReceived})
	}
	if len(o.Triggers) > 0 {
		export.AddList(d, "triggers", export.Mapped(o.Triggers, triggerOf))
	}
	return d.End()
}

func runOf(p *profile.Profile) jsonRun {
	r := jsonRun{Start: p.Run.Start.UTC().Format("2006-01-02T15:04:05.000Z"), Incomplete: p.IncompleteRanks()}
	for _, rank := range p.Ranks {
		if rank.Process.Spawned.First == 0 || r.Program == "" {
			r.Program, r.Library, r.Size = rank.Process.Program, export.OneLine(rank.Process.Library), max(r.Size, rank.Process.Size)
		}
		r.Elapsed = max(r.Elapsed, rank.Elapsed)
	}
	if all := programsOf(processes(p)...); len(all) > 1 {
		r.Programs = all
	}
	if c := p.Cut; cutText(c) != "" {
		r.Cut = &c
	}
	return r
}

func pairOf(pair profile.Pair) jsonPair {
	j := jsonPair{pair.Source, pair.Destination, pair.Messages(), pair.Bytes(), pair.MessagesReceived, pair.BytesReceived}
	if pair.OneSided {
		j.Messages, j.Bytes = pair.MessagesSent, pair.BytesSent
	}
	return j
}
