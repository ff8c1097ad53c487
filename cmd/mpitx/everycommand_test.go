//go:build cgo && linux

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
	"mpitx/recording/recordingtest"
)

// everyCommand checks that a table has a line for each command of mpitx, so that new ones are not forgotten.
func everyCommand(t *testing.T, has func(name string) bool) {
	t.Helper()
	for _, c := range newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}}).Commands() {
		if !has(c.Name()) {
			t.Errorf("mpitx %s: add a line for it to the table of %s", c.Name(), t.Name())
		}
	}
}

// shell runs a line of sh in a directory.
func shell(t *testing.T, dir string, environ []string, line string) *process {
	t.Helper()
	p := newProcess(environ, dir, "sh", "-c", line)
	p.run(hung)
	if p.failure != "" {
		t.Errorf("%s: %s\n%s", line, p.failure, p.output())
	}
	return p
}

// Every command fails if it cannot write its answer. A command without an answer does not need standard output.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	environ := append(testEnvironment(t), "MPITX_MPI=demo")
	run, _ := counted(t, 10)
	profiled := filepath.Join(t.TempDir(), "solver")
	if err := recordingtest.SaveSolver(profiled); err != nil {
		t.Fatal(err)
	}
	late := filepath.Join(t.TempDir(), "late")
	if err := recordingtest.SaveQueues(late); err != nil {
		t.Fatal(err)
	}
	traced := filepath.Join(t.TempDir(), "traced")
	if err := recordingtest.SaveTrace(traced, 100); err != nil {
		t.Fatal(err)
	}
	answers := map[string][]string{
		"list": {"list", "list -o json", "list -n 3", "list --tree", "list nothing -o csv", "list settings -o json", "list settings -n 2 -o csv"}, "show": {"show demo_rank", "show -n 2 demo_rank"},
		"read": {"read demo_rank", "read demo_win_limit -n 2"}, "write": {"write demo_type_int=5", "write demo_version=2 -n 2"},
		"snapshot": {"snapshot", "snapshot -n 2"}, "export": {"export RUN", "export RUN -o parquet", "export RUN --wide -o json"},
		"top": {"top --help"}, "recover": {"recover RUN"}, "runs": {"runs RUN", "runs PROFILE -o json", "runs RUN --clean --keep 0 --dry-run -o csv"}, "where": {"where --help"}, "run": {"run --help"},
		"report": {"report PROFILE", "report PROFILE -o json", "report PROFILE -o csv", "report PROFILE matrix", "report PROFILE matrix -o csv", "report RUN", "report RUN samples --by-rank -o csv",
			"report LATE queues", "report LATE queues -o json", "report LATE queues --table lengths -o csv",
			"report TRACED waits", "report TRACED waits -o json", "report TRACED waits --table causes -o csv", "report TRACED waits --table path -o ndjson", "report TRACED waits --rank 0"},
		"compare":  {"compare PROFILE PROFILE", "compare RUN RUN", "compare PROFILE PROFILE -o csv"},
		"tools":    {"tools", "tools -o json", "tools -o csv"},
		"verify":   {"verify --help"},
		"tune":     {"tune --help"},
		"diff":     {"diff mpi:demo mpi:demo", "diff mpi:demo mpi:demo -o json", "diff mpi:demo mpi:demo -o markdown"},
		"check":    {"check --list", "check names --mpi demo", "check get-index --mpi demo -o json", "check --list -o junit"},
		"timeline": {"timeline TRACED --once", "timeline TRACED --once --rank 0"},
		"doctor":   {"doctor --mpi demo", "doctor -o json --mpi demo"}, "version": {"version", "--version"}, "setup": {"setup --help", "setup --mpi demo"}, "tui": {"tui --help"},
		"backend": {"backend serve", "backend serve -n 2"}, "": {"", "--help", "help list", "completion bash", "__complete li", "list --help"},
		"sample": {"sample --help"}, "record": {"record --help"}, "profile": {"profile --help"}, "trace": {"trace --help"}, "completion": {"completion zsh"},
	}
	silent := map[string]string{
		"snapshot --out file": "0", "export RUN --out file.csv": "0", "export RUN -o parquet --out file.parquet": "0", "list --nonsense": "2", "show nothing": "1",
		"top": "2", "tui": "2", "timeline TRACED": "2", "sample": "2", "report PROFILE --out file.json": "0", "compare PROFILE PROFILE --out file.ndjson": "0",
	}
	for _, family := range families {
		workload := " --mpi " + family + " -n 2 --pvar mpitx:calls --duration 50ms --no-summary --workload pingpong"
		answers["sample"] = append(answers["sample"], "sample"+workload, "sample -o parquet"+workload)
		answers["list"] = append(answers["list"], "list --mpi "+family, "list -n 2 --mpi "+family)
		silent["sample --out "+family+".csv"+workload] = "0"
		silent["record --dir "+family+workload] = "0"
		profile := " --mpi " + family + " -n 2 --workload pingpong"
		answers["profile"] = append(answers["profile"], "profile -o json"+profile)
		silent["profile --out "+family+".json"+profile] = "0"
		silent["trace --no-summary --out "+family+".pftrace"+profile] = "0"
	}
	everyCommand(t, func(name string) bool { return answers[name] != nil })
	for way, why := range map[string]string{">&-": "standard output is closed", ">/dev/full": "no space left on device"} {
		dir := t.TempDir()
		for _, lines := range answers {
			for _, line := range lines {
				p := shell(t, dir, environ, "mpitx "+strings.NewReplacer("RUN", run, "PROFILE", profiled, "LATE", late, "TRACED", traced).Replace(line)+" </dev/null "+way)
				want := regexp.MustCompile(`(?m)^mpitx: cannot write the answer: ` + why)
				if p.code == 0 || len(want.FindAllString(p.stderr.String(), -1)) != 1 && !strings.HasPrefix(line, "backend") { // whose reader is a program
					t.Errorf("mpitx %s %s: exit code %d:\n%s", line, way, p.code, p.stderr.String())
				}
			}
		}
		for line, want := range silent {
			p := shell(t, dir, environ, "mpitx "+strings.NewReplacer("RUN", run, "PROFILE", profiled, "LATE", late, "TRACED", traced).Replace(line)+" "+way)
			if fmt.Sprint(p.code) != want || strings.Contains(p.stderr.String(), why) {
				t.Errorf("mpitx %s %s: exit code %d, want %s:\n%s", line, way, p.code, want, p.stderr.String())
			}
		}
		for _, file := range []string{"file", "file.csv", "file.parquet", "file.json", "file.ndjson"} {
			if st, err := os.Stat(filepath.Join(dir, file)); err != nil || st.Size() == 0 {
				t.Errorf("%s: %s was not written: %v", way, file, err)
			}
		}
	}
}

