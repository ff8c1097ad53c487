package settings

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/text"
)

// options are the settings in a launcher's command line.
type options []option

type option struct {
	variable, value string // as in the environment of the ranks; no variable if only the launcher reads the option
	text            string // as given, with the launcher's name
	later           bool   // an --mca after the first ":"
	inApp           bool   // an --mca in a file of --app
	is              string // the option: "mca"
	name            string // of one that places processes or sets the launcher or PMIx: "-bind-to", "--prtemca NAME"
	in              string // FILE:LINE of one that is in a file of options; ""
}

// origin is where an option is.
func (o option) origin() catalog.Origin {
	if o.in != "" {
		return catalog.Origin{Kind: catalog.OriginFile, Where: o.in, Value: o.value}
	}
	return catalog.Origin{Kind: catalog.OriginLauncher, Where: o.text, Value: o.value}
}

// find is the option that set a variable to this value; nil if there is none. Options set the variable to another value if something
// between the launcher and the process has replaced it, such as a wrapper.
func (os options) find(variable, value string) (found *option, replaced bool) {
	for k := range os {
		switch o := &os[k]; {
		case o.variable != variable:
		case o.gives(value):
			return o, false
		case o.value != "": // "-x NAME" only passes a variable on
			replaced = true
		}
	}
	return nil, replaced
}

// gives reports whether the option sets its variable to a value. Open MPI removes quotes.
func (o option) gives(value string) bool { return o.value == value || unquote(o.value) == value }

