package check

import "strings"

// Feature is one of mpitx's features on a library.
type Feature struct {
	Name  string `json:"feature"`
	State string `json:"state"` // "works", "partly", "no"
	Why   string `json:"why,omitempty"`
}

// needs are the rules that features of mpitx rest on. without names the rule that does not apply to a library without the feature.
var needs = []struct {
	name, rules, without, otherwise string
	around                          string // what mpitx does about violations; "": they leave the feature working in part
}{
	{"list, show, tui", "cvar-names-unique pvar-names-unique category-names-unique names-not-empty info-identical info-constants indices-kept numbers-never-shrink strings-length strings-exact strings-truncated strings-truncated-length strings-no-description category-members category-indices category-no-cycles enum-not-empty enum-items", "", "",
		"asks for lengths again and drops members that do not exist"},
	{"read", "cvar-opens cvar-count cvar-string-end cvar-no-overrun", "cvar-no-overrun", "the library has no control variable that can be read", "tries each variable in a child process and marks those that fail"},
	{"before and after MPI_Init", "cvars-across-init pvars-before-mpi-init cycle-before-init init-again cycle-nested finalize-after-mpi use-after-mpi-finalize strings-kept-after-mpi", "", "", "reads the two stages in separate processes and never finalizes MPI_T"},
	{"write", "write-readonly write-outcome write-arrives cvar-handle-null", "cvar-handle-null", "the library has no control variable that can be read", "reads each value back"},
	{"sample, record, top", "pvar-opens pvar-count pvar-start-stop pvar-monotonic pvar-non-negative pvar-read-stopped", "pvar-count", "the library has no performance variable that can be opened; the variables mpitx:* work",
		"tries each variable in a child process and takes its own baselines"},
	{"one answer for all ranks", "ranks-variables ranks-enumerations ranks-categories", "", "", "marks what differs"},
	{"profile, where, trace, run", "", "", "", "intercepts the application's calls, with any MPI"},
	{"trace of MPI_T events", "event-names-unique event-elements event-handle event-callback event-data event-source event-timestamps event-free source-info source-clock", "event-handle", "the library has no events; the calls are traced on any MPI", "tries each event in a child process"},
	{"queues from PERUSE", "peruse-init peruse-events peruse-unknown-event peruse-register peruse-activation peruse-callback", "peruse-events", "the library does not have PERUSE; mpitx report RUN queues derives them from messages", ""},
	{"run --via qmpi", "qmpi-register qmpi-init qmpi-numbers qmpi-storage qmpi-order qmpi-arguments qmpi-next", "qmpi-init", "the library does not have QMPI; mpitx run --tool works on any MPI", ""},
}

// FeaturesOf says which features of mpitx work on a library; none if not all rules were tested that they rest on.
func FeaturesOf(r *Report) (all []Feature) {
	for _, n := range needs {
		f := Feature{Name: n.name, State: "works"}
		var broken []string
		absent, tested := false, n.rules == ""
		for _, rule := range strings.Fields(n.rules) {
			one := r.Result(rule)
			if one == nil {
				return nil
			}
			tested = tested || one.Status != NotApplicable
			switch one.Status {
			case NotApplicable:
				absent = absent || one.Name == n.without
			case Crashed, Hung, Failed:
				broken = append(broken, one.Name+" "+string(one.Status))
				f.State = "partly"
			case Violated:
				broken = append(broken, one.Name)
				if n.around == "" {
					f.State = "partly"
				}
			}
		}
		var why []string
		switch {
		case absent:
			f.State, why = "no", []string{n.otherwise}
		case !tested:
			f.State, why = "no", []string{"the library has nothing that its rules are about"}
		case len(broken) > 0 && f.State == "works":
			why = []string{"mpitx works around violations of " + Some(broken, 4) + ": it " + n.around}
		case len(broken) > 0:
			why = append(why, Some(broken, 4))
			fallthrough
		case n.rules == "":
			if n.around != "" {
				why = append(why, "mpitx "+n.around)
			}
		}
		f.Why = strings.Join(why, "; ")
		all = append(all, f)
	}
	return all
}
