package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpitx/export"
	"mpitx/export/perfetto"
	"mpitx/recording"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/progress"
)

const formatPerfetto = export.Format("perfetto")

var traceFormats = append([]export.Format{formatPerfetto}, append(export.TraceFormats[:len(export.TraceFormats):len(export.TraceFormats)], formatParquet)...)

// traceEndings are the endings of files that Perfetto opens.
var traceEndings = []string{"pftrace", "perfetto-trace", "perfetto"}

// endingFormat is the format that the ending of a file's name stands for.
func endingFormat(name string) export.Format {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))
	if slices.Contains(traceEndings, ending) {
		return formatPerfetto
	}
	return export.Format(ending)
}

// runPart are the flags that choose a part of a run.
type runPart struct {
	from, to time.Duration
	ranks    string

	chosen map[int]bool // nil: all
}

func (p *runPart) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.DurationVar(&p.from, "from", 0, "only from this `TIME` on, since the start of the job, such as 1.5s")
	f.DurationVar(&p.to, "to", 0, "only until this `TIME`")
	f.StringVar(&p.ranks, "rank", "", "only these `RANKS` of MPI_COMM_WORLD, such as 0,2-5")
	for _, name := range []string{"from", "to", "rank"} {
		cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions)
	}
}

func (p *runPart) parse(cmd *cobra.Command) error {
	ranks, err := text.ParseRanks(p.ranks)
	switch {
	case err != nil:
		return usagef("--rank: %v", err)
	case cmd.Flags().Changed("to") && p.to <= p.from:
		return usagef("--to %s: must be later than --from %s", p.to, p.from)
	case p.from != 0 && p.to == 0:
		p.to = 1<<63 - 1
	}
	for _, r := range ranks {
		if p.chosen == nil {
			p.chosen = map[int]bool{}
		}
		p.chosen[r] = true
	}
	return nil
}

// rank is nil if all ranks are chosen.
func (p *runPart) rank() func(*recording.Rank) bool {
	if p.chosen == nil {
		return nil
	}
	return func(r *recording.Rank) bool { return p.chosen[r.Rank] }
}

// check reports ranks that the run does not have.
func (p *runPart) check(run *recording.Run) error {
	has := map[int]bool{}
	for _, r := range run.Ranks {
		has[r.Rank] = true
	}
	for r := range p.chosen {
		if !has[r] {
			return failf("--rank %d: the run has no such rank; it has %s", r, count(len(run.Ranks), "rank"))
		}
	}
	return nil
}

// words are the part as arguments of mpitx-formats.
func (p *runPart) words() []string { return []string{p.from.String(), p.to.String(), p.ranks} }

// traceOut says how and where a trace is written.
type traceOut struct {
	outFile
	format  export.Format // "": the ending of out
	part    runPart
	samples recording.Options // for Perfetto
	derive  []string          // globs of events of PERUSE to derive; nil: as mpitx trace --event asked
	temp    string            // part of the temporary file's name, see createFile
	late    existing
}

// form is the format chosen by -o or by the file's name.
func (x *traceOut) form() export.Format {
	if form := endingFormat(x.out); x.format == "" && form != "" {
		return form
	} else if x.format == "" {
		return formatPerfetto
	}
	return x.format
}

func (x *traceOut) checkFormat() error {
	if form := x.form(); !slices.Contains(traceFormats, form) {
		return usagef("--out %s: .%s is not a format of traces; end the name in .pftrace, .%s, or choose the format with -o", text.Quote(x.out), form,
			strings.Join(texts(traceFormats[1:]), ", ."))
	}
	return nil
}

// command is the mpitx export command that writes the same file.
func (x *traceOut) command(dir string) string {
	words := "mpitx export " + text.Quote(dir) + " -o " + string(x.form())
	if x.named() {
		words += " --out " + text.Quote(x.out)
	}
	return words
}

// write writes the trace of a run to x.out; "-" is standard output. damaged parts are reported.
func (x *traceOut) write(a *app, run *recording.Run) (totals trace.Totals, err error) {
	o := trace.Options{From: x.part.from, To: x.part.to, Rank: x.part.rank(), Derive: trace.Derivable(run, x.derive...)}
	bar := progress.New("exporting")
	find, done := sites.Places(run)
	damaged := false
	to := func(w io.Writer) (err error) {
		switch form := x.form(); form {
		case formatPerfetto:
			totals, err = perfetto.Write(w, run, perfetto.Options{Options: o, Samples: x.samples, Site: find})
		case formatParquet:
			o.Flows = true
			totals = trace.Read(run, o).Totals
			damaged, err = runFormats(w, strings.NewReader(""), "Parquet", slices.Concat([]string{"trace", run.Dir}, x.part.words(), x.derive)...)
			return err
		default:
			t := export.TraceOptions{Options: o, Site: find}
			if x.out == "-" {
				if t.Terminal, err = a.terminal(); err != nil {
					return err
				}
			}
			totals, err = export.Trace(w, run, form, t)
		}
		bar.Clear()
		damaged = reportDamage(a, run)
		return err
	}
	if x.out == "-" {
		if err = to(a.out); err == nil {
			err = a.flush()
		}
	} else {
		x.out, err = createFile(x.out, x.temp, x.then(x.late), to)
	}
	unread := reportUnreadable(a, done(), "export")
	if err == nil && damaged {
		err = errDamaged
	}
	return totals, cmp.Or(err, unread)
}

// count is a number with a noun.
func count[N int | uint64](n N, noun string) string {
	text := export.Terminal{UTF8: true}.Amount(float64(n), "")
	if n == 1 {
		return text + " " + noun
	}
	return text + " " + noun + "s"
}
