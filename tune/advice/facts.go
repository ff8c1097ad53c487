package advice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/recording/algorithm"
	"mpitx/recording/finding"
	"mpitx/recording/paths"
	"mpitx/recording/profile"
	"mpitx/settings"
	"mpitx/settings/tuning"
	"mpitx/text"
)

// fact is something that a run shows.
type fact struct {
	name    string
	subject string            // what it is about, if a run shows several of its kind: "MPI_Allreduce"
	part    float64           // of the run's time, or of its messages
	share   float64           // of the run's time that it is about
	words   map[string]string // for the sentences of rules
	figures finding.Figures   // for programs
}

// facts are what the run shows, those with the largest part of the time first.
func (s *Subject) facts() (all []fact) {
	if !s.communicated() {
		return nil
	}
	all = append(all, s.collectives()...)
	all = append(all, s.messages()...)
	all = append(all, s.placement()...)
	all = append(all, s.machine()...)
	all = append(all, s.settings()...)
	if s.Unexpected > 0 {
		all = append(all, fact{name: "unexpected", part: s.Unexpected, share: s.inMessages(), words: map[string]string{"share": text.RoughPercent(s.Unexpected)}, figures: finding.Figures{"share_of_messages": s.Unexpected}})
	}
	for _, f := range s.Findings {
		if f.Kind == "late arrival" && slices.ContainsFunc(all, func(l fact) bool { return l.name == "late ranks" && strings.HasPrefix(f.Subject, l.subject) }) {
			continue
		}
		all = append(all, fact{name: findingFact + f.Kind, subject: f.Subject, part: f.Share, share: f.Share, words: map[string]string{"text": f.Text}, figures: f.Figures})
	}
	return all
}

// communicated reports whether ranks communicated: if they did not, no setting changes how long the program takes.
func (s *Subject) communicated() bool {
	t := &s.Profile.Total
	return t.MessagesSent+t.MessagesReceived+t.BytesOut+t.BytesIn > 0 ||
		slices.ContainsFunc(s.Profile.Functions, func(f *profile.Function) bool { return algorithm.Operation(f.Name) != "" })
}

// collectives are the blocking collective functions.
func (s *Subject) collectives() (all []fact) {
	p := s.Profile
	times, calls := map[string]time.Duration{}, map[string]uint64{}
	for _, f := range p.Functions {
		if op := algorithm.Operation(f.Name); f.Within == "" && op != "" && blocking(f.Name, op) {
			times[op] += f.Time
			calls[op] += f.Calls
		}
	}
	for _, op := range slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) }) {
		function, late := "MPI_"+strings.ToUpper(op[:1])+op[1:], inCollective(p, op, times[op], calls[op])
		if late.explains(times[op]) {
			all = append(all, s.lateFact(function, "collectives", fmt.Sprintf("Ranks waited %s of the time for others to come to %s, which took %s: %s", text.RoughPercent(p.Share(late.waited)), function,
				text.RoughPercent(p.Share(times[op])), cmp.Or(late.who, "different ranks came last")), late))
			continue
		}
		share := p.Share(times[op] - late.waited)
		f := fact{name: "collective", subject: function, part: share, share: share, figures: finding.Figures{"time_ns": float64(times[op]), "waited_ns": float64(late.waited)}}
		f.words = map[string]string{"function": f.subject, "operation": op, "OPERATION": strings.ToUpper(op), "share": text.RoughPercent(share),
			"size": "messages of unknown size", "ranks": "communicators of unknown size", "served": "which algorithm served it is unknown",
			"late": s.lateWords(late, "; a further %s is waiting for late ranks", "; how much of that is waiting for late ranks is unknown")}
		if a := mostTime(p, op); a != nil {
			f.words["size"] = sizeWords(a.Bucket)
			if a.Object != nil && a.Object.Size > 0 {
				f.words["ranks"] = text.Count(a.Object.Size, "rank")
				f.figures["ranks"] = float64(a.Object.Size)
			}
			if a.Known() {
				f.words["served"] = a.Text() + " served it"
			}
		}
		all = append(all, f)
	}
	return all
}

