// Package jobwide lets the mpitx processes of one launcher's job on one machine do a thing once. They agree by files that they lock, in
// a directory of the user, so that it does not matter which ranks have mpitx, and in which order they come.
package jobwide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mpitx/machine/owned"
)

// Job is the job of this process.
type Job struct {
	Dir string // for the files
	Key string // the same in all processes of the job, and in no other job; "" if it is not known: then this process is alone

	Rank, Size int // Size is the number of processes on this machine; 0 if it is not known
}

const (
	prefix  = "job-"
	keep    = time.Hour // an older file is of a job that has ended
	between = 10 * time.Millisecond
)

var (
	grace  = time.Second     // how long a lower rank may take to say the same
	atMost = 4 * time.Second // until another rank says it
)

// Find calls find in one process, and returns its result in all that ask for the same thing. If that process dies, another one
// calls it.
func (j Job) Find(what string, find func() []byte) []byte {
	f := j.open(what)
	if f == nil {
		return find()
	}
	defer f.Close()
	if lock(f) != nil {
		return find()
	}
	const whole = "\n." // a process may have died while it wrote
	if text := content(f); strings.HasSuffix(text, whole) {
		return []byte(strings.TrimSuffix(text, whole))
	}
	found := find()
	f.Truncate(0)
	f.WriteAt(append(found[:len(found):len(found)], whole...), 0)
	return found
}

// Say calls say in one of the processes that have the same text to say, if possible in the one with the lowest rank. It returns
// after the text was said.
func (j Job) Say(text string, say func()) {
	f := j.open(text)
	if f == nil {
		say()
		return
	}
	defer f.Close()
	own := fmt.Sprintf("rank %d\n", j.Rank)
	for round, start := -1, time.Now(); ; time.Sleep(between) {
		if lock(f) != nil {
			say()
			return
		}
		lines := strings.SplitAfter(content(f), "\n")
		ranks, rounds, lowest := map[int]bool{j.Rank: true}, 0, j.Rank
		for _, line := range lines {
			var rank int
			if n, _ := fmt.Sscanf(line, "rank %d\n", &rank); n == 1 {
				lowest = min(lowest, rank)
				ranks[rank] = true
			}
			if line == own {
				rounds++
			}
		}
		if round < 0 { // a rank may say the same several times, one after another
			round = rounds
			f.WriteString(own)
		}
		said := fmt.Sprintf("said %d\n", round)
		waited := time.Since(start)
		all := len(ranks) == j.Size // no other process has it to say
		mine := j.Rank == 0 || lowest == j.Rank && (all || waited > grace) || waited > atMost
		done := strings.Contains(strings.Join(lines, ""), said)
		if !done && mine {
			say()
			f.WriteString(said)
			done = true
		}
		if done && all {
			os.Remove(f.Name())
		}
		unlock(f)
		if done {
			return
		}
	}
}

// open opens the file for a thing; nil if this process cannot share it with others.
func (j Job) open(what string) *os.File {
	if j.Key == "" || !filepath.IsAbs(j.Dir) || os.MkdirAll(j.Dir, 0o700) != nil {
		return nil
	}
	if _, err := owned.Directory(j.Dir); err != nil { // what others say there does not count
		return nil
	}
	sum := sha256.Sum256([]byte(j.Key + "\x00" + what))
	path := filepath.Join(j.Dir, prefix+hex.EncodeToString(sum[:12]))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > 1<<24 {
		f.Close()
		return nil
	}
	old, _ := filepath.Glob(filepath.Join(j.Dir, prefix+"*"))
	for _, path := range old {
		if st, err := os.Lstat(path); err == nil && time.Since(st.ModTime()) > keep {
			os.Remove(path)
		}
	}
	return f
}

// content reads the file, and stays at its end.
func content(f *os.File) string {
	f.Seek(0, io.SeekStart)
	text, _ := io.ReadAll(f)
	return string(text)
}
