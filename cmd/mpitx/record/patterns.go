package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/inspect"
	"mpitx/launch"
	"mpitx/machine"
	"mpitx/settings"
)

// lookUpLimit limits the time for reading a library's names, because the application's start waits for it.
const lookUpLimit = 15 * time.Second

// patternCheck are the patterns of a flag, and what the library has of the kind that they choose.
type patternCheck struct {
	list    string                                               // the kind in mpitx list
	known   []string                                             // names from the library's last reading, and those that need no library
	missing func(names []string) []string                        // the patterns that match none of the names
	why     func(p string, names []string) (text, advice string) // about a missing one
}

// patterns are those of one flag.
type patterns struct {
	r      *recorder
	flag   string // such as --pvar
	all    []string
	words  []string        // suggested together with names
	warned map[string]bool // patterns that the user was warned of
}

// refuseUnmatched refuses patterns that cannot match. The library's names are known from its last reading, before and
// after MPI_Init. Missing names are looked up again with the application's settings.
// If the library cannot be read alone, nothing is refused.
func (s *patterns) refuseUnmatched(m machine.MPI, first bool, w patternCheck) error {
	missing := w.missing(w.known)
	if len(missing) == 0 || s.r.force && !first {
		return nil
	}
	names, ok := s.lookUp(m, w.list)
	if !ok {
		if first && len(inspect.CachedNames(s.r.Env, m)) > 0 {
			for _, p := range missing {
				s.warnBefore(p, "did not exist when the library was last read"+catalog.DidYouMean(w.known, globOf(p)))
			}
		}
		return nil
	}
	known := slices.Concat(w.known, names)
	for _, p := range w.missing(known) {
		text, advice := w.why(p, known)
		if err := s.refuse(p, text, advice); err != nil {
			return err
		}
	}
	return nil
}

// refusePvars refuses patterns of performance variables that cannot match.
func (s *patterns) refusePvars(m machine.MPI, first bool) error {
	if len(s.all) == 0 || s.r.force && !first {
		return nil
	}
	if err := s.unmatchedOwn(m); err != nil {
		return err
	}
	return s.refuseUnmatched(m, first, patternCheck{
		list:    "pvars",
		known:   settings.PvarNames(inspect.CachedNames(s.r.Env, m)),
		missing: func(names []string) []string { return s.missing(m, slices.Concat(names, s.words)) },
		why: func(p string, names []string) (text, advice string) {
			return m.Name() + " has no such performance variable", settings.HowToGet(m, globOf(p), s.r.given, catalog.DidYouMean(slices.Concat(names, s.words), globOf(p)))
		},
	})
}

// unmatchedOwn refuses patterns for mpitx's own variables that do not exist. These variables are the same with any MPI.
// Only the agent knows functions that a single MPI has.
func (s *patterns) unmatchedOwn(m machine.MPI) error {
	for _, p := range s.all {
		glob, _ := catalog.SplitClass(globOf(p))
		_, function, share := strings.Cut(glob, "/")
		if !strings.HasPrefix(glob, virtual.Prefix) || strings.HasPrefix(strings.ToLower(function), "mpix_") {
			continue
		}
		var names []string
		for _, v := range append(virtual.Matching(true, virtual.Prefix+"*/*"), virtual.NamedLike(glob)...) {
			if strings.Contains(v.Name, "/") == share {
				names = append(names, v.Name)
			}
		}
		if catalog.MatchesAny(glob, names) {
			continue
		}
		if err := s.refuse(p, "mpitx has no such variable", settings.HowToGet(m, glob, s.r.given, catalog.DidYouMean(names, glob))); err != nil {
			return err
		}
	}
	return nil
}

// refuse returns the error for a pattern; with --force it warns instead.
func (s *patterns) refuse(p, why, advice string) error {
	switch {
	case s.r.force:
		s.warnBefore(p, why+advice)
		return nil
	case strings.HasSuffix(why+advice, "?"):
		return cli.Failf("%s %s: %s%s (--force starts anyway)", s.flag, p, why, advice)
	}
	return cli.Failf("%s %s: %s%s; use --force to start anyway", s.flag, p, why, advice)
}

// warnBefore warns of a pattern before the run; it is not reported again at the end.
func (s *patterns) warnBefore(p, why string) {
	if s.warned == nil {
		s.warned = map[string]bool{}
	}
	s.warned[p] = true
	s.r.Complain("warning: %s %s: %s", s.flag, p, why)
}

// missing are the patterns that match none of the names, and no variable that comes later.
func (s *patterns) missing(m machine.MPI, names []string) []string {
	var all []string
	for _, p := range s.all {
		glob := globOf(p)
		name, _ := catalog.SplitClass(glob) // names are listed with and without their class
		if !strings.HasPrefix(glob, virtual.Prefix) && !catalog.MatchesAny(glob, names) && !catalog.MatchesAny(name, names) && !settings.ComesLate(m, glob) {
			all = append(all, p)
		}
	}
	return all
}

// lookUp reads the names of the library's variables or events, once for all ranks of a job on this machine. ok is false if they
// cannot be read.
func (s *patterns) lookUp(m machine.MPI, list string) (names []string, ok bool) {
	const failed = "."
	text := launch.Jobwide(s.r.Env).Find(fmt.Sprint("names ", list, m.Lib, s.r.set), func() []byte {
		names, err := s.readNames(m, list)
		if err != nil {
			return []byte(failed)
		}
		return []byte(strings.Join(names, "\n"))
	})
	return strings.Fields(string(text)), string(text) != failed
}

// readNames reads them outside the job, in processes of their own.
func (s *patterns) readNames(m machine.MPI, list string) ([]string, error) {
	o, err := s.r.Collecting(m, lookUpLimit)
	if err != nil {
		return nil, err
	}
	o.Launch, o.Environ = machine.Launch{Rank: -1}, slices.Concat(s.r.Env.FreeOfLauncher(), settings.Environ(m.Impl, s.r.set))
	kind, _ := catalog.ParseKind(list)
	return inspect.Names(s.r.Env, o, kind)
}

// globOf is a pattern without its communicator.
func globOf(pattern string) string {
	if k := strings.LastIndexByte(pattern, '@'); k >= 0 {
		return pattern[:k]
	}
	return pattern
}
