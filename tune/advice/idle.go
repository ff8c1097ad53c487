package advice

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"mpitx/machine"
	"mpitx/recording/paths"
	"mpitx/settings"
	"mpitx/settings/decision"
	"mpitx/settings/tuning"
)

const changesNothing = " would change nothing: "

// Idle says why the first of some settings that cannot change what the run did cannot; "" if all may.
func (s *Subject) Idle(set []settings.NameValue) string {
	for _, n := range set {
		if why := s.idle(n); why != "" {
			return why
		}
	}
	return ""
}

// idle says why a setting cannot change what the run did; "" if it may.
func (s *Subject) idle(n settings.NameValue) string {
	lower := strings.ToLower(n.Name)
	switch operation, ok := strings.CutPrefix(lower, "coll_tuned_"); {
	case settings.Reader(n.Name) == "UCX" && !s.Judge.Knowledge.Reads(s.Catalog, n.Name):
		if why := tuning.NotInUse(s.Catalog, "UCX"); why != "" {
			return why
		}
		return "the library does not use UCX here"
	case ok && strings.Contains(operation, "_algorithm"):
		operation, _, _ = strings.Cut(operation, "_algorithm")
		return s.ruledByFile(operation)
	case strings.HasPrefix(lower, "btl_") && s.Family == machine.OpenMPI:
		return s.carriesNothing(lower)
	case s.Family == machine.MPICH && strings.HasSuffix(lower, "_intra_algorithm"):
		return s.sameAsServed(strings.TrimSuffix(strings.TrimPrefix(lower, "mpir_cvar_"), "_intra_algorithm"), n)
	}
	return ""
}

// ruledByFile says that a file of rules, which goes before the algorithm that is set, serves an operation for all sizes of messages.
func (s *Subject) ruledByFile(operation string) string {
	l := decision.LibraryOf(s.Catalog)
	file := Value(s.Catalog, "coll_tuned_dynamic_rules_filename")
	if l.Family != "openmpi" || l.Version == "" || l.ForcedFirst() || file == "" || Value(s.Catalog, "coll_tuned_use_dynamic_rules") != "true" || s.Judge.Elsewhere {
		return ""
	}
	info, err := os.Stat(s.Judge.Env.File(file))
	if err != nil || !info.Mode().IsRegular() || info.Size() > decision.MaxSize {
		return ""
	}
	data, err := os.ReadFile(s.Judge.Env.File(file))
	if err != nil {
		return ""
	}
	table, err := decision.Read(data, l)
	if err != nil || table.Rejected() {
		return ""
	}
	ranks := []int{len(s.Profile.Ranks)}
	for _, a := range s.Profile.AlgorithmsOfSizes() {
		if a.Object != nil && a.Object.Size > 1 && blocking(a.Function, operation) {
			ranks = append(ranks, a.Object.Size)
		}
	}
	for _, n := range ranks {
		for bytes := int64(0); bytes < 1<<40; bytes = max(2*bytes, 1) {
			if r := table.Serve(decision.Call{Function: decision.Function(operation), Ranks: n, Bytes: bytes}).Rule; r == nil || r.Number == 0 {
				return ""
			}
		}
	}
	return fmt.Sprintf("the rules of %s serve %s, and go before it (coll_tuned_dynamic_rules_filename)", file, decision.Function(operation))
}

// carriesNothing says that the ranks do not reach each other by the component of a variable of btl.
func (s *Subject) carriesNothing(variable string) string {
	component, _, _ := strings.Cut(strings.TrimPrefix(variable, "btl_"), "_")
	var used []string
	for _, p := range s.Profile.Paths {
		if p.A == p.B {
			continue
		}
		if len(p.Carriers) == 0 {
			return ""
		}
		for _, c := range p.Carriers {
			if c.Layer != paths.BTL && c.Layer != paths.UCX && c.Layer != paths.MTL {
				return ""
			}
			if words := strings.TrimPrefix(string(c.Layer)+" ", "BTL ") + c.Transport; !slices.Contains(used, words) {
				used = append(used, words)
			}
		}
	}
	if len(used) == 0 || slices.Contains(used, component) || !s.hasComponent("btl", component) {
		return ""
	}
	return "no rank reaches another one by " + component + ", but by " + strings.Join(used, ", ")
}

// sameAsServed says that a forced algorithm is the one that MPICH's compositions already use: these serve the call all the same, and ask the
// variable for their parts only, on communicators on which smp falls back to the usual choice.
func (s *Subject) sameAsServed(operation string, n settings.NameValue) string {
	now := strings.ToLower(s.Now(n.Name))
	if now != "auto" && now != "smp" {
		return ""
	}
	served := ""
	for _, a := range s.Profile.AlgorithmsOfSizes() {
		if !blocking(a.Function, operation) {
			continue
		}
		words := a.Text()
		if !strings.HasPrefix(words, "composition: ") || a.More || served != "" && served != words {
			return ""
		}
		served = words
	}
	if served == "" {
		return ""
	}
	value := strings.ToLower(n.Value)
	own := operation + " "
	for part := range strings.SplitSeq(strings.TrimPrefix(served, "composition: "), " → ") {
		if algorithm, of := strings.CutPrefix(part, own); of && value != "smp" && algorithm != value {
			return ""
		}
	}
	if value != "smp" && !strings.Contains(served, own+value) {
		return ""
	}
	return served + " serves the calls with it, too"
}
