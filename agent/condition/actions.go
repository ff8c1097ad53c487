package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// Actions are what happens when a condition becomes true.
type Actions struct {
	Count     bool   // record no events, unless another action needs them
	Backtrace bool   // record the call stack
	Sample    bool   // sample the run's variables
	Pcontrol  *int   // a level of MPI_Pcontrol, for mpitx
	Stop      Signal // sent to the process; 0: none
}

// Signal is a signal's number on Linux.
type Signal int

// Those that a program may be stopped with.
var signals = map[string]Signal{
	"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGTRAP": 5, "SIGABRT": 6, "SIGKILL": 9, "SIGUSR1": 10, "SIGUSR2": 12, "SIGTERM": 15, "SIGCONT": 18,
	"SIGSTOP": 19, "SIGTSTP": 20, "SIGTTIN": 21,
}

// ActionNames are the words of --then.
var ActionNames = []string{"backtrace", "count", "sample", "pcontrol=LEVEL", "stop=SIGNAL"}

// ParseActions reads the words of --then, separated by commas.
func ParseActions(text string) (Actions, error) {
	var a Actions
	for one := range strings.SplitSeq(text, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(one), "=")
		switch {
		case name == "pcontrol" && has:
			level, err := strconv.Atoi(value)
			if err != nil || level < 0 || level > 999 {
				return a, fmt.Errorf("%s: the level is a number from 0 to 999, such as pcontrol=0", one)
			}
			a.Pcontrol = &level
		case name == "stop" && has:
			sig := "SIG" + strings.TrimPrefix(strings.ToUpper(value), "SIG")
			if a.Stop = signals[sig]; a.Stop == 0 {
				return a, fmt.Errorf("%s: unknown signal%s; use a name such as SIGSTOP or SIGABRT", one, catalog.DidYouMean(signalNames(), sig))
			}
		case name == "pcontrol" || name == "stop":
			return a, fmt.Errorf("%s: the value is missing; use pcontrol=LEVEL or stop=SIGNAL", one)
		case has || !slices.Contains(ActionNames, name):
			return a, fmt.Errorf("%q: unknown action; use %s%s", one, strings.Join(ActionNames, ", "), catalog.DidYouMean(ActionNames, name))
		default:
			a.Count = a.Count || name == "count"
			a.Backtrace = a.Backtrace || name == "backtrace"
			a.Sample = a.Sample || name == "sample"
		}
	}
	return a, nil
}

func signalNames() (names []string) {
	for n := range signals {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// words are the actions for the agent.
func (a *Actions) words() (words []string) {
	if a.Backtrace {
		words = append(words, "backtrace")
	}
	if a.Backtrace || !a.Count {
		words = append(words, "event")
	}
	if a.Sample {
		words = append(words, "sample")
	}
	if a.Pcontrol != nil {
		words = append(words, "pcontrol="+strconv.Itoa(*a.Pcontrol))
	}
	if a.Stop != 0 {
		words = append(words, "stop="+strconv.Itoa(int(a.Stop)))
	}
	return words
}
