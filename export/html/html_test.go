package html

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/need"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/recordingtest"
	"mpitx/recording/trigger"
)

// hostile is text that would be code in a page that does not escape it.
const hostile = `</script><script>document.title="owned"</script><img src=x onerror=alert(1)>"'&`

// solver writes the page of a run whose numbers are known, with hostile names of functions.
func solver(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := recordingtest.SaveSolver(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	p, err := profile.Read(run, profile.Cut{})
	if err != nil {
		t.Fatal(err)
	}
	p.Resolve(func(a profile.Address) []profile.Frame {
		if a.Offset == 0x1180 {
			return []profile.Frame{{Function: hostile, File: "/src/" + strings.ReplaceAll(hostile, "/", ""), Line: 118}}
		}
		return nil
	})
	p.Functions[1].Name = hostile
	var b bytes.Buffer
	rank := 1
	triggers := []*trigger.Trigger{{Condition: "bytes > 1M", On: "MPI_Send", Totals: trigger.Totals{Checked: 12, Held: 1, Fired: 1}, Ranks: []trigger.RankTotals{{Rank: 2, Totals: trigger.Totals{Held: 1}}},
		Events: []trigger.Event{{Time: 1250 * time.Millisecond, Rank: 2, Function: "MPI_Send", Peer: &rank, ObjectName: hostile}}}, {Condition: hostile}}
	if err := Write(&b, p, triggers, "run1"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	page := solver(t)
	for _, want := range []string{
		"<title>run1: MPI profile</title>", "<h3>Time by function</h3>", "<h3>Time by call site</h3>", "<h3>Ranks</h3>", "<h3>Messages between ranks</h3>",
		"<h2>Functions</h2>", "<h2>Call sites</h2>", "<h2>Communicators</h2>", "rank 3 waits 41 % of its time in MPI_Wait", "load balance 82.2 %",
		"default-src &#39;none&#39;", ">MPI_Wait</text>", "<h2>Trigger bytes &gt; 1M</h2>", "became true 1 time, on rank 2; true in 1 of 12 calls", ">1.250000</td>", "&lt;/script&gt;&lt;script&gt;",
	} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, ">MPI_Init</text>") {
		t.Error("the charts show MPI_Init, whose time is not part of the run time")
	}
	if n := strings.Count(page, "<svg"); n != 4 {
		t.Errorf("%d charts", n)
	}
	if found := regexp.MustCompile(`<script|<img|https?://[^w]|javascript:|url\(`).FindAllString(page, -1); found != nil {
		t.Errorf("the page has %q", found)
	}
}

// Rank 0 is on top of the matrix, as in mpitx top: its name is above the others.
func TestMatrixFromTop(t *testing.T) {
	page := solver(t)
	chart := page[strings.Index(page, "<h3>Messages between ranks</h3>"):]
	ranks, last := 0, 0.0
	for _, m := range regexp.MustCompile(`<text x="[\d.]+" y="([\d.]+)" text-anchor="end">(\d)</text>`).FindAllStringSubmatch(chart, -1) {
		y, _ := strconv.ParseFloat(m[1], 64)
		if m[2] != strconv.Itoa(ranks) || y <= last {
			t.Errorf("rank %s is %v below the top, the rank before it %v", m[2], y, last)
		}
		ranks, last = ranks+1, y
	}
	if ranks != 4 {
		t.Errorf("%d ranks are named left of the matrix", ranks)
	}
	for _, cell := range []string{`d="M1,0h1v1h-1zM2,1h1v1h-1zM3,2h1v1h-1zM0,3h1v1h-1z" fill="#002b54"`, `d="M3,0h1v1h-1z" fill="#e4eef6"`} {
		if !strings.Contains(chart, cell) {
			t.Errorf("no cells %s", cell)
		}
	}
}

// A profile without calls has no findings, and the page does not call it good.
func TestNoCalls(t *testing.T) {
	var b strings.Builder
	if err := Write(&b, &profile.Profile{Run: &recording.Run{}}, nil, "run1"); err != nil {
		t.Fatal(err)
	}
	if page := b.String(); !strings.Contains(page, "No MPI call was recorded") || strings.Contains(page, "stands out") {
		t.Error(page)
	}
}

// Chromium shows the page without errors, runs nothing in it and asks for nothing.
func TestChromium(t *testing.T) {
	need.Commands(t, "chromium")
	dir := t.TempDir()
	file, picture := filepath.Join(dir, "report.html"), filepath.Join(dir, "report.png")
	if err := os.WriteFile(file, []byte(solver(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	chromium := func(args ...string) string {
		t.Helper()
		args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + filepath.Join(dir, "profile"),
			"--window-size=1280,2400", "--enable-logging=stderr"}, args...)
		cmd := exec.Command("chromium", append(args, "file://"+file)...)
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &log, time.Minute
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, ":CONSOLE") {
				t.Error(line) // what the page violates, or fails to load
			}
		}
		return out.String()
	}
	dom := chromium("--dump-dom")
	for _, want := range []string{"<title>run1: MPI profile</title>", `<svg role="img"`, "Messages between ranks", "</tbody>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in the page that Chromium made", want)
		}
	}
	if strings.Contains(dom, "owned\"</title>") || strings.Contains(dom, "<script") || strings.Contains(dom, "<img") {
		t.Error("names of the run are code")
	}
	chromium("--screenshot=" + picture)
	if info, err := os.Stat(picture); err != nil || info.Size() < 20000 {
		t.Errorf("the picture: %v, %v", info, err)
	}
	if keep := os.Getenv("MPITX_KEEP_PICTURE"); keep != "" {
		b, _ := os.ReadFile(picture)
		os.WriteFile(keep, b, 0o600)
		b, _ = os.ReadFile(file)
		os.WriteFile(keep+".html", b, 0o600)
	}
}
