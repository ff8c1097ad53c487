package runs

import (
	"cmp"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/text"
)

// Limits of metrics, so that the number of series has a bound, whatever the run.
const (
	MostMetricFunctions = 50  // those with the most time; the others are added up
	MostMetricVariables = 100 // variables and their objects, in the order of names
)

// family is a metric with its samples. Its unit is the end of its name.
type family struct {
	name, unit, help string
	samples          []metric
}

type metric struct {
	labels []string // names and values
	value  float64
}

type metrics struct {
	run      string // its name
	families []*family
}

// OpenMetrics writes figures of a run for monitoring: gauges, as a run starts from 0. The text is OpenMetrics and also the older format of
// Prometheus, which has no types such as info, and other names of counters. Samples are those of o.Column. It returns how many variables
// were left out.
func OpenMetrics(w io.Writer, run *recording.Run, o recording.Options) (omitted int, err error) {
	m := &metrics{run: runName(run.Dir)}
	m.whole(run)
	if profile.Has(run) {
		p, err := profile.Read(run, profile.Cut{})
		if err != nil {
			return 0, err
		}
		m.profile(p)
	}
	if run.Sampled() {
		omitted = m.variables(run.Stats(recording.Options{Column: o.Column, Progress: o.Progress}))
	}
	_, err = io.WriteString(w, m.text())
	return omitted, err
}

func runName(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}

// add adds a sample to a family, which the first one makes.
func (m *metrics) add(name, unit, help string, value float64, labels ...string) {
	if unit != "" {
		name += "_" + unit
	}
	k := slices.IndexFunc(m.families, func(f *family) bool { return f.name == name })
	if k < 0 {
		k = len(m.families)
		m.families = append(m.families, &family{name: name, unit: unit, help: help})
	}
	m.families[k].samples = append(m.families[k].samples, metric{labels, value})
}

// whole adds what is known of any run.
func (m *metrics) whole(run *recording.Run) {
	var program, library string
	size, incomplete, states := 0, 0, map[string]int{}
	for _, r := range run.Ranks {
		if states[r.State.String()]++; r.Incomplete() != "" {
			incomplete++
		}
		if r.Spawned.First == 0 || program == "" {
			program, library, size = cmp.Or(program, r.Program), cmp.Or(library, r.Library), max(size, r.Size)
		}
	}
	library, _, _ = strings.Cut(library, "\n")
	library, _, _ = strings.Cut(export.OneLine(library), ",")
	m.add("mpitx_run_info", "", "The run of these labels; always 1.", 1, "program", program, "library", library)
	m.add("mpitx_run_start_time", "seconds", "Start of the job, in seconds since 1970.", float64(run.Start.UnixNano())/1e9)
	m.add("mpitx_run_size", "", "Ranks of MPI_COMM_WORLD.", float64(size))
	for _, state := range slices.Sorted(maps.Keys(states)) {
		m.add("mpitx_run_processes", "", "Processes of the run by state.", float64(states[state]), "state", state)
	}
	m.add("mpitx_run_incomplete_processes", "", "Processes whose figures may be too small.", float64(incomplete))
}