// blocking reports whether a function is the blocking form of its operation: other components serve the others.
func blocking(function, operation string) bool {
	return strings.TrimSuffix(strings.ToLower(function), "_c") == "mpi_"+operation
}

// mostTime is how most of the time of an operation was served; nil: unknown.
func mostTime(p *profile.Profile, operation string) (most *profile.Algorithm) {
	for _, a := range p.AlgorithmsOfSizes() {
		if blocking(a.Function, operation) && (most == nil || a.Time > most.Time) {
			most = a
		}
	}
	return most
}

func sizeWords(bucket int) string {
	from, to := profile.SizesOf(bucket)
	switch {
	case to == nil:
		return text.Amount(float64(from), "B") + " or more"
	case *to == 0:
		return "no data"
	}
	return text.Amount(float64(from), "B") + " to " + text.Amount(float64(*to), "B")
}

// inMessages is the part of the time in calls that send or receive messages between two ranks, or wait for them.
func (s *Subject) inMessages() (share float64) {
	for _, f := range s.Profile.Functions {
		name := strings.ToLower(f.Name)
		if f.Within == "" && (f.MessagesSent+f.MessagesReceived > 0 || strings.HasPrefix(name, "mpi_wait") || strings.HasPrefix(name, "mpi_probe")) {
			share += s.Profile.Share(f.Time)
		}
	}
	return share
}

// messages are facts about point-to-point messages.
func (s *Subject) messages() (all []fact) {
	p, took := s.Profile, s.inMessages()
	var count, large uint64
	for _, sizes := range p.Sizes {
		if !sizes.Received {
			count += sizes.Count()
		}
	}
	if count == 0 {
		return nil
	}
	late := inReceives(p)
	if part := p.Share(late.waited); 2*part > took {
		return []fact{s.lateFact("", "messages", fmt.Sprintf("Ranks waited at least %s of the time for messages of ranks that were outside of MPI, %s", text.RoughPercent(part), late.who), late)}
	}
	share := took - p.Share(late.waited)
	lateWords := s.lateWords(late, "; at least a further %s is waiting for ranks outside of MPI", "; how much of the time is waiting for late senders is unknown")
	all = append(all, fact{name: "messages", part: share, share: share, words: map[string]string{"share": text.RoughPercent(share), "late": lateWords}, figures: finding.Figures{"messages": float64(count)}})
	limits := map[uint64]string{}
	for _, path := range p.Paths {
		for _, c := range path.Carriers {
			if c.Limit > 0 && path.Messages > 0 {
				limits[c.Limit] = c.Transport
			}
		}
	}
	if len(limits) != 1 { // which messages are above it is unknown
		return all
	}
	for limit, transport := range limits {
		for _, sizes := range p.Sizes {
			for k, n := range sizes.Messages {
				if from, _ := profile.SizesOf(k); !sizes.Received && from >= limit {
					large += n
				}
			}
		}
		part := float64(large) / float64(count)
		all = append(all, fact{name: "large messages", part: part, share: share, figures: finding.Figures{"share_of_messages": part, "limit_bytes": float64(limit)},
			words: map[string]string{"share": text.RoughPercent(part), "limit": text.Amount(float64(limit), "B"), "transport": transport, "late": lateWords}})
		if fragmented(p, large) {
			all = append(all, fact{name: "fragments", part: 1, share: share})
		}
	}
	return all
}

// fragmented reports whether long messages travel in fragments: single copies from process to process carried too few of them.
func fragmented(p *profile.Profile, large uint64) bool {
	var bytes uint64
	var copies paths.Copies
	for _, path := range p.Paths {
		if shared := path.OneNode && path.A != path.B && !slices.ContainsFunc(path.Carriers, func(c paths.Carrier) bool { return c.Transport == "tcp" }); shared && path.Messages > 0 && !path.CopiesFollowed {
			return false // not known
		}
		bytes += path.Bytes
		copies.Calls, copies.Bytes = copies.Calls+path.Copies.Calls, copies.Bytes+path.Copies.Bytes
	}
	return copies.Calls < large && (bytes == 0 || copies.Bytes < bytes)
}

