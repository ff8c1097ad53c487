//go:build cgo && linux

package rules

import (
	"mpitx/binding"
	"mpitx/catalog"
)

const (
	threadVariables = 16
	threadReads     = 64 // of each thread
)

// readInThreads reads variables in another thread than the one that initialized MPI_T, and in two at the same time.
func readInThreads(m *mpi) {
	if provided := m.initTool(catalog.ThreadMultiple); !provided.ok() || provided.v != int32(catalog.ThreadMultiple) {
		m.notApplicable("MPI_T does not provide MPI_THREAD_MULTIPLE")
		return
	}
	for _, v := range spread(m.openableCvars(), threadVariables, anyVariable) {
		if !m.item("%s", v.name) {
			continue
		}
		o := m.open(v)
		if o.ok() && o.size() <= binding.ThreadBytes/2 && o.read().ok() && o.inThreads(1, 1) {
			o.inThreads(2, threadReads)
		}
	}
}

func (o *opened) inThreads(threads, times int) bool {
	return o.succeeds(o.mpi.call("read_in_threads", func() binding.Error { return o.raw.ReadInThreads(o.h.v, threads, times) }, o.h.in(), lit("%d", threads), lit("%d", times)))
}
