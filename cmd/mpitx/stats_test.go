//go:build cgo && linux

package main

import (
	"strings"
	"testing"

	"mpitx/recording/recordingtest"
)

func TestStatsCommand(t *testing.T) {
	t.Parallel()
	environ := testEnvironment(t)
	if _, err := build(); err != nil {
		t.Fatal(err)
	}
	dir := recordingtest.SomeTraffic.Saved(t)
	for _, test := range []struct {
		args, first string
		code        int
	}{
		{"", "mpitx:bytes_sent mpitx:calls mpitx:rma_operations mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"--nonzero", "mpitx:bytes_sent mpitx:calls mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:time*", "mpitx:time/MPI_Wait mpitx:time_in_mpi", 0},
		{"mpitx:calls mpitx:*sent", "mpitx:bytes_sent mpitx:calls", 0},
		{"--sort max", "mpitx:time_in_mpi mpitx:time/MPI_Wait mpitx:bytes_sent mpitx:calls mpitx:rma_operations", 0},
		{"--sort size", "", 2},
		{"mpitx:call", "", 1},
	} {
		p := newProcess(environ, t.TempDir(), append([]string{"mpitx", "report", dir, "samples", "-o", "names"}, strings.Fields(test.args)...)...)
		p.run(hung)
		if got := strings.Join(strings.Fields(p.stdout.String()), " "); p.failure != "" || p.code != test.code || got != test.first {
			t.Errorf("%s: exit code %d: %s\n%s%s", test.args, p.code, got, p.failure, p.stderr.String())
		}
		if test.args == "mpitx:call" && !strings.Contains(p.stderr.String(), "did you mean mpitx:calls") {
			t.Error(p.stderr.String())
		}
	}
}
