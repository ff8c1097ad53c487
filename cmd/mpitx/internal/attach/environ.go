package attach

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/origin"
)

// The agent is told what to do by one environment variable, and comes in by another. Both are for the exec of the
// application alone: the agent takes itself out of LD_PRELOAD once it is in an MPI process.
const (
	agentVariable   = "MPITX_AGENT"
	preloadVariable = "LD_PRELOAD"
)

// sanitizerOptions let programs with a sanitizer's runtime start with the agent. The address sanitizer's ends a program if another
// library was loaded before it. The thread sanitizer's cannot see the agent's locks, and takes its memory for a data race.
var sanitizerOptions = map[string]string{
	"ASAN_OPTIONS": "verify_asan_link_order=false",
	"TSAN_OPTIONS": "ignore_noninstrumented_modules=true",
}

// settings is the text of MPITX_AGENT: lines of key=value. seen is the file for processes that are not recorded; "": none.
func settings(c *Config, x *application, job *runDir, seen string) string {
	all := append([]Setting{{"dir", job.dir}, {"run_id", hex.EncodeToString(job.id[:])}, {"job_start_ns", strconv.FormatInt(job.startNs, 10)}}, c.Tool...)
	for _, s := range c.Set {
		all = append(all, Setting{"set", s.Name + "=" + s.Value})
	}
	for _, s := range c.SetAfter {
		all = append(all, Setting{"set_after", s.Name + "=" + s.Value})
	}
	for _, s := range []Setting{{"library", x.library}, {"unfit", x.unfit}, {"seen", seen}} {
		if s.Value != "" {
			all = append(all, s)
		}
	}
	var b strings.Builder
	for _, s := range append(all, Setting{"program", strings.Join(x.argv, " ")}) {
		b.WriteString(s.Name + "=" + escaper.Replace(s.Value) + "\n")
	}
	return b.String()
}

var escaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

// environ is the application's environment: what there is, the settings of control variables, the agent behind all that is
// preloaded already.
func environ(c *Config, x *application, job *runDir, seen string) ([]string, error) {
	change := map[string]string{agentVariable: settings(c, x, job, seen)}
	for _, s := range c.Set {
		name, err := origin.Variable(x.mpi.Impl, s.Name)
		if err != nil {
			return nil, err
		}
		change[name] = s.Value
	}
	preload := []string{x.agent}
	if x.preload != "" {
		preload = append(preload, x.preload) // the loader takes it for the one of the same name that the program links
	}
	for k, path := range preload {
		if strings.ContainsAny(path, ": \t") {
			return nil, &locate.Error{What: "preload " + path, Why: "the loader accepts no path with spaces or colons",
				Do: []string{"install mpitx in another directory", "choose another library with --mpi"}[k]}
		}
	}
	if already := c.Env.Getenv(preloadVariable); already != "" {
		preload = append([]string{already}, preload...)
	}
	change[preloadVariable] = strings.Join(preload, ":")
	if x.Sanitized || x.Linked == nil { // a program that was not seen may be
		for name, option := range sanitizerOptions {
			change[name] = strings.TrimPrefix(c.Env.Getenv(name)+":"+option, ":")
		}
	}
	environ := slices.DeleteFunc(slices.Clone(c.Env.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := change[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(change)) {
		environ = append(environ, name+"="+change[name])
	}
	return environ, nil
}
