package config

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// head begins a file that mpitx makes.
const head = "# Settings of mpitx: man mpitx-tui explains them. mpitx adds to this file, and keeps its comments.\n"

// lockWait is how long to wait for another program that writes the file, which takes milliseconds. Tests shorten it.
var lockWait = 2 * time.Second

// Save writes what differs between now and the last state that was read or saved. If that is nothing, or the file is ignored, nothing is
// written. A new file is its owner's only. It may be called concurrently: turn grows with every state, and one that comes late is dropped.
func (f *File) Save(now Config, turn int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" || f.ignored || turn < f.turn || same(f.Config, now) {
		return nil
	}
	f.turn = turn
	path := f.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link into a folder of dotfiles stays one
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	next, err := lock(path + ".lock")
	if err != nil {
		return err
	}
	err = f.write(next, path, now)
	if e := next.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(next.Name(), path) // which also unlocks
	}
	if err != nil {
		os.Remove(next.Name())
		return err
	}
	f.Config = now.Clone()
	return nil
}

// write puts into next what the file at path says now, with the changes.
func (f *File) write(next *os.File, path string, now Config) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if st, err := os.Stat(path); err == nil {
		if st.Mode().Perm()&0o200 == 0 {
			return fmt.Errorf("%s is read-only", path)
		}
		if err := next.Chmod(st.Mode().Perm()); err != nil {
			return err
		}
	}
	fresh, problem, broken := parse(data)
	if broken {
		return fmt.Errorf("%s:%s; nothing is written", path, problem)
	}
	want := merged(f.Config, now, fresh)
	text, err := edit(data, fresh, want)
	if err != nil {
		return err
	}
	if _, err := next.Write(text); err != nil {
		return err
	}
	return next.Sync()
}

// lock makes the file that becomes the next one: whoever made it writes. One that stays the same for lockWait was left by a crash.
func lock(path string) (*os.File, error) {
	var seen os.FileInfo
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
		now, err := os.Stat(path)
		switch {
		case err != nil: // gone by now
		case seen == nil || !os.SameFile(seen, now) || !seen.ModTime().Equal(now.ModTime()):
			seen, end = now, time.Now().Add(lockWait)
		case time.Now().After(end):
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
}

// edit puts what differs between two configurations into a file's text.
func edit(text []byte, from, to Config) ([]byte, error) {
	for _, f := range fields {
		var value any
		if f.text != nil {
			if *f.text(&from) == *f.text(&to) {
				continue
			}
			value = *f.text(&to)
		} else {
			if slices.Equal(*f.list(&from), *f.list(&to)) {
				continue
			}
			value = append([]string{}, *f.list(&to)...)
		}
		var line bytes.Buffer
		if err := toml.NewEncoder(&line).SetArraysMultiline(true).Encode(map[string]any{f.key: value}); err != nil {
			return nil, err
		}
		text = put(text, f.key, bytes.TrimRight(line.Bytes(), "\n"))
	}
	if got, problem, broken := parse(text); broken || !same(got, to) {
		return nil, fmt.Errorf("%s does not come back from the file", problem) // better than a damaged file
	}
	return text, nil
}

// put replaces a key of the file, or adds it to those outside of tables.
func put(text []byte, key string, line []byte) []byte {
	at, end := place(text, key)
	if at >= 0 {
		return bytes.Join([][]byte{text[:at], line, text[end:]}, nil)
	}
	before := text[:end]
	if len(text) == 0 {
		before = []byte(head)
	}
	if len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(bytes.Clone(before), '\n')
	}
	return bytes.Join([][]byte{before, line, []byte("\n"), text[end:]}, nil)
}

// place is where a key and its value are in a text. If the text does not have the key, at is -1, and end the place for it: after the last
// key that is outside of tables.
func place(text []byte, key string) (at, end int) {
	tables := false
	for k := range keysOf(text, &tables) {
		if k.name == key {
			return k.at, k.end
		}
		if n := bytes.IndexByte(text[k.end:], '\n'); n >= 0 {
			end = k.end + n + 1
		} else {
			end = len(text)
		}
	}
	if !tables {
		end = len(text)
	}
	return -1, end
}

type key struct {
	name    string // in lower case, as it is decoded; "": a dotted key
	at, end int    // in the text
}

// keysOf are the keys that are outside of tables. tables says whether there are tables after them.
func keysOf(text []byte, tables *bool) iter.Seq[key] {
	return func(yield func(key) bool) {
		p := unstable.Parser{}
		p.Reset(text)
		for p.NextExpression() {
			e := p.Expression()
			if *tables = e.Kind != unstable.KeyValue; *tables {
				return
			}
			k := key{at: int(e.Raw.Offset), end: int(e.Raw.Offset + e.Raw.Length)}
			if keys := e.Key(); keys.Next() && keys.IsLast() {
				k.name = strings.ToLower(string(keys.Node().Data))
			}
			if !yield(k) {
				return
			}
		}
	}
}

// twice finds a setting that has two keys, which differ in case. at is -1 if there is none.
func twice(text []byte) (name string, at int) {
	seen := map[string]bool{}
	for k := range keysOf(text, new(bool)) {
		if seen[k.name] && slices.ContainsFunc(fields, func(f field) bool { return f.key == k.name }) {
			return k.name, k.at
		}
		seen[k.name] = true
	}
	return "", -1
}

func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:max(at, 0)], []byte("\n")) }
