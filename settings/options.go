package settings

import (
	"path/filepath"
	"strings"

	"mpitx/machine"
	"mpitx/text"
)

// options are the settings in a launcher's command line.
type options []option

type option struct {
	variable, value string // as in the environment of the ranks; no variable if only the launcher reads the option
	text            string // as given, with the launcher's name
	later           bool   // an --mca after the first ":"
	name            string // of one that places processes or sets the launcher or PMIx: "-bind-to", "--prtemca NAME"
}

// find is the text of the option that set a variable to this value; "" if there is none. Options set the variable to another value if
// something between the launcher and the process has replaced it, such as a wrapper.
func (os options) find(variable, value string) (text string, replaced bool) {
	for _, o := range os {
		switch {
		case o.variable != variable:
		case o.gives(value):
			return o.text, false
		case o.value != "": // "-x NAME" only passes a variable on
			replaced = true
		}
	}
	return "", replaced
}

// gives reports whether the option sets its variable to a value. Open MPI removes quotes.
func (o option) gives(value string) bool { return o.value == value || unquote(o.value) == value }

// Options of Open MPI's launchers that take one argument, in all versions; options that set something are below.
var openmpiTakes1 = set(`n np c N H host hostfile machinefile default-hostfile rf rankfile wdir wd path
	preload-files output-proctable xml-file s stdin timeout prefix tmpdir launch-agent max-restarts personality dvm dvm-uri pset app output display rtos runtime-options
	report-pid report-uri stop-on-exec max-vm-size display-topo debugger novm-size memory-alloc-policy ompi-server pernode-size`)

// Options of Hydra (also Intel's) that take one argument.
var hydraTakes1 = set(`n np ppn perhost f hosts host hostfile machinefile machine wdir dir path configfile envlist genvlist launcher
	launcher-exec bootstrap rmk topolib demux prepend-pattern outfile-pattern errfile-pattern nameserver
	localhost usize gpus-per-proc timeout pmi-port-range`)

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// parseOptions reads a launcher's command line: options up to the program, and after every ":" again.
func parseOptions(launcher string, cmdline []string) options {
	if len(cmdline) == 0 {
		return nil
	}
	p := &parser{name: filepath.Base(cmdline[0]), args: cmdline[1:], sets: hydraSets, takes1: hydraTakes1}
	if launcher == "orte" || launcher == "prrte" {
		p.sets, p.takes1 = openmpiSets, openmpiTakes1
	}
	for len(p.args) > 0 {
		p.context()
	}
	return p.found
}

// setter is an option that sets something: its number of arguments, and what it sets in the environment.
type setter struct {
	args int
	env  func(a []string) (variable, value string)
}

var (
	openmpiSets = map[string]setter{
		"mca": {2, mca}, "gmca": {2, mca}, "omca": {2, mca}, "gomca": {2, mca}, "x": {1, assignment},
		"am":      {1, func(a []string) (string, string) { return "OMPI_MCA_mca_base_param_file_prefix", a[0] }},
		"tune":    {1, func(a []string) (string, string) { return "OMPI_MCA_mca_base_envar_file_prefix", a[0] }},
		"bind-to": takes1("hwloc_base_binding_policy"), "bind-to-core": is("hwloc_base_bind_to_core"),
		"cpu-set": takes1("hwloc_base_cpu_set"), "cpu-list": takes1("hwloc_base_cpu_list"),
		"use-hwthread-cpus": is("hwloc_base_use_hwthreads_as_cpus"), "display-allocation": is("orte_display_alloc"),
		"map-by": {1, mapBy}, "rank-by": takes1("rmaps_base_ranking_policy"),
		"display-map": is("rmaps_base_display_map"), "bycore": is("rmaps_base_bycore"), "bynode": is("rmaps_base_bynode"),
		"cpus-per-rank": takes1("rmaps_base_cpus_per_rank"), "cpus-per-proc": takes1("rmaps_base_cpus_per_rank"),
		"npernode": takes1("rmaps_ppr_n_pernode"), "npersocket": takes1("rmaps_ppr_n_persocket"), "pernode": is("rmaps_ppr_pernode"),
		"ppr": takes1("rmaps_ppr_pattern"), "output-filename": takes1("orte_output_filename"),
		"prtemca": {2, ownLast}, "gprtemca": {2, ownLast}, "pmixmca": {2, pmixMCA}, "gpmixmca": {2, pmixMCA},
	}
	hydraSets = map[string]setter{"env": {2, pair}, "genv": {2, pair}, "bind-to": {1, ownLast}, "map-by": {1, ownLast}, "membind": {1, ownLast},
		"iface": {1, func(a []string) (string, string) { return "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE", a[0] }}}
)

// takes1 and is are Open MPI's options for a parameter, with and without a value.
func takes1(parameter string) setter {
	return setter{1, func(a []string) (string, string) { return "OMPI_MCA_" + parameter, a[0] }}
}

func is(parameter string) setter {
	return setter{0, func([]string) (string, string) { return "OMPI_MCA_" + parameter, "1" }}
}

// mapBy skips what mpitx -n sets itself.
func mapBy(a []string) (string, string) {
	const variable = "OMPI_MCA_rmaps_base_mapping_policy"
	if machine.OwnedByLauncher(variable, a[0]) {
		return "", ""
	}
	return variable, a[0]
}

func mca(a []string) (string, string)     { return "OMPI_MCA_" + a[0], a[1] }
func pmixMCA(a []string) (string, string) { return "PMIX_MCA_" + a[0], a[1] }
func pair(a []string) (string, string)    { return a[0], a[1] }
func ownLast(a []string) (string, string) { return "", a[len(a)-1] } // the ranks' environment does not have it
func assignment(a []string) (string, string) {
	k, v, _ := strings.Cut(a[0], "=")
	return k, v
}

// named are the options that influence processes even if their environment does not have them.
var named = set("bind-to map-by rank-by membind cpu-set cpu-list prtemca gprtemca pmixmca gpmixmca")

type parser struct {
	name   string // of the launcher
	args   []string
	sets   map[string]setter
	takes1 map[string]bool
	found  options
	later  bool // the first ":" is read
}

// context reads the options of one program and skips the program and its arguments.
func (p *parser) context() {
	for len(p.args) > 0 && strings.HasPrefix(p.args[0], "-") {
		p.option()
	}
	for len(p.args) > 0 && p.args[0] != ":" {
		p.args = p.args[1:]
	}
	p.drop(1)
	p.later = true
}

func (p *parser) drop(n int) []string {
	n = min(n, len(p.args))
	dropped := p.args[:n]
	p.args = p.args[n:]
	return dropped
}

func (p *parser) option() {
	given := p.drop(1)[0]
	name := strings.TrimLeft(given, "-")
	s, ok := p.sets[name]
	if !ok {
		if p.takes1[name] {
			p.drop(1)
		}
		return
	}
	if len(p.args) > 0 && strings.HasSuffix(name, "env") && strings.Contains(p.args[0], "=") {
		s = setter{1, assignment} // Hydra also takes -genv NAME=VALUE
	}
	args := p.drop(s.args)
	if len(args) < s.args {
		return
	}
	variable, value := s.env(args)
	words := p.name + " " + given
	for _, a := range args {
		words += " " + text.Quote(a)
	}
	o := option{variable: variable, value: value, text: words, later: p.later && (name == "mca" || name == "gmca")}
	if named[name] && value != "" {
		o.name = strings.Join(append([]string{given}, args[:len(args)-1]...), " ")
	}
	p.found = append(p.found, o)
}
