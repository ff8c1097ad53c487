package main

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mpitx/cmd/mpitx/internal/locate"
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

// agentSettings are what the agent is told.
type agentSettings struct {
	job           *runJob
	pvars         []string
	interval      time.Duration
	duration      time.Duration
	count         int
	maxSize       int64
	policy        string
	set, setAfter []setting
	probe         string // when variables are tried in a child process; "": in MPI_Init
	program       string
	library       string // the agent shows the functions of this one and no others
	unfit         string // or why it shows all that it has
	preload       string // a library that the program gets in place of the one that the loader would find; "": none
	seen          string // the file for processes that are not recorded; "": none
	sanitized     bool   // by address or thread, or perhaps
}

// setting is a control variable with the value that it is to have.
type setting struct{ name, value string }

// String is the text of MPITX_AGENT: lines of key=value.
func (s *agentSettings) String() string {
	var b strings.Builder
	line := func(key, value string) {
		b.WriteString(key + "=" + agentEscaper.Replace(value) + "\n")
	}
	line("dir", s.job.dir)
	line("run_id", hex.EncodeToString(s.job.id[:]))
	line("job_start_ns", strconv.FormatInt(s.job.startNs, 10))
	line("interval_ns", strconv.FormatInt(int64(s.interval), 10))
	if s.duration > 0 {
		line("duration_ns", strconv.FormatInt(int64(s.duration), 10))
	}
	if s.count > 0 {
		line("count", strconv.Itoa(s.count))
	}
	if s.maxSize > 0 {
		line("max_size", strconv.FormatInt(s.maxSize, 10))
		line("policy", s.policy)
	}
	for _, p := range s.pvars {
		line("pvar", p)
	}
	for _, v := range s.set {
		line("set", v.name+"="+v.value)
	}
	for _, v := range s.setAfter {
		line("set_after", v.name+"="+v.value)
	}
	if s.probe != "" {
		line("probe", s.probe)
	}
	if s.library != "" {
		line("library", s.library)
	}
	if s.unfit != "" {
		line("unfit", s.unfit)
	}
	if s.seen != "" {
		line("seen", s.seen)
	}
	line("program", s.program)
	return b.String()
}

var agentEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

// environWith is the application's environment: what there is, the settings of --set, the agent behind all that is
// preloaded already.
func (s *agentSettings) environWith(e *locate.Env, impl, agent string) ([]string, error) {
	change := map[string]string{agentVariable: s.String()}
	for _, v := range s.set {
		name, err := settingVariable(impl, v.name)
		if err != nil {
			return nil, err
		}
		change[name] = v.value
	}
	if strings.ContainsAny(agent, ": \t") {
		return nil, failf("preload %s: the loader takes no path with spaces or colons; put mpitx elsewhere", agent)
	}
	if s.preload != "" {
		if strings.ContainsAny(s.preload, ": \t") {
			return nil, failf("preload %s: the loader takes no path with spaces or colons; choose another library with --mpi", s.preload)
		}
		agent += ":" + s.preload // the loader takes it for the one of the same name that the program links
	}
	change[preloadVariable] = agent
	if already := e.Getenv(preloadVariable); already != "" {
		change[preloadVariable] = already + ":" + agent
	}
	if s.sanitized {
		for name, option := range sanitizerOptions {
			change[name] = strings.TrimPrefix(e.Getenv(name)+":"+option, ":")
		}
	}
	var environ []string
	for _, kv := range e.Environ {
		name, _, _ := strings.Cut(kv, "=")
		if _, ours := change[name]; !ours {
			environ = append(environ, kv)
		}
	}
	for _, name := range sortedKeys(change) {
		environ = append(environ, name+"="+change[name])
	}
	return environ, nil
}

// settingVariable is the environment variable that sets a control variable before MPI_Init.
func settingVariable(impl, cvar string) (string, error) {
	switch {
	case impl == locate.OpenMPI:
		return "OMPI_MCA_" + cvar, nil
	case impl == locate.MPICH && strings.HasPrefix(cvar, "MPIR_CVAR_"):
		return cvar, nil
	case impl == locate.MPICH:
		return "", usagef("--set %s: %s takes settings from the environment for variables named MPIR_CVAR_… only; try --set-after", cvar, locate.FamilyName(impl))
	}
	return "", usagef("--set %s: how this MPI takes settings from the environment is not known; try --set-after", cvar)
}

func parseSettings(flag string, args []string) ([]setting, error) {
	var out []setting
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \n\x00") || strings.ContainsRune(value, 0) {
			return nil, usagef("%s: %q: must be CVAR=VALUE", flag, arg)
		}
		out = append(out, setting{name, value})
	}
	return out, nil
}

// parseSize reads 500M, 2G, 64KiB; units are powers of 1024.
func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "KMGTiBkmgtb")
	unit := strings.ToUpper(strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(s[len(digits):]), "B"), "I"))
	n, err := strconv.ParseFloat(digits, 64)
	shift := map[string]uint{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	k, ok := shift[unit]
	if err != nil || !ok || !(n > 0) || n*float64(uint64(1)<<k) > 1<<60 {
		return 0, fmt.Errorf("%q: must be a size such as 500M or 2G", s)
	}
	return int64(n * float64(uint64(1)<<k)), nil
}
