package launch

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"mpitx/launch/jobwide"
	"mpitx/machine"
	"mpitx/machine/qmpi"
	"mpitx/recording"
	"mpitx/recording/runlist"
	"mpitx/settings"
)

// A run directory belongs to one job. All ranks must derive the same name, identifier and start time without
// communication. The process that creates the directory writes them to a file.

// RunFile is the name of that file.
const RunFile = runlist.JobFile

const (
	runPrefix  = "mpitx-run-"
	createTime = 5 * time.Second // the creator of a directory writes the file within this time
)

// runDir is the directory of a run, and the other facts that all processes of the job agree on.
type runDir struct {
	dir        string // absolute
	id         [16]byte
	startNs    int64  // CLOCK_REALTIME, the job's time 0
	nameSource string // what the name was derived from
	made       bool   // this process created it
	handle     *os.File

	settings map[string]string // see runRecord
	tools    []string          // likewise
}

// runRecord is the content of RunFile.
type runRecord struct {
	ID      string   `json:"run_id"`
	StartNs int64    `json:"start_ns"`
	Mpitx   string   `json:"mpitx"`
	Command []string `json:"command"`

	Environment map[string]string `json:"environment"` // the user's settings of MPI and what it builds on
	Tools       []string          `json:"tools,omitempty"`
}

// settingsIn are the variables of an environment that set MPI. Those that a launcher sets for its processes are left out.
func settingsIn(environ []string) map[string]string {
	set := map[string]string{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if settings.SetsMPI(name) && !machine.OwnedByLauncher(name, value) {
			set[name] = value
		}
	}
	return set
}

// Settings returns the environment variables that set MPI in a run; nil if they were not recorded.
func Settings(dir string) map[string]string { return readRecord(dir).Environment }

// Tools returns the QMPI tools of a run, outermost first.
func Tools(dir string) []string { return readRecord(dir).Tools }

// Unreadable is why RunFile cannot be read; nil also if there is none.
func Unreadable(dir string) error {
	_, err := recordOf(dir)
	return err
}

func readRecord(dir string) runRecord {
	r, _ := recordOf(dir)
	return r
}

func recordOf(dir string) (r runRecord, err error) {
	path := filepath.Join(dir, RunFile)
	st, err := os.Stat(path)
	var text []byte
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
	case !st.Mode().IsRegular():
		err = errors.New("it is not a file")
	case st.Size() > 1<<20:
		err = errors.New("it is too large")
	default:
		text, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		var own *fs.PathError
		if errors.As(err, &own) {
			err = own.Err
		}
		return runRecord{}, fmt.Errorf("%s cannot be read: %w", RunFile, err)
	}
	return r, nil
}

// jobKey identifies a launcher's job, the same in all its processes and different from every other job: on one node by
// the launcher's process, else by what the launcher passes to all processes. stamp is the readable part of the name;
// why says what identified the job.
func jobKey(e *machine.Env, l machine.Launch) (key, stamp, why string) {
	if oneNode(e, l) && l.PID != 0 {
		if ticks, start, ok := startTime(e, l.PID); ok {
			return fmt.Sprintf("process %d %s %s", l.PID, ticks, bootID(e)), start.Format("20060102-150405") + "-" + strconv.Itoa(l.PID),
				fmt.Sprintf("process %d of %s", l.PID, l.Command())
		}
	}
	var parts, names []string
	for _, set := range [][]string{
		{"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports"}, {"OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"},
		{"PALS_APID"}, {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_STEP_ID"}, {"PMI_JOBID"}, {"FAKEMPI_DIR"},
	} {
		for _, name := range set {
			if v := e.Getenv(name); v != "" {
				parts, names = append(parts, name+"="+v), append(names, "$"+name)
			}
		}
		if len(parts) > 0 {
			break
		}
	}
	if len(parts) == 0 { // Hydra: its helpers on all nodes have the same address to report to
		for _, p := range e.Ancestors(16) {
			if filepath.Base(p.Exe) != "hydra_pmi_proxy" {
				continue
			}
			words := e.Details(p).Cmdline
			if k := slices.Index(words, "--control-port"); k >= 0 && k+1 < len(words) {
				parts, names = []string{"hydra " + words[k+1]}, []string{"hydra_pmi_proxy --control-port"}
			}
			break
		}
	}
	if len(parts) == 0 {
		return "", "", ""
	}
	key = strings.Join(parts, "\n")
	sum := sha256.Sum256([]byte(key))
	return key, hex.EncodeToString(sum[:6]), strings.Join(names, " and ")
}

// Jobwide are the mpitx processes of this process's job on this machine.
func Jobwide(e *machine.Env) jobwide.Job {
	l := e.Launcher()
	j := jobwide.Job{Dir: e.CacheDir(), Rank: l.Rank, Size: max(0, l.LocalSize)}
	if j.Dir == "" {
		j.Dir = filepath.Join(os.TempDir(), "mpitx-"+strconv.Itoa(os.Getuid()))
	}
	if l.Rank >= 0 {
		j.Key, _, _ = jobKey(e, l)
	}
	return j
}

func oneNode(e *machine.Env, l machine.Launch) bool {
	if l.Name == "slurm" {
		return e.Getenv("SLURM_STEP_NUM_NODES") == "1"
	}
	return l.Rank < 0 || l.Size > 0 && l.LocalSize == l.Size
}

// startTime reads when a process was started: in the kernel's ticks, and as a time.
func startTime(e *machine.Env, pid int) (ticks string, at time.Time, ok bool) {
	fields := e.Stat(pid)
	if len(fields) < 20 {
		return "", at, false
	}
	n, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return "", at, false
	}
	const perSecond = 100 // USER_HZ of every Linux system
	stat, _ := os.ReadFile(e.File("/proc/stat"))
	_, rest, _ := strings.Cut(string(stat), "\nbtime ")
	word, _, _ := strings.Cut(rest, "\n")
	boot, _ := strconv.ParseInt(word, 10, 64)
	return fields[19], time.Unix(boot+n/perSecond, 0), true
}

