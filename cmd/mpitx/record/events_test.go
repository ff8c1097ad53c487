package record

import (
	"testing"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

// What only the run could show is said once: why a pattern has matched no event, unless it is one of events of PERUSE, which are derived
// or unavailable.
func TestNoEvent(t *testing.T) {
	o := &tracing{recorder: &recorder{App: &cli.App{Env: &machine.Env{Environ: []string{"HOME=" + t.TempDir()}}}}}
	m := machine.MPI{Family: machine.OpenMPI, Impl: machine.OpenMPI}
	for pattern, want := range map[string]string{
		"PERUSE_COMM_REQ_NOTIFY": "", "PERUSE_COMM_*": "", "peruse_comm_search_unex_q_begin": "",
		"PERUSE_WIN_SYNC_BEGN": m.Name() + " has no such event; Open MPI built with --enable-peruse has events PERUSE_*; did you mean PERUSE_WIN_SYNC_BEGIN, PERUSE_WIN_SYNC_END?",
		"own_evnt":             m.Name() + " has no such event; did you mean own_event?",
		"ompi.mpi.win_freed":   m.Name() + " has no such event; libraries that have it: Open MPI 6",
		"MPI_Send":             "this matches functions of MPI, not events; record their calls with --function MPI_Send",
		"MPI_*send*":           "this matches functions of MPI, not events; record their calls with --function 'MPI_*send*'",
		"nosuch_*":             m.Name() + " has no such event",
	} {
		if want != "" {
			want = "--event " + pattern + ": " + want
		}
		if got := o.explainEvent(m, pattern, []string{"own_event"}); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}
