package main

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile("../../" + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each direct dependency in go.mod has a line with its reason in docs/dependencies.md, and no other module has one.
func TestDependencies(t *testing.T) {
	var want, got []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+|\S+\.\S+) v\S+$`).FindAllStringSubmatch(document(t, "go.mod"), -1) {
		want = append(want, m[1]) // indirect ones have a comment
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+\\.[^`]+/[^`]+)` \\|(.*)").FindAllStringSubmatch(document(t, "docs/dependencies.md"), -1) {
		got = append(got, m[1])
		if cells := strings.Split(m[2], "|"); len(cells) < 3 || strings.TrimSpace(cells[1]) == "" {
			t.Errorf("docs/dependencies.md: %s: no reason: %s", m[1], m[2])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("go.mod has\n%s\ndocs/dependencies.md has\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// pages are all documents of the project, by their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if err == nil && strings.HasSuffix(path, ".md") {
			path = filepath.ToSlash(path[len("../../"):])
			found[path] = document(t, path)
		}
		return err
	})
	if err != nil || found["README.md"] == "" || found["docs/tour.md"] == "" {
		t.Fatalf("%v: found %d documents", err, len(found))
	}
	return found
}

// The guide's table of directories lists each package of scripts/imports.txt, or its parent directory.
func TestGuideLayout(t *testing.T) {
	guide := document(t, "docs/guide.md")
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z/-]*)`).FindAllStringSubmatch(document(t, "scripts/imports.txt"), -1) {
		if !strings.Contains(guide, "`"+m[1]+"/") && !strings.Contains(guide, "`"+path.Dir(m[1])+"/`") {
			t.Errorf("docs/guide.md: no line for the folder %s", m[1])
		}
	}
}

// Documents are also read on terminals, so their lines are short. A line of a table cannot be wrapped.
func TestDocumentWidth(t *testing.T) {
	for path, text := range pages(t) {
		for n, line := range strings.Split(text, "\n") {
			if width := utf8.RuneCountInString(line); width > 120 && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d: %d characters", path, n+1, width)
			}
		}
	}
	if n := strings.Count(document(t, "README.md"), "\n"); n >= 250 {
		t.Errorf("README.md: %d lines: move details to docs/", n)
	}
}

var (
	fenced    = regexp.MustCompile("(?ms)^```.*?^```$")
	indented  = regexp.MustCompile("(?m)^    .*$")
	quoted    = regexp.MustCompile("`[^`\n]*`")
	pageLinks = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	headings  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are the fragments of links to the headings of a page, as GitHub and GitLab make them.
func anchors(page string) (list []string) {
	for _, m := range headings.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		list = append(list, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return list
}

// Every relative link leads to a file, and to a heading of it.
func TestDocumentLinks(t *testing.T) {
	all, count := pages(t), 0
	for from, text := range all {
		text = quoted.ReplaceAllString(indented.ReplaceAllString(fenced.ReplaceAllString(text, ""), ""), "")
		for _, m := range pageLinks.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			count++
			to := from
			if target != "" {
				to = path.Join(path.Dir(from), target)
			}
			if _, err := os.Stat("../../" + to); err != nil {
				t.Errorf("%s: link to %s: %v", from, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(all[to]), anchor) {
				t.Errorf("%s: link to %s: no such heading; there are %s", from, m[1], strings.Join(anchors(all[to]), " "))
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d links were found", count)
	}
}

// Every page of documentation can be reached from the README.
func TestDocumentsAreLinked(t *testing.T) {
	readme := document(t, "README.md")
	for name := range pages(t) {
		if strings.HasPrefix(name, "docs/") && !strings.Contains(readme, "]("+name) {
			t.Errorf("%s: no link in README.md", name)
		}
	}
}

var schemaNames = regexp.MustCompile("\"(mpitx\\.[a-z][a-z_-]*(?:\\.[a-z_]+)?)\"")

// docs/schema.md names the schema of each document that mpitx writes: each text in the code that looks like one, but the keys of Parquet's
// metadata.
func TestSchemasAreDocumented(t *testing.T) {
	page, found := document(t, "docs/schema.md"), map[string]bool{}
	keys := []string{"mpitx.schema", "mpitx.version", "mpitx.run", "mpitx.start", "mpitx.units"}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, m := range schemaNames.FindAllStringSubmatch(document(t, path[len("../../"):]), -1) {
			if name := m[1]; !found[name] && !slices.Contains(keys, name) {
				if found[name] = true; !strings.Contains(page, "`"+name+"`") {
					t.Errorf("%s: %s is not in docs/schema.md", path, name)
				}
			}
		}
		return nil
	})
	if err != nil || len(found) < 30 || !found["mpitx.report.sizes"] {
		t.Errorf("%v; found only %d schemas", err, len(found))
	}
}

var documented = regexp.MustCompile(`\bmpitx ([a-z][^` + "`" + `|#<>;&…]*)`)

// commandsOf are the lines of a page's code that may be commands, and its quoted words.
func commandsOf(page string) []string {
	page = fenced.ReplaceAllStringFunc(page, func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") })
	page = strings.ReplaceAll(strings.ReplaceAll(page, "\\\n", " "), ", mpitx", "; mpitx")
	return append(indented.FindAllString(page, -1), quoted.FindAllString(page, -1)...)
}

// flagOf is the flag that a word of a command line names; named is false if it names none.
func flagOf(command *cobra.Command, word string) (f *pflag.Flag, named bool) {
	switch name, long := strings.CutPrefix(word, "--"); {
	case long:
		name, _, _ = strings.Cut(name, "=")
		return command.Flag(strings.TrimRight(name, ".,:)]'")), true
	case len(word) == 2 && word[0] == '-' && word[1] >= 'a':
		return command.Flags().ShorthandLookup(word[1:]), true
	}
	return nil, false
}

// Every command and flag that a page shows exists and is not deprecated. The changelog may name deprecated ones.
func TestDocumentedCommands(t *testing.T) {
	root, count := newRoot(&cli.App{Errs: io.Discard, Env: &machine.Env{}}), 0
	for path, text := range pages(t) {
		if path == "CHANGELOG.md" {
			continue
		}
		for _, shown := range commandsOf(text) {
			for _, m := range documented.FindAllStringSubmatch(shown, -1) {
				command, words, err := root.Find(strings.Fields(m[1]))
				if err != nil || command == root {
					if !strings.HasPrefix(shown, "    ") || strings.HasPrefix(shown, "    $ ") { // not the output of a command
						t.Errorf("%s: %s: no such command", path, shown)
					}
					continue
				}
				command.InitDefaultHelpFlag()
				if k := slices.Index(words, "--"); k >= 0 {
					words = words[:k]
				}
				for _, word := range words {
					if f, named := flagOf(command, word); named {
						if count++; f == nil || f.Hidden || f.Deprecated != "" {
							t.Errorf("%s: %s: mpitx %s has no flag %s", path, strings.TrimSpace(shown), command.Name(), word)
						}
					}
				}
			}
		}
	}
	if count < 40 {
		t.Errorf("only %d flags were found", count)
	}
}