func bootID(e *machine.Env) string {
	data, _ := os.ReadFile(e.File("/proc/sys/kernel/random/boot_id"))
	return strings.TrimSpace(string(data))
}

// openRunDir creates or joins the run directory of this job. dir is --dir; "" chooses a new name below $MPITX_DIR or here.
// given is the directory that mpitx -n passed to its ranks.
func openRunDir(e *machine.Env, l machine.Launch, dir, given, version string, tools ...qmpi.Tool) (*runDir, error) {
	j, err := findRunDir(e, l, dir, given, version, tools...)
	if err == nil {
		recording.Hold(j.dir, RunFile)
	}
	return j, err
}

func findRunDir(e *machine.Env, l machine.Launch, dir, given, version string, tools ...qmpi.Tool) (*runDir, error) {
	if given != "" {
		return parseJob(given)
	}
	j := &runDir{startNs: time.Now().UnixNano(), settings: settingsIn(e.Environ)}
	for _, t := range tools {
		j.tools = append(j.tools, t.Label())
	}
	stamp := ""
	if l.Rank >= 0 {
		var key string
		if key, stamp, j.nameSource = jobKey(e, l); key == "" && dir == "" {
			return nil, &machine.Error{What: "run directory", Why: "cannot derive a name from " + l.Command(), Do: "give one with --dir"}
		}
		if key == "" {
			key = "dir " + dir
		}
		sum := sha256.Sum256([]byte(key))
		copy(j.id[:], sum[:])
	} else {
		rand.Read(j.id[:])
		stamp = time.Now().Format("20060102-150405") + "-" + strconv.Itoa(e.PID)
	}
	if dir != "" {
		j.nameSource = ""
		if err := j.enter(dir, l.Rank >= 0, version); err != nil {
			return nil, err
		}
		return j, nil
	}
	bases := []string{e.Getenv("MPITX_DIR")}
	if bases[0] == "" {
		bases[0] = "."
		if oneNode(e, l) {
			bases = append(bases, os.TempDir()) // if nothing can be written here
		}
	}
	var err error
	for _, base := range bases {
		path := filepath.Join(base, runPrefix+stamp)
		err = j.enter(path, l.Rank >= 0, version)
		for k := 2; l.Rank < 0 && errors.Is(err, fs.ErrExist) && k < 100; k++ {
			err = j.enter(path+"-"+strconv.Itoa(k), false, version)
		}
		if err == nil {
			return j, nil
		}
		unwritable := []error{fs.ErrPermission, syscall.EROFS, syscall.ENOSPC, syscall.EDQUOT}
		if !slices.ContainsFunc(unwritable, func(why error) bool { return errors.Is(err, why) }) {
			break
		}
	}
	return nil, err
}

// dirError is why a run directory cannot be used; it wraps the cause.
type dirError struct {
	why   machine.Error
	cause error
}

func (d *dirError) Error() string { return d.why.Error() }

func (d *dirError) Unwrap() []error { return []error{&d.why, d.cause} }

func dirFailed(path string, cause error, do string) error {
	var pe *fs.PathError
	why := cause
	switch {
	case errors.Is(cause, fs.ErrExist):
		why = errors.New("it exists")
	case errors.As(cause, &pe):
		why = pe.Err
	}
	return &dirError{machine.Error{What: "run directory " + path, Why: why.Error(), Do: do}, cause}
}