// profile adds the efficiencies of a profile and its functions, without those that the library called.
func (m *metrics) profile(p *profile.Profile) {
	var elapsed float64
	for _, r := range p.Ranks {
		elapsed = max(elapsed, r.Elapsed.Seconds())
	}
	m.add("mpitx_run_elapsed", "seconds", "Time from the end of MPI_Init to the beginning of MPI_Finalize, of the rank with the most.", elapsed)
	if e := p.Efficiency; e.Parallel > 0 {
		m.add("mpitx_parallel_efficiency", "ratio", "Mean time outside of MPI divided by the elapsed time.", e.Parallel)
		m.add("mpitx_load_balance", "ratio", "Mean time outside of MPI divided by the greatest.", e.LoadBalance)
		m.add("mpitx_communication_efficiency", "ratio", "Greatest time outside of MPI divided by the elapsed time.", e.Communication)
	}
	var all []*profile.Function
	for _, f := range p.Functions {
		if f.Within == "" {
			all = append(all, f)
		}
	}
	slices.SortStableFunc(all, func(a, b *profile.Function) int { return cmp.Compare(b.Time, a.Time) })
	if len(all) > MostMetricFunctions {
		other := &profile.Function{Name: "other"}
		for _, f := range all[MostMetricFunctions:] {
			other.Calls += f.Calls
			other.Time += f.Time
			other.BytesSent += f.Sent()
			other.BytesReceived += f.Received()
		}
		all = append(all[:MostMetricFunctions:MostMetricFunctions], other)
	}
	for _, f := range all {
		m.add("mpitx_function_calls", "", "Calls of an MPI function on all ranks.", float64(f.Calls), "function", f.Name)
		m.add("mpitx_function_time", "seconds", "Time in an MPI function on all ranks.", f.Time.Seconds(), "function", f.Name)
		m.add("mpitx_function_sent", "bytes", "Bytes that an MPI function took from the buffers of the program.", float64(f.Sent()), "function", f.Name)
		m.add("mpitx_function_received", "bytes", "Bytes that an MPI function put into the buffers of the program.", float64(f.Received()), "function", f.Name)
	}
}

// variables adds statistics of sampled variables, and returns how many it left out.
func (m *metrics) variables(stats []recording.Stat) (omitted int) {
	stats = slices.DeleteFunc(stats, func(s recording.Stat) bool { return s.Count == 0 })
	omitted = max(len(stats)-MostMetricVariables, 0)
	for _, s := range stats[:len(stats)-omitted] {
		unit, scale := "", 1.0
		switch s.Unit {
		case "ns":
			unit, scale = "seconds", 1e9
		case "s":
			unit = "seconds"
		case "B":
			unit = "bytes"
		}
		labels := []string{"variable", s.Variable, "class", s.Class.String(), "object", s.Object}
		of := func(name, help string, value float64) {
			if !math.IsNaN(value) && !math.IsInf(value, 0) {
				m.add(name, unit, help, value/scale, labels...)
			}
		}
		if s.As == recording.Delta {
			of("mpitx_variable_growth", "Growth of a sampled variable over the run, added up over ranks.", s.Total.Float64())
			of("mpitx_variable_rank_min", "Growth of a sampled variable on the rank where it grew least.", s.Min.Float64())
			of("mpitx_variable_rank_max", "Growth of a sampled variable on the rank where it grew most.", s.Max.Float64())
			continue
		}
		of("mpitx_variable_mean", "Mean of a sampled variable over time and ranks.", s.Mean)
		of("mpitx_variable_min", "Least sample of a variable.", s.Min.Float64())
		of("mpitx_variable_max", "Greatest sample of a variable.", s.Max.Float64())
	}
	if omitted > 0 {
		m.add("mpitx_run_omitted_variables", "", "Sampled variables that this file leaves out.", float64(omitted))
	}
	return omitted
}

func (m *metrics) text() string {
	var b strings.Builder
	for _, f := range m.families {
		b.WriteString("# HELP " + f.name + " " + f.help + "\n# TYPE " + f.name + " gauge\n")
		if f.unit != "" {
			b.WriteString("# UNIT " + f.name + " " + f.unit + "\n")
		}
		for _, s := range f.samples {
			b.WriteString(f.name + `{run="` + metricLabel(m.run) + `"`)
			for i := 0; i < len(s.labels); i += 2 {
				b.WriteString("," + s.labels[i] + `="` + metricLabel(s.labels[i+1]) + `"`)
			}
			b.WriteString("} " + strconv.FormatFloat(s.value, 'g', -1, 64) + "\n")
		}
	}
	return b.String() + "# EOF\n"
}

var metricEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// metricLabel is the value of a label, in which text that could act on a terminal is escaped, as in CSV.
func metricLabel(s string) string { return metricEscapes.Replace(text.Escape(s, false)) }
