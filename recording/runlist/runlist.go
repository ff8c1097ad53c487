// Package runlist finds the run directories in a directory, says what each is, and removes old ones. It reads only the beginning of their
// files, so thousands of runs take about a second.
package runlist

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mpitx/recording"
)

// JobFile is the file in a run directory that the first mpitx process of the job writes.
const JobFile = "job.json"

const mostJobBytes = 1 << 20

// job is the part of JobFile that is needed here.
type job struct {
	ID      string   `json:"run_id"`
	StartNs int64    `json:"start_ns"`
	Mpitx   string   `json:"mpitx"`
	Command []string `json:"command"`
}

// place is a directory that is a run.
type place struct {
	dir   string
	job   job
	start time.Time
}

// find lists the runs in a directory, the newest first; if the directory is a run itself, only that. Symbolic links are not followed.
func find(base string) (all []place, err error) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, err
	}
	if p, ok := placeOf(base); ok {
		return []place{p}, nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if p, ok := placeOf(filepath.Join(base, e.Name())); ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Or(b.start.Compare(a.start), cmp.Compare(a.dir, b.dir)) })
	return all, nil
}

// placeOf reports whether a directory is a run: its JobFile names the run, or another file begins as mpitx's files do.
func placeOf(dir string) (p place, ok bool) {
	p.dir = dir
	path := filepath.Join(dir, JobFile)
	st, err := os.Lstat(path)
	if err == nil && st.Mode().IsRegular() && st.Size() <= mostJobBytes {
		text, err := os.ReadFile(path)
		var j job
		if err == nil && json.Unmarshal(text, &j) == nil {
			if id, err := hex.DecodeString(j.ID); err == nil && len(id) == 16 && j.StartNs > 0 {
				p.job, p.start = j, time.Unix(0, j.StartNs)
				return p, true
			}
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := e.Name()
		if e.Type().IsRegular() && (matches(name, "node-*.mpxr", "last-*.mpxr") && begins(filepath.Join(dir, name), "\x01PXCHNK1") ||
			matches(name, "live-*.mpxm") && begins(filepath.Join(dir, name), "\x01PXMANI1")) {
			p.start = startOf(dir)
			return p, true
		}
	}
	return p, false
}

// startOf is when a run without a JobFile started, or else when its directory was changed.
func startOf(dir string) (at time.Time) {
	if st, err := os.Stat(dir); err == nil {
		at = st.ModTime()
	}
	if head, err := recording.OpenHead(dir); err == nil {
		defer head.Close()
		if head.Start.UnixNano() > 0 {
			at = head.Start
		}
	}
	return at
}

func begins(path, magic string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(magic))
	_, err = io.ReadFull(f, b)
	return err == nil && bytes.Equal(b, []byte(magic))
}

// List describes the runs in a directory, the newest first. If the directory is a run itself, it is the only one. An error does not name
// the directory.
func List(base string) ([]*Run, error) {
	places, err := find(base)
	if err != nil {
		return nil, errors.New(cause(err))
	}
	all := make([]*Run, len(places))
	work := make(chan int)
	var done sync.WaitGroup
	for range min(16, len(places)) { // directories may be on a network
		done.Go(func() {
			for i := range work {
				all[i] = describe(places[i])
			}
		})
	}
	for i := range places {
		work <- i
	}
	close(work)
	done.Wait()
	return all, nil
}

// Newest finds the newest run in a directory. With running, runs whose job is running come first; others are those that run besides it.
// The path is "" if there is no run.
func Newest(base string, running bool) (dir string, others []string, err error) {
	places, err := find(base)
	if err != nil || len(places) == 0 {
		return "", nil, err
	}
	if !running {
		return places[0].dir, nil, nil
	}
	const most = 50 // that are looked at
	var live, away []string
	for _, p := range places[:min(len(places), most)] {
		run, err := recording.OpenHead(p.dir)
		if err != nil {
			continue
		}
		if _, ranks := run.Unreachable(); run.Running() {
			live = append(live, p.dir)
		} else if len(ranks) > 0 { // they cannot be reached from here, and may run
			away = append(away, p.dir)
		}
		run.Close()
	}
	switch {
	case len(live) > 0:
		return live[0], live[1:], nil
	case len(away) > 0:
		return away[0], nil, nil
	}
	return places[0].dir, nil, nil
}

// written are the names of files that mpitx writes into a run directory.
var written = []string{
	JobFile, ".job", "seen", "claims", "started-*", "ends-*.json", "ends-*.json.part", "sites.json", "sites.json.part", "clocks.json", "clocks.json.part", "sync", "sync-decided", "sync-[0-9]*", "mpitx-agent-*.so",
	"node-*.mpxr", "last-*.mpxr", "tail-*.mpxt", "live-*.mpxm", "live-*.mpxm.tmp", "mpitx-*.live",
}

// results are the names of what mpitx profile and trace make of their run, by the word in the command.
var results = map[string]string{"profile": "report.", "trace": "trace."}

// magics are how files begin, by their names.
var magics = map[string]string{"node-*.mpxr": "\x01PXCHNK1", "last-*.mpxr": "\x01PXCHNK1", "live-*.mpxm": "\x01PXMANI1", "ends-*.json": `{"schema":"mpitx.`, "sites.json": `{"schema":"mpitx.`, "clocks.json": `{"schema":"mpitx.`}

// foreign are the files of a run directory that mpitx did not write, by their names and by how they begin. A file that is damaged at its
// beginning may be anybody's.
func (p place) foreign(entries []fs.DirEntry) (names []string) {
	for _, e := range entries {
		if e.IsDir() || !p.owns(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (p place) owns(name string) bool {
	path := filepath.Join(p.dir, name)
	st, err := os.Lstat(path)
	regular := err == nil && st.Mode().IsRegular()
	for word, first := range results {
		if strings.HasPrefix(name, first) || strings.HasPrefix(name, "."+first) {
			return slices.ContainsFunc(p.job.Command, func(w string) bool { return strings.TrimPrefix(w, "--") == word })
		}
	}
	for pattern, magic := range magics {
		if matches(name, pattern) {
			return regular && (st.Size() == 0 || begins(path, magic))
		}
	}
	if matches(name, recording.StartedPrefix+"*") {
		if !regular {
			return false
		}
		text, _ := os.ReadFile(path)
		_, damaged := recording.ParseStarted(string(text))
		return damaged < 0
	}
	return matches(name, written...)
}

// matches compares a name with patterns that have at most one star.
func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		first, last, star := strings.Cut(p, "*")
		return !star && name == p || star && len(name) >= len(p) && strings.HasPrefix(name, first) && strings.HasSuffix(name, last)
	})
}