// enter creates the directory; with shared, it joins a directory that another rank of the same job created.
func (j *runDir) enter(path string, shared bool, version string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return dirFailed(path, err, "give the whole path with --dir")
	}
	j.dir = abs
	err = os.Mkdir(abs, 0o700)
	if err == nil {
		j.made = true
		return j.writeRunFile(version)
	}
	if !errors.Is(err, fs.ErrExist) {
		return dirFailed(path, err, "choose a writable place with --dir or $MPITX_DIR")
	}
	st, statErr := os.Lstat(abs)
	switch {
	case statErr != nil:
		return dirFailed(path, statErr, "choose another with --dir")
	case !st.IsDir():
		return dirFailed(path, errors.New("it is not a directory"), "choose another with --dir")
	case !shared:
		return dirFailed(path, fs.ErrExist, "name a new directory with --dir")
	}
	for deadline := time.Now().Add(createTime); ; time.Sleep(10 * time.Millisecond) {
		switch err := j.join(); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrNotExist) && os.Mkdir(abs, 0o700) == nil: // rank 0 has already ended and removed it
			j.made = true
			return j.writeRunFile(version)
		case !errors.Is(err, fs.ErrNotExist) || time.Now().After(deadline):
			return dirFailed(path, errors.New("it exists, and this job did not make it"), "name a new directory with --dir")
		}
	}
}

// writeRunFile writes RunFile.
func (j *runDir) writeRunFile(version string) error {
	command := append([]string{filepath.Base(os.Args[0])}, os.Args[1:]...)
	text, _ := json.Marshal(runRecord{ID: hex.EncodeToString(j.id[:]), StartNs: j.startNs, Mpitx: version, Command: command, Environment: j.settings, Tools: j.tools})
	temp := filepath.Join(j.dir, ".job")
	err := os.WriteFile(temp, append(text, '\n'), 0o600)
	if err == nil {
		err = os.Rename(temp, filepath.Join(j.dir, RunFile))
	}
	if err != nil {
		os.Remove(temp)
		os.Remove(j.dir) // the next attempt needs the name
		return dirFailed(j.dir, err, "choose another place with --dir or $MPITX_DIR")
	}
	return nil
}

var errOtherJob = errors.New("of another job")

func (j *runDir) join() error {
	path := filepath.Join(j.dir, RunFile)
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return errOtherJob
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var r runRecord
	if json.Unmarshal(text, &r) != nil || r.ID != hex.EncodeToString(j.id[:]) || time.Since(st.ModTime()) > 10*time.Minute {
		return errOtherJob
	}
	j.startNs = r.StartNs
	return nil
}

// named says what the directory's name was derived from.
func (j *runDir) named() string {
	if j.nameSource == "" {
		return ""
	}
	return " (named after " + j.nameSource + ")"
}

// hold opens the directory, to distinguish a removed directory from a moved one.
func (j *runDir) hold() { j.handle, _ = os.Open(j.dir) }

// removed reports whether the directory was removed after hold.
func (j *runDir) removed() bool {
	if j.handle == nil {
		return false
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(j.handle.Fd())))
	return err == nil && strings.HasSuffix(path, " (deleted)")
}

// String is the form that parseJob reads.
func (j *runDir) String() string {
	return fmt.Sprintf("%x,%d,%s", j.id, j.startNs, j.dir)
}

func parseJob(s string) (*runDir, error) {
	j := &runDir{nameSource: "mpitx -n"}
	id, rest, _ := strings.Cut(s, ",")
	start, dir, _ := strings.Cut(rest, ",")
	data, err := hex.DecodeString(id)
	var number error
	j.startNs, number = strconv.ParseInt(start, 10, 64)
	if err != nil || number != nil || len(data) != len(j.id) || !filepath.IsAbs(dir) {
		return nil, &machine.Error{What: "--job", Why: "this flag is internal, for the processes that mpitx -n starts", Usage: true}
	}
	copy(j.id[:], data)
	j.dir = dir
	return j, nil
}

// shown is the directory's name for messages, without the path if it is in the current directory.
func (j *runDir) shown() string {
	if here, err := os.Getwd(); err == nil && filepath.Dir(j.dir) == here {
		return filepath.Base(j.dir)
	}
	return j.dir
}

const claimsFile = "claims" // the process of each rank that the agents record

// discard removes an empty run directory of this job, whichever rank created it.
func (j *runDir) discard() {
	if !j.made && j.join() != nil {
		return
	}
	j.dropCopy()
	os.Remove(seenPath(j.dir))
	entries, err := os.ReadDir(j.dir)
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != RunFile && e.Name() != claimsFile && !strings.HasPrefix(e.Name(), recording.StartedPrefix)
	}) {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), recording.StartedPrefix) {
			os.Remove(filepath.Join(j.dir, e.Name()))
		}
	}
	os.Remove(filepath.Join(j.dir, claimsFile))
	os.Remove(filepath.Join(j.dir, RunFile))
	os.Remove(j.dir)
}

// dropCopy removes the agent's copy.
func (j *runDir) dropCopy() {
	entries, _ := os.ReadDir(j.dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "mpitx-agent-") {
			os.Remove(filepath.Join(j.dir, e.Name()))
		}
	}
}
