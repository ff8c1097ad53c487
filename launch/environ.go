package launch

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mpitx/agent/agentconfig"
	"mpitx/machine"
	"mpitx/machine/qmpi"
	"mpitx/settings"
)

// One environment variable configures the agent, another preloads it. Both are set for the application only: the agent
// removes itself from LD_PRELOAD in an MPI process.
const (
	agentVariable   = agentconfig.Variable
	preloadVariable = "LD_PRELOAD"
)

// sanitizerOptions let programs with a sanitizer run with the agent. The address sanitizer ends a program if another
// library was loaded first. The thread sanitizer does not see the agent's locks and reports data races.
var sanitizerOptions = map[string]string{
	"ASAN_OPTIONS": "verify_asan_link_order=false",
	"TSAN_OPTIONS": "ignore_noninstrumented_modules=true",
}

// agentSettings is the value of MPITX_AGENT: lines of key=value. seen is the key and the file for processes that are not
// recorded; "" if there is none.
func agentSettings(c *Config, x *application, job *runDir, seen Ask) string {
	all := append([]Ask{{"dir", job.dir}, {"run_id", hex.EncodeToString(job.id[:])}, {"job_start_ns", strconv.FormatInt(job.startNs, 10)}}, c.Tool...)
	all = append(all, Ask{"where", "on"})
	for _, s := range c.Set {
		all = append(all, Ask{"set", s.Name + "=" + s.Value})
	}
	for _, s := range c.SetAfter {
		all = append(all, Ask{"set_after", s.Name + "=" + s.Value})
	}
	if x.qmpi != "" {
		for _, s := range qmpi.Settings(x.qmpi, c.Tools) {
			all = append(all, Ask{s[0], s[1]})
		}
	}
	for _, s := range []Ask{{"library", x.library}, {"unfit", x.unfit}, seen} {
		if s.Value != "" {
			all = append(all, s)
		}
	}
	var b strings.Builder
	for _, s := range append(all, Ask{"program", strings.Join(x.argv, " ")}) {
		b.WriteString(agentconfig.Line(s.Key, s.Value))
	}
	return b.String()
}

// environ is the application's environment: the current one, the settings of control variables, and the agent after
// everything that is preloaded already.
func environ(c *Config, x *application, job *runDir, seen Ask) ([]string, error) {
	change := map[string]string{agentVariable: agentSettings(c, x, job, seen)}
	for _, s := range c.Set {
		name, err := settings.Variable(x.mpi.Impl, s.Name)
		if err != nil {
			return nil, err
		}
		change[name] = s.Value
	}
	for _, s := range c.Environ {
		name, value, _ := strings.Cut(s, "=")
		change[name] = value
	}
	preload := []string{x.agent}
	if x.preload != "" {
		preload = append(preload, x.preload) // the loader uses it for the library of the same name that the program links
	}
	for k, path := range preload {
		if strings.ContainsAny(path, ": \t") {
			return nil, &machine.Error{What: "preload " + path, Why: "the loader accepts no path with spaces or colons",
				Do: []string{"install mpitx in another directory", "choose another library with --mpi"}[k]}
		}
	}
	if c.Native {
		tools, names, err := nativeTools(c, x)
		if err != nil {
			return nil, err
		}
		preload = append(preload, tools...)
		change[qmpi.ListVariable] = names
	}
	if already := c.Env.Getenv(preloadVariable); already != "" {
		preload = append([]string{already}, preload...)
	}
	change[preloadVariable] = strings.Join(preload, ":")
	if x.Sanitized || x.Linked == nil { // a program that mpitx could not read may be sanitized
		for name, option := range sanitizerOptions {
			change[name] = strings.TrimPrefix(c.Env.Getenv(name)+":"+option, ":")
		}
	}
	environ := slices.DeleteFunc(slices.Clone(c.Env.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, ours := change[name]
		return ours || c.Job != "" && (name == "MPITX_MPI" || kv == qmpi.Variable+"=") // for this process, from the one that started the launcher
	})
	for _, name := range slices.Sorted(maps.Keys(change)) {
		environ = append(environ, name+"="+change[name])
	}
	return environ, nil
}
