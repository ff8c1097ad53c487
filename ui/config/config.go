// Package config is the user's configuration: a TOML file that full-screen programs read when they start, and change when they end.
// docs/reference.md describes it. Files belong to people: comments, unknown keys and their order stay, and a file that cannot be read is
// never written. Programs that write the same file at the same time lose nothing.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"mpitx/ui/term"
)

// Config is what a configuration says. Lists without order are sorted by when their items were added; histories have the last item last.
type Config struct {
	Theme     string   `toml:"theme"`
	Bookmarks []string `toml:"bookmarks"` // IDs of variables
	Pins      []string `toml:"pins"`      // IDs of variables
	Staged    []string `toml:"staged"`    // settings for the next run: "openmpi NAME=VALUE"
	Filter    string   `toml:"filter"`    // "kind=pvar class=counter"
	FilterOf  string   `toml:"filter_of"` // the family of the library that Filter was set on; "": any
	Filters   []string `toml:"filters"`   // history of Filter
	Commands  []string `toml:"commands"`  // history of the command line
	Searches  []string `toml:"searches"`  // history of searches
}

type field struct {
	key  string
	text func(*Config) *string   // nil: it is a list
	list func(*Config) *[]string // nil: it is a text
	most int                     // items of a history; 0: it is a set
}

var fields = []field{
	{key: "theme", text: func(c *Config) *string { return &c.Theme }},
	{key: "bookmarks", list: func(c *Config) *[]string { return &c.Bookmarks }},
	{key: "pins", list: func(c *Config) *[]string { return &c.Pins }},
	{key: "staged", list: func(c *Config) *[]string { return &c.Staged }},
	{key: "filter", text: func(c *Config) *string { return &c.Filter }},
	{key: "filter_of", text: func(c *Config) *string { return &c.FilterOf }},
	{key: "filters", list: func(c *Config) *[]string { return &c.Filters }, most: 20},
	{key: "commands", list: func(c *Config) *[]string { return &c.Commands }, most: 100},
	{key: "searches", list: func(c *Config) *[]string { return &c.Searches }, most: 100},
}

// Path is the file of a user; "" if there is no home.
func Path(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the specification says to ignore a relative one
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "mpitx", "config.toml")
}

// File is a configuration file.
type File struct {
	mu      sync.Mutex
	turn    int
	Config         // what the file says
	path    string // "": nothing is kept
	ignored bool   // it cannot be read: it is not written either
}

// Load reads a file. One that does not exist says nothing. The error says what is wrong in which line; the File can be used in any case.
func Load(path string) (*File, error) {
	f := &File{path: path}
	if path == "" {
		return f, nil
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return f, nil
	case err != nil:
		f.ignored = true
		return f, fmt.Errorf("%w; it is ignored", err)
	}
	c, problem, broken := parse(data)
	if broken {
		f.ignored = true
		return f, fmt.Errorf("%s:%s; the file is ignored and will not be changed", path, problem)
	}
	f.Config = c
	if problem != "" {
		return f, fmt.Errorf("%s:%s", path, problem)
	}
	return f, nil
}

// parse reads a file's text. A problem begins with its line; a broken file says nothing else.
func parse(data []byte) (c Config, problem string, broken bool) {
	d := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	err := d.Decode(&c)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		line, _ := unknown.Errors[0].Position()
		problem = fmt.Sprintf("%d: no setting %q", line, strings.Join(unknown.Errors[0].Key(), "."))
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return Config{}, fmt.Sprintf("%d: %s", line, reason(wrong)), true
	case err != nil:
		return Config{}, "1: " + err.Error(), true
	}
	if name, at := twice(data); at >= 0 {
		return Config{}, fmt.Sprintf("%d: %s is set twice", lineAt(data, at), name), true
	}
	if _, err := term.ParseTheme(c.Theme); err != nil {
		at, _ := place(data, "theme")
		problem = fmt.Sprintf("%d: %v", lineAt(data, at), err)
		c.Theme = ""
	}
	return c, problem, false
}

// reason says what is wrong, without Go's types.
func reason(e *toml.DecodeError) string {
	for _, f := range fields {
		switch {
		case len(e.Key()) != 1 || e.Key()[0] != f.key:
		case f.list != nil:
			return f.key + ` is not a list of texts, as ["a", "b"]`
		default:
			return f.key + ` is not a text in quotes`
		}
	}
	return strings.TrimPrefix(e.Error(), "toml: ")
}

// merged is what the file should say: another program may have written fresh since this one read old and made now of it.
func merged(old, now, fresh Config) Config {
	for _, f := range fields {
		switch {
		case f.text != nil:
			if *f.text(&old) != *f.text(&now) {
				*f.text(&fresh) = *f.text(&now)
			}
		case f.most > 0:
			*f.list(&fresh) = history(*f.list(&fresh), newer(*f.list(&old), *f.list(&now)), f.most)
		default:
			*f.list(&fresh) = set(*f.list(&old), *f.list(&now), *f.list(&fresh))
		}
	}
	return fresh
}

// newer is the end of a history that its earlier state did not have, or had in another order: lines that occur again move to the end.
func newer(old, now []string) []string {
	for i, line := range now {
		k := slices.Index(old, line)
		if k < 0 {
			return now[i:]
		}
		old = old[k+1:]
	}
	return nil
}

// history is a history with lines added. A line that occurs again moves to the end.
func history(lines, added []string, most int) []string {
	if len(added) == 0 {
		return lines
	}
	var out []string
	all := append(slices.Clone(lines), added...)
	for i, l := range all {
		if l != "" && !slices.Contains(all[i+1:], l) {
			out = append(out, l)
		}
	}
	return out[max(0, len(out)-most):]
}

// set is fresh with what was added to old, without what was removed from it.
func set(old, now, fresh []string) []string {
	out := slices.DeleteFunc(slices.Clone(fresh), func(s string) bool { return slices.Contains(old, s) && !slices.Contains(now, s) })
	for _, s := range now {
		if !slices.Contains(old, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func same(a, b Config) bool {
	for _, f := range fields {
		if f.text != nil && *f.text(&a) != *f.text(&b) || f.list != nil && !slices.Equal(*f.list(&a), *f.list(&b)) {
			return false
		}
	}
	return true
}

// Clone is a copy whose lists can be changed.
func (c Config) Clone() Config {
	for _, f := range fields {
		if f.list != nil {
			*f.list(&c) = slices.Clone(*f.list(&c))
		}
	}
	return c
}
