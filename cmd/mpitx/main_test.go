package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"mpitx/fixtures/need"
	"mpitx/recording"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata/script")

// work is a directory for this run of the tests. Its path is short, since paths of sockets have at most 107 characters.
var work string

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("6") // most of the time the commands under test wait for something
	}
	need.DefaultSignals()
	os.Exit(func() int {
		var err error
		if work, err = os.MkdirTemp("/tmp", "mx"); err != nil {
			panic(err)
		}
		defer removeMemory()
		defer os.RemoveAll(work)
		return m.Run()
	}())
}

// removeMemory removes the memory files of jobs that tests killed, and whose directories are gone.
func removeMemory() {
	for _, l := range recording.Leftovers("/dev/shm") {
		if _, err := os.Stat(l.Dir); os.IsNotExist(err) && strings.HasPrefix(l.Dir, os.TempDir()) {
			l.Remove()
		}
	}
}
