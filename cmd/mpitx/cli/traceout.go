package cli

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/export/parquet"
	"mpitx/export/perfetto"
	"mpitx/export/runs"
	"mpitx/machine/newfile"
	"mpitx/recording"
	"mpitx/recording/clocks"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/progress"
)

const FormatPerfetto = export.Format("perfetto")

var TraceFormats = append([]export.Format{FormatPerfetto}, append(runs.TraceFormats[:len(runs.TraceFormats):len(runs.TraceFormats)], FormatParquet)...)

// TraceEndings are the endings of files that Perfetto opens.
var TraceEndings = []string{"pftrace", "perfetto-trace", "perfetto"}

// endingFormat is the format that the ending of a file's name stands for.
func endingFormat(name string) export.Format {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	switch {
	case slices.Contains(TraceEndings, ending):
		return FormatPerfetto
	case ending == "prom": // of files for Prometheus
		return FormatOpenMetrics
	}
	return export.Format(ending)
}

// RunPart are the flags that choose a part of a run.
type RunPart struct {
	From, To time.Duration
	ranks    string

	chosen map[int]bool // nil: all
}

func (p *RunPart) Flags(cmd *cobra.Command) {
	p.Times(cmd)
	cmd.Flags().StringVar(&p.ranks, "rank", "", "only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5")
	cmd.RegisterFlagCompletionFunc("rank", cobra.NoFileCompletions)
}

// Times are the flags of times alone.
func (p *RunPart) Times(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&p.From, "from", 0, "only from this `TIME` on, since the start of the job, such as 1.5s")
	f.DurationVar(&p.To, "to", 0, "only until this `TIME`")
	for _, name := range []string{"from", "to"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

func (p *RunPart) Parse(cmd *cobra.Command) error {
	ranks, err := text.ParseRanks(p.ranks)
	switch {
	case err != nil:
		return Usagef("--rank: %v", err)
	case p.From < 0:
		return Usagef("--from %s: must not be negative", p.From)
	case p.To < 0:
		return Usagef("--to %s: must not be negative", p.To)
	case cmd.Flags().Changed("to") && p.To <= p.From:
		return Usagef("--to %s: must be later than --from %s", p.To, p.From)
	case p.From != 0 && p.To == 0:
		p.To = 1<<63 - 1
	}
	p.Choose(ranks)
	return nil
}

// Choose chooses ranks; none: all.
func (p *RunPart) Choose(ranks []int) {
	for _, r := range ranks {
		if p.chosen == nil {
			p.chosen = map[int]bool{}
		}
		p.chosen[r] = true
	}
}

// Rank is nil if all ranks are chosen.
func (p *RunPart) Rank() func(*recording.Rank) bool {
	if p.chosen == nil {
		return nil
	}
	return func(r *recording.Rank) bool { return p.chosen[r.Rank] }
}

// Has reports whether a rank is chosen.
func (p *RunPart) Has(rank int) bool { return p.chosen == nil || p.chosen[rank] }

// Check reports ranks that the run does not have.
func (p *RunPart) Check(run *recording.Run) error {
	has := map[int]bool{}
	for _, r := range run.Ranks {
		has[r.Rank] = true
	}
	for r := range p.chosen {
		if !has[r] {
			return Failf("--rank %d: the run has no such rank; it has %s", r, text.Count(len(run.Ranks), "rank"))
		}
	}
	return nil
}

// TraceOut says how and where a trace is written.
type TraceOut struct {
	OutFile
	Format  export.Format // "": the ending of out
	Start   bool          // CSV, NDJSON: each row has the wall clock of time 0
	Part    RunPart
	Samples recording.Options // for Perfetto
	Derive  []string          // globs of events of PERUSE to derive; nil: as mpitx trace --event asked
	Temp    string            // part of the temporary file's name, see createFile
	Late    newfile.Existing
}

// Form is the format chosen by -o or by the file's name.
func (x *TraceOut) Form() export.Format {
	if form := endingFormat(x.Out); x.Format == "" && form != "" {
		return form
	} else if x.Format == "" {
		return FormatPerfetto
	}
	return x.Format
}

func (x *TraceOut) CheckFormat() error {
	if form := x.Form(); !slices.Contains(TraceFormats, form) {
		return Usagef("--out %s: .%s is not a format of traces; end the name in .pftrace, .%s, or choose the format with -o", text.Quote(x.Out), strings.TrimPrefix(filepath.Ext(x.Out), "."),
			strings.Join(Texts(TraceFormats[1:]), ", ."))
	}
	return nil
}

// Command is the mpitx export command that writes the same file.
func (x *TraceOut) Command(dir string) string {
	words := "mpitx export " + text.Quote(dir) + " -o " + string(x.Form())
	if x.Named() {
		words += " --out " + text.Quote(x.Out)
	}
	return words
}

// Write writes the trace of a run to x.out; "-" is standard output. damaged parts are reported.
func (x *TraceOut) Write(a *App, run *recording.Run) (totals trace.Totals, err error) {
	clocks.Correct(run)
	o := trace.Options{From: x.Part.From, To: x.Part.To, Rank: x.Part.Rank(), Derive: trace.Derivable(run, x.Derive...)}
	bar := progress.New("exporting")
	find, done := sites.Places(run)
	damaged := false
	to := func(w io.Writer) (err error) {
		switch form := x.Form(); form {
		case FormatPerfetto:
			totals, err = perfetto.Write(w, run, perfetto.Options{Options: o, Samples: x.Samples, Site: find})
		case FormatParquet:
			totals, err = parquet.Trace(w, run, runs.TraceOptions{Options: o, Site: find})
		default:
			t := runs.TraceOptions{Options: o, Site: find, Start: x.Start}
			if x.Out == "-" {
				if t.Terminal, err = a.Terminal(); err != nil {
					return err
				}
			}
			totals, err = runs.Trace(w, run, form, t)
		}
		bar.Clear()
		damaged = ReportDamage(a, run)
		return err
	}
	if x.Out == "-" {
		if err = to(a.Out); err == nil {
			err = a.flush()
		}
	} else {
		x.Out, err = x.write(x.Temp, x.Late, to)
	}
	unread := ReportSites(a, run, "export", done)
	if err == nil && damaged {
		err = ErrDamaged
	}
	return totals, cmp.Or(err, unread)
}