// Every command exits with 1 for a name that does not exist, with 3 if other names exist, and with 2 for wrong usage. The message is one
// line, in our words.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	families, err := buildSample()
	if err != nil {
		t.Fatal(err)
	}
	environ := append(testEnvironment(t), "MPITX_MPI=demo")
	run, _ := counted(t, 10)
	profiled := filepath.Join(t.TempDir(), "solver")
	if err := recordingtest.SaveSolver(profiled); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell(t, dir, environ, "mpitx snapshot --out s.json")
	type line struct {
		code int
		args string
		says string
	}
	lines := map[string][]line{
		"list": {{1, "list nosuch", "nosuch: no variable or event has this name"}, {1, "list 'nosuch*'", `nosuch\*: no variable or event matches`}, {3, "list demo_rank nosuch", "nosuch: no variable"},
			{1, "list --category nosuch", "--category nosuch: no category"}, {0, "list --regex nosuch", "no match"}, {1, "list --from nosuch", "nosuch"},
			{1, "list nosuch -n 2", "nosuch: no variable"}, {3, "list demo_rank nosuch -n 2", "nosuch: no variable"}, {2, "list ''", "list: an argument is empty"},
			{2, "list --nosuch", "no flag --nosuch"}, {2, "list --mpi nosuch", "--mpi nosuch"}, {1, "list --from s.json nosuch", "nosuch"}, {2, "list --regex ''", "--regex: must not be empty"}},
		"show":     {{1, "show nosuch", "nosuch: no variable"}, {3, "show demo_rank nosuch", "nosuch: no variable"}, {2, "show", "show: name the variables"}, {2, "show ''", "empty"}},
		"read":     {{1, "read nosuch", "nosuch: no variable"}, {1, "read 'nosuch*'", "matches"}, {3, "read demo_rank nosuch", "nosuch: no variable"}, {2, "read", "read: name the variables"}, {2, "read ''", "empty"}},
		"write":    {{1, "write nosuch=1", "nosuch: no variable"}, {2, "write nosuch", "NAME=VALUE"}, {2, "write", "write: name the variables"}, {2, "write ''", "empty"}},
		"snapshot": {{1, "snapshot --from nosuch", "nosuch"}, {1, "snapshot --out nosuch/x", "nosuch/x"}, {2, "snapshot nosuch", "takes no arguments"}, {2, "snapshot -o ''", "-o: must not be empty"}},
		"tui":      {{2, "tui nosuch", "takes no arguments"}},
		"backend":  {{2, "backend serve nosuch", "takes no arguments"}, {2, "backend nosuch", "internal"}},
		"doctor":   {{2, "doctor nosuch", "takes no arguments"}, {2, "doctor --mpi nosuch", "--mpi nosuch"}},
		"setup":    {{2, "setup nosuch", "takes no arguments"}, {2, "setup --mpi nosuch", "--mpi nosuch"}, {2, "setup --mpicc ''", "--mpicc: must not be empty"}},
		"tools": {{1, "tools ./nosuch.so", "nosuch.so: there is no such file"}, {2, "tools s.json", "s.json: this is not a shared library"}, {1, "tools nosuch", "nosuch: this is not the path of a shared library; give its path, such as ./nosuch"},
			{2, "tools --cflags x", "take no libraries"}, {2, "tools ''", "tools: an argument is empty"}, {2, "tools -o html", "must be one of"}},
		"check": {{2, "check nosuch", `no rule or subject is called "nosuch"`}, {2, "check ''", "check: an argument is empty"}, {2, "check '['", "not a pattern"},
			{2, "check --baseline nosuch", "--baseline: nosuch: there is no such file"}, {2, "check --baseline s.json", "s.json: it is not a report of mpitx check"}, {2, "check --mpi nosuch", "--mpi nosuch"},
			{2, "check --jobs 0", "--jobs: must be positive"}, {2, "check -o html", "must be one of"}, {2, "check --reproduce get-index", "keeps this rule"},
			{2, "check --reproduce nosuch", "no rule or subject"}, {2, "check --reproduce names", "names 11 rules"}},
		"diff": {{2, "diff", "diff"}, {2, "diff s.json", "diff"}, {2, "diff s.json nosuch.json", "there is no such file"}, {2, "diff - -", "only one side can be standard input"},
			{2, "diff s.json s.json --only nosuch", "--only nosuch: must be one of"}, {2, "diff s.json s.json -n 2", "leave -n out"}, {2, "diff rank:x s.json", "name a rank"}},
		"verify": {{2, "verify", "the settings"}, {2, "verify demo_rank", "must be CVAR=VALUE"}, {2, "verify a=b --rounds 2", "--rounds: must be at least 5"},
			{2, "verify a=b --duration 0s", "--duration: must be positive"}, {2, "verify a=b --workload halo -- app", "leave .app. out"}, {2, "verify a=b --from s.json", "there is no flag --from"},
			{2, "verify a=b --workload nosuch", "must be one of"}, {2, "verify a=b --size 1x", "must be a size such as"}, {2, "verify a=b --size 4k --workload halo", "have one size"}},
		"version": {{2, "env", "use mpitx list settings"}, {2, "stats RUN", "use mpitx report RUN samples"}, {2, "matrix RUN", "use mpitx report RUN matrix"}, {2, "queues RUN", "use mpitx report RUN queues"}, {2, "waits RUN", "use mpitx report RUN waits"},
			{2, "list settings nosuch", "takes no arguments"}, {2, "list settings -o html", "must be one of"}, {2, "list settings --mpi nosuch", "--mpi nosuch"}, {2, "version nosuch", "takes no arguments"}},
		"completion": {{2, "completion nosuch", `"nosuch": must be one of bash, fish, powershell, zsh`}, {2, "completion", "name one of"}, {2, "completion bash nosuch", "takes no arguments"},
			{2, "help nosuch", `no command "nosuch"`}, {2, "nosuch", `no command "nosuch"`}, {2, "lisst", "did you mean list"}, {2, "list --categroy x", "did you mean --category"},
			{2, "list -n", "-n: needs a value"}, {2, "list -n 99999999999999999999", "too large"}, {2, "list --tree=perhaps", "must be true or false"}},
		"sample": {{2, "sample --pvar x", "name the application"}},
		"run": {{2, "run", "name the application"}, {1, "run -- ./nosuch", "start ./nosuch: there is no such file"}, {2, "run --hang soon -- true", "--hang soon: must be a time"},
			{2, "run --hang 1ms -- true", "must be at least 1s"}, {2, "run --hang 1m:stop -- true", "the action must be report or kill"},
			{1, "run --tool ./nosuch.so -- true", "--tool ./nosuch.so: there is no such file"}, {1, "run --tool x:y -- true", "--tool x:y: there is no such file"},
			{2, "run --tool s.json: -- true", "--tool s.json:: the library or the name is missing"}, {2, "run --via qmpi -- true", "name them with --tool LIB"},
			{2, "run --via other -- true", "must be chain or qmpi"}, {2, "run --tool '' -- true", "--tool: must not be empty"}},
		"runs": {{1, "runs nosuch", "nosuch: no such file or directory"}, {2, "runs ''", "an argument is empty"}, {2, "runs --clean", "say which runs"}, {2, "runs --keep 1", "belongs to --clean"},
			{2, "runs --clean --older-than x", "must be an age such as"}, {2, "runs -o html", "must be one of"}},
		"record": {{2, "record -- ls", "--pvar: name"}},
		"trace": {{2, "trace", "name the application"}, {2, "trace --function MPI_Snd -- true", "--function MPI_Snd: no MPI function matches; did you mean MPI_Send"},
			{2, "trace --out x.json -- true", "--out x.json: .json is not a format of traces; end the name in .pftrace"}, {2, "trace --out - -- true", "--out -: standard output is the application's"},
			{2, "trace -o json -- true", "must be one of perfetto, csv, ndjson, parquet"}, {2, "trace --max-size 5Q -- true", "--max-size: .5Q.: must be a size"}},
		"profile": {{2, "profile", "name the application"}, {2, "profile --function MPI_Send -- true", "there is no flag --function; use --include GLOB"}, {2, "profile --stack 17 -- true", "--stack: must be between 0 and 16"},
			{2, "profile --include MPI_Snd -- true", "--include MPI_Snd: no MPI function matches; did you mean MPI_Send"}, {2, "profile --exclude '[' -- true", "--exclude \\[: not a pattern"},
			{2, "profile --out x.doc -- true", "--out x.doc: .doc is not a format of reports"}, {2, "profile --out - -- true", "--out -: standard output is the application's"}},
	}
	for _, command := range []string{"export", "where", "recover", "report", "timeline --once"} {
		name, _, _ := strings.Cut(command, " ")
		lines[name] = []line{{1, command + " nosuch", "nosuch: there is no such directory; name"}, {1, command + " s.json", "s.json: not a directory; name"},
			{1, command + " empty", "empty: not a run directory; name"}, {2, command + " ''", name + ": an argument is empty"}}
	}
	lines["export"] = append(lines["export"], line{1, "export PROFILE", "the run has no samples; see its profile with mpitx report"},
		line{2, "export --dir PROFILE", "there is no flag --dir; name the run directory alone: mpitx export DIRECTORY"})
	lines["export"] = append(lines["export"], line{1, "export RUN --trace", "the run has no trace; record one with mpitx trace"}, line{1, "export PROFILE -o perfetto", "the run has no trace"},
		line{2, "export RUN --from 2s --to 1s", "--to 1s: must be later than --from 2s"},
		line{2, "export RUN --from -1s", "--from -1s: must not be negative"}, line{2, "export RUN --from -2s --to -1s", "--from -2s: must not be negative"}, line{2, "report RUN samples --to -1s", "--to -1s: must not be negative"},
		line{2, "timeline RUN --once --from -1s", "--from -1s: must not be negative"}, line{2, "export RUN --derive PERUSE_COMM_REQ_XFER_END", "--derive PERUSE_COMM_REQ_XFER_END: events are derived in a trace"},
		line{1, "export RUN -o perfetto --derive PERUSE_COMM_REQ_XFER_END", "the run has no trace"}, line{1, "export RUN --rank 77", "--rank 77: the run has no such rank"},
		line{2, "export RUN --rank x", `--rank: "x" is not a rank list`}, line{2, "export", "export: name a run directory"}, line{1, "export RUN nosuch", "nosuch: the run has no such variable"})
	lines["report"] = append(lines["report"], line{1, "report", "there is no run in this directory; name a run directory"}, line{1, "report PROFILE samples", "the run has no samples; see its profile with mpitx report"},
		line{1, "report RUN samples nosuch", "nosuch: the run has no such variable"}, line{2, "report --dir PROFILE", "name the run directory alone: mpitx report DIRECTORY"},
		line{2, "report PROFILE sitess", "there is no view sitess; did you mean sites"}, line{2, "report PROFILE matrix x", "x: the view matrix takes no names"},
		line{2, "report PROFILE --from 1s", "--from does not apply to overview; it is for queues, waits, samples, events, triggers"}, line{2, "report PROFILE matrix -o html", "-o html: matrix has the formats table"},
		line{2, "report PROFILE functions --by-rank", "--by-rank: functions have rows for each rank in csv"},
		line{1, "report PROFILE --comm gird", "gird: the run has no such communicator, window or file; did you mean grid"}, line{1, "report PROFILE --function MPI_Snd", "MPI_Snd: the run has no such function"},
		line{2, "report PROFILE --out s.json", "--out s.json: the file exists; name another"}, line{2, "report PROFILE --out x.doc", "--out x.doc: .doc is not a format of reports"},
		line{1, "report RUN advice", "the run has no profile; record one with mpitx profile"}, line{2, "report PROFILE advice -o parquet", "-o parquet: advice has the formats table"},
		line{1, "report RUN queues", "the run has no trace; record one with mpitx trace --dir DIR"}, line{1, "report RUN events", "the run has no events"}, line{1, "report RUN triggers", "the run has no triggers"},
		line{2, "report RUN queues --from 2s --to 1s", "--to 1s: must be later than --from 2s"}, line{1, "report RUN samples --rank 77", "--rank 77: the run has no such rank"},
		line{2, "report RUN queues --table x", "--table: .x.: must be one of peers, lengths, metrics, states, rest, causes, path, efficiency, parts, gains"}, line{1, "report RUN waits", "the run has no trace; record one with mpitx trace --dir DIR"},
		line{2, "report RUN queues --table path", "--table path: queues has the tables peers, lengths, metrics"}, line{2, "report LATE waits --phase solve", "--phase does not apply to waits"})
	for _, view := range []string{"overview", "functions", "matrix"} {
		lines["report"] = append(lines["report"], line{1, "report RUN " + view, "the run has no profile; record one with mpitx profile"},
			line{1, "report PROFILE " + view + " --phase slove", "slove: the run has no such phase; did you mean solve"}, line{1, "report PROFILE " + view + " --rank 7", "7: the run has no such rank"},
			line{2, "report PROFILE " + view + " --rank x", `--rank: "x" is not a rank list`}, line{2, "report PROFILE " + view + " -o html5", "-o: .html5.: must be one of"})
	}
	lines["tune"] = append(lines["tune"], line{2, "tune", "name the application, after --"}, line{2, "tune x", "x: name the application after --"}, line{2, "tune --resume empty", "--resume empty: the directory holds no campaign of mpitx tune"},
		line{2, "tune --resume empty -- x", "leave x out"}, line{2, "tune -n 2 --runs -1 -- x", "--runs: must be positive"})
	lines["timeline"] = append(lines["timeline"], line{2, "timeline", "timeline: name a run directory"}, line{2, "timeline RUN", "is not a terminal; --once prints one frame"},
		line{1, "timeline RUN --once", "the run has no trace; record one with mpirun -n 4 mpitx trace --dir DIR"}, line{2, "timeline RUN --once --rank x", `--rank: "x" is not a rank list`},
		line{1, "timeline RUN --once --rank 77", "--rank 77: the run has no such rank"}, line{2, "timeline RUN --once --from 2s --to 1s", "--to 1s: must be later than --from 2s"},
		line{2, "timeline RUN --once --at -1s", "--at -1s: must not be negative"})
	lines["compare"] = []line{{2, "compare", "compare: name two run directories"}, {2, "compare PROFILE", "name two run directories"}, {2, "compare a b c", "name two run directories"},
		{2, "compare PROFILE ''", "compare: an argument is empty"}, {2, "compare PROFILE --base RUN", "one side has no run"}, {2, "compare --new PROFILE", "one side has no run"},
		{1, "compare PROFILE nosuch", "nosuch: there is no such directory; name"}, {1, "compare s.json PROFILE", "s.json: not a directory"}, {1, "compare PROFILE empty", "empty: not a run directory"},
		{1, "compare PROFILE RUN", "the run has a profile and no samples, and another has samples and no profile; record all"}, {1, "compare RUN RUN --pvar nosuch", "--pvar nosuch: no run has such a variable"},
		{1, "compare PROFILE PROFILE --phase slove", "slove: the run has no such phase; did you mean solve"}, {1, "compare RUN RUN --comm grid", "the run has no profile"},
		{2, "compare PROFILE PROFILE --rank x", `--rank: "x" is not a rank list`}, {2, "compare PROFILE PROFILE --out x.html", "--out x.html: .html is not a format of comparisons"},
		{2, "compare PROFILE PROFILE --table x", "--table: .x.: must be one of run"}, {2, "compare PROFILE PROFILE --fail-above x", "--fail-above"}, {2, "compare PROFILE PROFILE --fail-above -1", "must not be negative"},
		{2, "compare PROFILE PROFILE --out s.json", "--out s.json: the file exists; name another"}}
	lines["top"] = append(lines["top"], line{2, "top r x", "too many arguments"}, line{2, "top RUN --once", "use mpitx report RUN samples"})
	lines["where"] = append(lines["where"], line{1, "where RUN", "the run has no states"}, line{2, "where RUN x", "where: too many arguments"}, line{2, "where RUN --interval 1s", "--interval needs --watch"},
		line{2, "where RUN --stack 65", "--stack: must be between 0 and 64"})
	lines["recover"] = append(lines["recover"], line{2, "recover", "recover: name a run directory"}, line{2, "recover --stale a", `leave "a" out`})
	for _, family := range families {
		lines["profile"] = append(lines["profile"], line{1, "profile --mpi " + family + " -- nosuch", "start nosuch: no such program is in PATH"},
			line{1, "profile --mpi " + family + " --dir empty -- true", "run directory empty: it exists; name a new"},
			line{1, "profile --mpi " + family + " --out nosuch/x.json -- true", "--out nosuch/x.json: no such file or directory"},
			line{0, "profile --mpi " + family + " -- true", "nothing was recorded: "})
		for _, command := range []string{"sample", "record"} {
			start := command + " --mpi " + family + " --pvar mpitx:calls "
			lines[command] = append(lines[command], line{1, start + "-- nosuch", "start nosuch: no such program is in PATH"}, line{1, start + "-- ./nosuch", "start ./nosuch: there is no such file"},
				line{2, start + "-- ''", "its name is empty; name a program after --"}, line{1, start + "--dir empty -- true", "run directory empty: it exists; name a new"},
				line{1, start + "--pvar nosuch -- true", "--pvar nosuch: "}, line{1, start + "--pvar mpitx:nosuch -- true", "--pvar mpitx:nosuch: "})
		}
		lines["list"] = append(lines["list"], line{1, "list --mpi " + family + " nosuch", "nosuch: no variable"}, line{1, "list -n 2 --mpi " + family + " nosuch", "nosuch: no variable"})
	}
	everyCommand(t, func(name string) bool { return lines[name] != nil })
	for _, all := range lines {
		for _, l := range all {
			p := shell(t, dir, environ, "mpitx "+strings.NewReplacer("RUN", run, "PROFILE", profiled).Replace(l.args))
			own := regexp.MustCompile(`(?m)^mpitx: .*` + l.says)
			if p.code != l.code || !own.MatchString(p.stderr.String()) || strings.Contains(p.stderr.String(), "arg(s)") {
				t.Errorf("mpitx %s: exit code %d, want %d, and %q in:\n%s", l.args, p.code, l.code, l.says, p.stderr.String())
			}
		}
	}
}
