package main

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata/script")

// work is a folder for this run of the tests: short, as it holds sockets, whose paths may have 107 characters.
var work string

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("6") // most of the time the commands under test wait for something
	}
	os.Exit(func() int {
		var err error
		if work, err = os.MkdirTemp("/tmp", "mx"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(work)
		return m.Run()
	}())
}
