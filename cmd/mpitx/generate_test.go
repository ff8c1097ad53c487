package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
	"mpitx/ui/explorer"
	"mpitx/ui/screen/keys"
	"mpitx/ui/timeline"
	"mpitx/ui/top"
)

// TestGenerated compares completions/ and man/ with what the commands would generate now; `make generate` writes them.
func TestGenerated(t *testing.T) {
	want := map[string][]byte{}
	root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
	for path, generate := range map[string]func(io.Writer) error{
		"completions/mpitx.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"completions/_mpitx":     root.GenZshCompletion,
		"completions/mpitx.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"completions/mpitx.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := generate(&b); err != nil {
			t.Fatal(err)
		}
		want[path] = b.Bytes()
	}
	for path, text := range manPages(t) {
		want[path] = text
	}
	if *update {
		for _, dir := range []string{"completions", "man"} {
			os.RemoveAll(filepath.Join("../..", dir))
			if err := os.MkdirAll(filepath.Join("../..", dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for path, text := range want {
			if err := os.WriteFile(filepath.Join("../..", path), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	var have []string
	for _, dir := range []string{"completions", "man"} {
		entries, err := os.ReadDir(filepath.Join("../..", dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			have = append(have, dir+"/"+e.Name())
		}
	}
	for path, text := range want {
		if got, err := os.ReadFile(filepath.Join("../..", path)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%s is stale: run make generate", path)
		}
		if k := slices.Index(have, path); k >= 0 {
			have = slices.Delete(have, k, k+1)
		}
	}
	for _, path := range have {
		t.Errorf("%s is not generated any more: run make generate", path)
	}
}

// manPages are the manual pages, with the sections that cobra does not know.
func manPages(t *testing.T) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	date := time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	header := &doc.GenManHeader{Section: "1", Source: "mpitx", Manual: "mpitx manual", Date: &date} // without a title each page has its own
	root := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}})
	root.InitDefaultHelpCmd()
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string][]byte{}
	for _, e := range entries {
		page, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text := manFlags(t, root, e.Name(), string(page))
		switch e.Name() {
		case "mpitx.1":
			text = manCommands(t, root, text)
		case "mpitx-tui.1":
			text += manKeys(explorer.Keys()) + manConfig
		case "mpitx-timeline.1":
			text += manKeys(timeline.Keys()) + manConfig
		case "mpitx-top.1":
			text += manKeys(top.Keys()) + manConfig
		}
		codes, own := manCodes[e.Name()]
		if !own {
			codes = usualCodes
		}
		pages["man/"+e.Name()] = []byte(text + manScreen(t, e.Name()) + manEnd + codes)
	}
	return pages
}

// manFlags writes flags as --help does: --as KIND, and the default after the text.
func manFlags(t *testing.T, root *cobra.Command, name, page string) string {
	cmd, _, err := root.Find(strings.Split(strings.TrimSuffix(name, ".1"), "-")[1:])
	if err != nil {
		t.Fatal(err)
	}
	flag := regexp.MustCompile(`(?m)^((?:\\fB-\w\\fP, )?\\fB--([a-z-]+)\\fP)\[?=.*\n(\t.*)`)
	return flag.ReplaceAllStringFunc(page, func(text string) string {
		part := flag.FindStringSubmatch(text)
		f := cmd.Flag(part[2])
		if f == nil {
			t.Fatalf("%s: no flag --%s", name, part[2])
		}
		head, text := part[1], part[3]
		if value, _ := pflag.UnquoteUsage(f); value != "" {
			head += ` \fI` + roff(value) + `\fP`
		}
		if inHelp := regexp.MustCompile(`\(default \S+\)\n`).FindString(flagUsage(f).FlagUsages()); inHelp != "" {
			text += " " + roff(strings.TrimSpace(inHelp))
		}
		return head + "\n" + text
	})
}

// flagUsage is a set of one flag.
func flagUsage(f *pflag.Flag) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.AddFlag(f)
	return set
}

// TestManFlags compares the flags in the manual pages with those in --help.
func TestManFlags(t *testing.T) {
	page := string(manPages(t)["man/mpitx-report.1"])
	for _, want := range []string{"\n\\fB--as\\fP \\fIKIND\\fP\n", "\n\\fB-h\\fP, \\fB--help\\fP\n", "\n\\fB-o\\fP, \\fB--output\\fP \\fIFORMAT\\fP\n", "(default: the ending of --out, else table)\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	for name, text := range manPages(t) {
		if k := regexp.MustCompile(`\\fP\[?=.*`).FindString(string(text)); k != "" {
			t.Errorf("%s: %s", name, k)
		}
	}
}

// roff is text in which troff sees no commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// manCommands puts all commands into the synopsis of mpitx(1), and a section with what they do after its description.
func manCommands(t *testing.T, root *cobra.Command, page string) string {
	synopsis, section := ".SH SYNOPSIS\n.nf\n\\fBmpitx\\fP [flags]\n", ".SH COMMANDS\n"
	for _, g := range groups {
		section += ".SS " + roff(g.title) + "\n"
		for _, name := range strings.Fields(g.names) {
			cmd, _, err := root.Find([]string{name})
			if err != nil || cmd == root {
				t.Fatalf("mpitx %s: %v", name, err)
			}
			use := strings.TrimPrefix(cmd.UseLine(), cmd.CommandPath())
			if cmd.HasAvailableSubCommands() {
				use = " " + strings.Join(commandNames(cmd), "|")
			}
			synopsis += "\\fB" + roff(cmd.CommandPath()) + "\\fP" + roff(use) + "\n"
			section += ".TP\n\\fB" + roff(name) + "\\fP\n" + roff(cmd.Short) + ".\n"
		}
	}
	old := regexp.MustCompile(`(?s)\.SH SYNOPSIS\n.*?\n\.SH DESCRIPTION`)
	if !old.MatchString(page) || !strings.Contains(page, ".SH OPTIONS\n") {
		t.Fatal("mpitx.1 has no synopsis, or no options")
	}
	page = old.ReplaceAllLiteralString(page, synopsis+".fi\n\n.SH DESCRIPTION")
	return strings.Replace(page, ".SH OPTIONS\n", section+".SH OPTIONS\n", 1)
}

// manKeys are the keys and commands of a full screen, from its own tables.
func manKeys(sections []keys.Section) string {
	var b strings.Builder
	for _, s := range sections {
		b.WriteString(".SH " + roff(strings.ToUpper(s.Title)) + "\n")
		for _, k := range s.Keys {
			b.WriteString(".TP\n\\fB" + roff(k.Text(false)) + "\\fP\n" + roff(k.Help) + "\n")
		}
	}
	return b.String()
}

var manConfig = strings.TrimLeft(`
.SH FILES
.TP
\fB$XDG_CONFIG_HOME/mpitx/config.toml\fP, else \fB~/.config/mpitx/config.toml\fP
The configuration file, in TOML. The explorer keeps here what the next session starts with. It changes only the settings that the
session changed, and keeps comments. mpitx names the line of a mistake, ignores a file that is not valid, and does not write it.
.RS
.TP
\fBtheme\fP = "auto"
The colours: auto, dark, light or high\-contrast.
.TP
\fBbookmarks\fP, \fBpins\fP = ["coll_tuned_bcast_algorithm", "pml_ob1_unexpected_msgq_length:size"]
Variables by name, performance variables by name:class.
.TP
\fBfilter\fP = "kind=pvar class=counter"
The filter that the explorer starts with.
.TP
\fBfilters\fP, \fBcommands\fP, \fBsearches\fP = ["kind=pvar", "writable=yes"]
The history of filters, of the command line and of searches, the newest last.
.RE
`, "\n")

// manScreen is the section with a picture of a full screen: the documentation's, from a real run.
func manScreen(t *testing.T, page string) string {
	from := map[string]string{"mpitx-tui.1": "docs/screens.md"}[page]
	if from == "" {
		return ""
	}
	_, text, _ := strings.Cut(document(t, from), "## Reading and writing")
	_, text, found := strings.Cut(text, "\n\n    ")
	screen, _, end := strings.Cut(text, "\n\n")
	if !found || !end {
		t.Fatalf("%s: no screen below its heading", from)
	}
	screen = strings.ReplaceAll(screen, "\n    ", "\n")
	return ".SH SCREEN\n.EX\n" + strings.NewReplacer(`\`, `\e`, "\n.", "\n\\&.", "-", `\-`).Replace(screen) + "\n.EE\n"
}

var manEnd = strings.TrimLeft(`
.SH ENVIRONMENT
.TP
\fBMPITX_MPI\fP
The MPI to use, as with \fB--mpi\fP.
.TP
\fBMPITX_DIR\fP
The directory for new runs, and the one where \fBmpitx top\fP looks for a run.
.TP
\fBXDG_CONFIG_HOME\fP
The directory for mpitx/config.toml, the configuration file of \fBmpitx tui\fP and \fBmpitx top\fP. The default is ~/.config.
.TP
\fBXDG_CACHE_HOME\fP, \fBXDG_DATA_HOME\fP
The directories for the names that completion uses, and for the shims and agents that \fBmpitx setup\fP builds.
.TP
\fBMPITX_PAGER\fP, \fBPAGER\fP
The pager for long tables on a terminal; empty or \fBcat\fP for none. The default is \fBless\fP, with \fBLESS=FRX\fP if LESS is not set.
.TP
\fBNO_COLOR\fP, \fBCOLUMNS\fP
No colours; the width of the terminal.
`, "\n")

var usualCodes = strings.TrimLeft(`
.SH EXIT STATUS
.TP
\fB0\fP
Success. Also if the filters match nothing, and if a list contains faulty variables.
.TP
\fB1\fP
Failure. Also if nothing that was named exists: a variable, a run, a file, a program.
.TP
\fB2\fP
The command line is wrong. Nothing was started.
.TP
\fB3\fP
Partial success: some names do not exist, a named variable could not be read, a write was refused, or ranks, a stage or a part of a
run are missing.
.TP
\fB128+n\fP
mpitx was ended by signal n.
.PP
\fBmpitx sample\fP, \fBmpitx record\fP and \fBmpitx profile\fP exit with the application's code once it was started.
`, "\n")

// manCodes are the exit codes of commands whose answer is an exit code.
var manCodes = map[string]string{
	"mpitx-diff.1": exitStatus("Nothing differs.", "Something differs.", "Failure, or the command line is wrong."),
	"mpitx-check.1": exitStatus("The library violates no rule, or only rules that it violates in the baseline.",
		"The library violates a rule, crashes or hangs, or a rule could not be tested.",
		"Nothing was checked: wrong command line, unknown rule or library, unusable baseline, or no violation to reproduce."),
	"mpitx-verify.1": exitStatus("Something measurable changed.", "Nothing measurable changed.",
		"The command line is wrong, the library cannot take a setting, or a run failed."),
}

// exitStatus is the section of the exit codes 0, 1, …
func exitStatus(meanings ...string) string {
	text := ".SH EXIT STATUS\n"
	for code, meaning := range meanings {
		text += fmt.Sprintf(".TP\n\\fB%d\\fP\n%s\n", code, meaning)
	}
	return text + ".TP\n\\fB128+n\\fP\nmpitx was ended by signal n.\n"
}

// Pages of commands with exit codes of their own do not have the usual ones.
func TestManCodes(t *testing.T) {
	pages := manPages(t)
	for name := range manCodes {
		if text := string(pages["man/"+name]); strings.Count(text, ".SH EXIT STATUS") != 1 || strings.Contains(text, "Partial success") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
	if !strings.Contains(string(pages["man/mpitx-list.1"]), "Partial success") {
		t.Error("mpitx-list.1 lacks the usual exit codes")
	}
}