// machine are facts about where the ranks ran.
func (s *Subject) machine() (all []fact) {
	hosts := map[string]bool{}
	for _, r := range s.Profile.Run.Ranks {
		hosts[r.Host] = true
	}
	add := func(name string, is bool) {
		if is {
			all = append(all, fact{name: name, part: 1, share: s.Profile.Share(s.Profile.InMPI())})
		}
	}
	short, shared, bound, known, spare := false, false, false, s.Profile.Processor != nil, true
	if known {
		groups := map[string]int{}
		for k := range s.Profile.Processor.Groups {
			g := &s.Profile.Processor.Groups[k]
			short, spare, shared = short || g.Short(), spare && g.Cores > len(g.Ranks), shared || len(g.Ranks) > 1
			groups[g.Host]++
			bound = bound || groups[g.Host] > 1
		}
	}
	add("shared memory", slices.ContainsFunc(s.Profile.Paths, inSharedMemory))
	add("one node", len(hosts) == 1)
	add("several nodes", len(hosts) > 1)
	add("several NUMA nodes", s.NUMANodes > 1)
	add("two ranks", len(s.Profile.Ranks) == 2)
	add("more ranks than cores", short)
	add("cores for all", known && !short)
	add("spare cores", known && spare)
	add("shared cores", shared)
	add("bound ranks", bound)
	return all
}

// inSharedMemory reports whether ranks of one node reach each other by their memory.
func inSharedMemory(p *paths.Path) bool {
	return p.A != p.B && slices.ContainsFunc(p.Carriers, func(c paths.Carrier) bool {
		return slices.Contains([]string{"vader", "sm", "sysv", "posix", "cma", "xpmem", "knem"}, c.Transport)
	})
}

// isDefault reports whether a variable was set to the value that it has without a setting.
func (s *Subject) isDefault(v *catalog.Variable) bool {
	if s.Default == nil || v.Current() == nil {
		return false
	}
	value, known := s.Default(v.Name)
	parsed, err := catalog.ParseValue(v, settings.Enums(s.Judge.Impl, s.Catalog)(v), max(v.Current().Count, 1), value)
	return known && err == nil && parsed.String() == v.Current().Value.String()
}

// tuned reports whether an environment variable of UCX is one that people tune, or a rule tries.
func (s *Subject) tuned(name string) bool {
	if settings.Reader(name) != "UCX" || !s.Judge.Knowledge.Reads(s.Catalog, name) {
		return false
	}
	for _, g := range s.Judge.Knowledge.Essentials(s.Catalog) {
		if slices.ContainsFunc(g.Environment, func(e tuning.EnvironmentVariable) bool { return e.Name == name }) {
			return true
		}
	}
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return slices.ContainsFunc(r.Tries, func(t Try) bool { return t.Name == name }) })
}

// settings are the settings of communication that somebody made.
func (s *Subject) settings() (all []fact) {
	if s.Catalog == nil {
		return nil
	}
	share := s.Profile.Share(s.Profile.InMPI())
	add := func(name string, o *catalog.Origin) {
		all = append(all, fact{name: "setting", subject: name, part: share, share: share,
			words: map[string]string{"variable": name, "value": o.Value, "where": strings.TrimSpace(string(o.Kind) + " " + o.Where)}})
	}
	for k := range s.Catalog.Outside {
		if o := &s.Catalog.Outside[k]; s.tuned(o.Name) && s.outside(o.Name).usual != o.Origin.Value {
			add(o.Name, &o.Origin)
		}
	}
	for k := range s.Catalog.Cvars {
		v := &s.Catalog.Cvars[k]
		if v.Origin == nil || !s.communicates(v) || s.isDefault(v) {
			continue
		}
		if v.Origin.Kind == catalog.OriginFile && strings.HasPrefix(v.Origin.Value, "^") {
			continue // distributions leave out components whose networks a machine may lack: without that, MPI_Init warns of them
		}
		add(v.Name, v.Origin)
	}
	return all
}