// Options of Open MPI's launchers that take one argument, in all versions; options that set something are below.
var openmpiTakes1 = set(`n np c H host hostfile machinefile wdir wd path preload-files s stdin timeout prefix tmpdir personality dvm dvm-uri pset app output display rtos
	runtime-options report-pid report-uri stop-on-exec novm-size memory-alloc-policy pernode-size`)

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
// read returns the text of a file that has options.
func parseOptions(launcher string, cmdline []string, read func(file string) string) options {
	if len(cmdline) == 0 {
		return nil
	}
	p := &parser{name: filepath.Base(cmdline[0]), args: cmdline[1:], sets: hydraSets, takes1: hydraTakes1, file: "configfile", read: read}
	if launcher == "orte" || launcher == "prrte" {
		p.sets, p.takes1, p.file = openmpiSets(), openmpiTakes1, "app"
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

// openmpiParameters are Open MPI's options that stand for a parameter, and how many arguments they take (orte/mca/schizo/ompi of 4.1, which
// has those of earlier releases), without --oversubscribe, which mpitx -n gives itself.
const openmpiParameters = `carto_file_path cf 1 cartofile 1 hwloc_base_bind_to_core bind-to-core 0 hwloc_base_bind_to_socket bind-to-socket 0
	hwloc_base_binding_policy bind-to 1 hwloc_base_cpu_list cpu-list 1 hwloc_base_cpu_set cpu-set 1 hwloc_base_report_bindings report-bindings 0
	hwloc_base_use_hwthreads_as_cpus use-hwthread-cpus 0 opal_cr_enable_crdebug crdebug 0 opal_if_do_not_resolve do-not-resolve 0
	orte_base_user_debugger debugger 1 orte_debug d 0 debug-devel 0 orte_debug_daemons debug-daemons 0 orte_debug_daemons_file debug-daemons-file 0
	orte_default_hostfile default-hostfile 1 orte_display_alloc display-allocation 0 orte_display_devel_alloc display-devel-allocation 0
	orte_do_not_launch do-not-launch 0 orte_enable_instant_on_support enable-instant-on-support 0 orte_enable_recovery enable-recovery 0
	orte_execute_quiet q 0 quiet 0 orte_fwd_mpirun_port fwd-mpirun-port 0 orte_launch_agent launch-agent 1
	orte_leave_session_attached leave-session-attached 0 orte_max_restarts max-restarts 1 orte_max_vm_size max-vm-size 1 orte_no_vm novm 0
	orte_output_debugger_proctable output-proctable 0 orte_output_filename output-filename 1 orte_rankfile rf 1 rankfile 1
	orte_report_child_jobs_separately report-child-jobs-separately 0 orte_report_events report-events 1 orte_report_launch_progress show-progress 0
	orte_tag_output tag-output 0 orte_timestamp_output timestamp-output 0 orte_use_regexp use-regexp 0 orte_xml_file xml-file 1 orte_xml_output xml 0
	orte_xterm xterm 1 pmix_server_uri ompi-server 1 rmaps_base_bycore bycore 0 rmaps_base_bynode bynode 0 rmaps_base_byslot byslot 0
	rmaps_base_cpus_per_rank cpus-per-proc 1 cpus-per-rank 1 rmaps_base_display_devel_map display-devel-map 0
	rmaps_base_display_diffable_map display-diffable-map 0 rmaps_base_display_map display-map 0 rmaps_base_display_topo_with_map display-topo 0
	rmaps_base_no_oversubscribe nooversubscribe 0 rmaps_base_no_schedule_local nolocal 0
	rmaps_base_ranking_policy rank-by 1 rmaps_ppr_n_pernode N 1 npernode 1 rmaps_ppr_n_persocket npersocket 1 rmaps_ppr_pattern ppr 1
	rmaps_ppr_pernode pernode 0`

var openmpiSets = sync.OnceValue(func() map[string]setter {
	sets := map[string]setter{
		"mca": {2, mca}, "gmca": {2, mca}, "omca": {2, mca}, "gomca": {2, mca}, "x": {1, assignment}, "map-by": {1, mapBy},
		"am": takes1("mca_base_param_file_prefix"), "tune": takes1("mca_base_envar_file_prefix"),
		"prtemca": {2, ownLast}, "gprtemca": {2, ownLast}, "pmixmca": {2, pmixMCA}, "gpmixmca": {2, pmixMCA},
	}
	parameter, option := "", ""
	for word := range strings.FieldsSeq(openmpiParameters) {
		switch {
		case word == "0":
			sets[option] = is(parameter)
		case word == "1":
			sets[option] = takes1(parameter)
		case strings.Contains(word, "_"):
			parameter = word
		default:
			option = word
		}
	}
	return sets
})

var hydraSets = map[string]setter{"env": {2, pair}, "genv": {2, pair}, "bind-to": {1, ownLast}, "map-by": {1, ownLast}, "membind": {1, ownLast},
	"iface": {1, func(a []string) (string, string) { return "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE", a[0] }}}

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
	later  bool   // the first ":" is read
	file   string // the option that names a file of options
	read   func(file string) string
	in     string // the place in such a file
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

// options reads a file of options, each line for one program, or for Hydra for several with ":" between them.
func (p *parser) options(file string) {
	n := 0
	for line := range strings.Lines(p.read(file)) {
		n++
		inner := *p
		inner.args, inner.found, inner.in = strings.Fields(line), nil, file+":"+strconv.Itoa(n)
		if len(inner.args) > 0 && inner.args[0][0] == '#' {
			continue
		}
		for len(inner.args) > 0 {
			inner.context()
			if p.file == "app" {
				break
			}
		}
		p.found = append(p.found, inner.found...)
	}
}

func (p *parser) option() {
	given := p.drop(1)[0]
	name := strings.TrimLeft(given, "-")
	if name == p.file && p.in == "" && len(p.args) > 0 {
		p.options(p.args[0])
	}
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
	o := option{variable: variable, value: value, text: words, is: name, in: p.in}
	if name == "mca" || name == "gmca" {
		o.later, o.inApp = p.later && p.in == "", p.in != ""
	}
	if named[name] && value != "" {
		o.name = strings.Join(append([]string{given}, args[:len(args)-1]...), " ")
	}
	p.found = append(p.found, o)
}
