package variables

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"mpitx/check"
	"mpitx/export"
)

// hostileReport is a report with names that break formats.
func hostileReport() *check.Report {
	bad := &check.Result{Rule: check.Rule{Name: "names", Subject: "names", Section: "MPI-3.1, 14.3.6", Promise: "A promise."}, Status: check.Passed, Items: 3}
	bad.Add(check.Violation{Status: check.Violated, Item: "a|b\x1b[31m\x00<&\"]]>", Called: []string{"f(\"```\x07\")"}, Expected: "x\ny | z", Got: "\u202e|"})
	crashed := &check.Result{Rule: check.Rule{Name: "reads", Subject: "reads"}, Status: check.Passed, Items: 1}
	crashed.Add(check.Violation{Status: check.Crashed, Item: "b", Got: "\xff\xfe"})
	skipped := &check.Result{Rule: check.Rule{Name: "none", Subject: "none"}, Status: check.NotApplicable, Why: "a\x01b"}
	return &check.Report{Schema: check.Schema, Library: "MPI\x1b]0;|", Standard: "4.0", Baseline: "MPI 1", Untested: []string{"names"}, Results: []*check.Result{bad, crashed, skipped}}
}

func written(t *testing.T, f export.Format) string {
	t.Helper()
	var b strings.Builder
	if err := Check(&b, hostileReport(), f, export.Terminal{Width: 80, UTF8: true}); err != nil {
		t.Fatal(err)
	}
	for _, c := range b.String() {
		if c < ' ' && c != '\n' || c == 0x7f || c == 0x202e && f != FormatJUnit {
			t.Errorf("%s has the control character %U:\n%s", f, c, b.String())
		}
	}
	return b.String()
}

func TestCheckJUnit(t *testing.T) {
	text := written(t, FormatJUnit)
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	var s junitSuite
	if err := xml.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	if s.Tests != 3 || s.Failures != 1 || s.Errors != 1 || s.Skipped != 1 || len(s.Cases) != 3 || !strings.Contains(s.Cases[0].Failure.Text, `<&"]]>`) {
		t.Errorf("%+v\n%s", s, text)
	}
	if !strings.Contains(s.Out, "The baseline is of MPI 1.") {
		t.Errorf("no word about the baseline: %s", text)
	}
}

func TestCheckMarkdown(t *testing.T) {
	text := written(t, FormatMarkdown)
	fences, rows := 0, 0
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "| ") {
			rows++
			if n := strings.Count(line, "|") - strings.Count(line, `\|`); n != 6 {
				t.Errorf("%d cells: %s", n-1, line)
			}
		}
		fences += strings.Count(line, "```")
	}
	if rows != 4 || fences != 4 {
		t.Errorf("%d rows, %d fences:\n%s", rows, fences, text)
	}
	for _, want := range []string{`a\|b\x1b[31m`, "Expected: x y \\| z.", "The baseline has no result of names: all their violations count as new."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}

func TestCheckText(t *testing.T) {
	if text := written(t, export.FormatTable); !strings.Contains(text, "CRASHED: reads") || !strings.Contains(text, "The baseline is of MPI 1.") {
		t.Error(text)
	}
}

// Words that are longer than a line are broken, and the text after them goes on in its column.
func TestWrapAt(t *testing.T) {
	for _, test := range []struct {
		line, indent string
		width        int
		want         string
	}{
		{"  name  works; around strings-truncated-length: it asks", "        ", 20, "  name  works;\n        around\n        strings-trun\n        cated-length\n        : it asks"},
		{"a b c", "  ", 3, "a b\n c"},
		{"ééééé", " ", 3, "ééé\n éé"},
		{"a 界界", "", 1, "a\n界界"},
		{"word", "    ", 2, "wo\n r\n d"},
	} {
		if got := export.WrapAt(test.line, test.width, test.indent); got != test.want {
			t.Errorf("%q at %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

// Colours mark the results, and only them.
func TestCheckColour(t *testing.T) {
	var plain, painted strings.Builder
	r := hostileReport()
	r.Features = []check.Feature{{Name: "read", State: "works", Why: "it works"}, {Name: "a", State: "partly"}, {Name: "no", State: "no", Why: "no"}}
	Check(&plain, r, export.FormatTable, export.Terminal{Width: 80, UTF8: true})
	Check(&painted, r, export.FormatTable, export.Terminal{Width: 80, UTF8: true, Color: true})
	red, green := export.FaultyStyle.Render, export.SetStyle.Render
	for _, want := range []string{"\n" + red("VIOLATED") + "  names", red("CRASHED") + ": reads", "1 " + red("crashed"), " " + green("works") + "; it works"} {
		if !strings.Contains(painted.String(), want) {
			t.Errorf("no %q in\n%s", want, painted.String())
		}
	}
	if ansi.Strip(painted.String()) != plain.String() {
		t.Errorf("colours change the text:\n%s\n%s", painted.String(), plain.String())
	}
	if n := strings.Count(plain.String(), "--reproduce RULE"); n != 1 {
		t.Errorf("--reproduce is named %d times", n)
	}
}

// The report for people says which features work, and why not all items of a rule were tested.
func TestCheckGolden(t *testing.T) {
	result := func(name string, s check.Status, why string, items ...string) *check.Result {
		one := &check.Result{Rule: check.Rule{Name: name, Subject: "a", Section: "MPI-3.1, 14.3", Promise: "A promise."}, Status: s, Why: why, Items: 36}
		for _, item := range items {
			one.Bad++
			one.BadItems = append(one.BadItems, item)
			one.Violations = append(one.Violations, check.Violation{Status: s, Item: item, Called: []string{"f(" + item + ")", "g(" + item + strings.Repeat(", &out1", 12) + ") = MPI_SUCCESS, out1 = 1"}, Expected: "x", Got: "y"})
		}
		return one
	}
	r := &check.Report{Library: "MPI 1", Standard: "4.0", Seconds: 2.5, Results: []*check.Result{
		result("kept", check.Passed, ""), result("broken", check.Violated, "", "a"), result("deadly", check.Crashed, "items after 40 crashes were not tested", "a", "b"),
		result("free", check.Unchecked, "items after 8 crashes were not tested", "a", "b"), result("absent", check.NotApplicable, "the library has none"),
		result("none", check.NotApplicable, "the library does not have QMPI"), result("nothing", check.NotApplicable, "the library has none"), result("old", check.Known, "nothing new: the baseline has its violations"),
		result("untested", check.Failed, "no launcher"),
	}, Features: []check.Feature{{Name: "read", State: "works", Why: "mpitx works around violations of broken: it tries each variable in a child process and marks those that fail"},
		{Name: "profile, where, trace, run", State: "works", Why: "mpitx intercepts the application's calls, with any MPI"},
		{Name: "queues from PERUSE", State: "partly", Why: "peruse-init"}, {Name: "run --via qmpi", State: "no", Why: "the library does not have QMPI"}}}
	for name, f := range map[string]export.Format{"check_text": export.FormatTable, "check_markdown": FormatMarkdown, "check_junit": FormatJUnit} {
		var b bytes.Buffer
		if err := Check(&b, r, f, ascii); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}
