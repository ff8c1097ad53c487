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
	if c, provided := m.initTool(catalog.ThreadMultiple); !c.ok() || provided.v != int32(catalog.ThreadMultiple) {
		m.notApplicable("MPI_T does not provide MPI_THREAD_MULTIPLE")
		return
	}
	for _, v := range spread(m.openableCvars(), threadVariables, anyCvar) {
		if !m.item("%s", v.name) {
			continue
		}
		h, count, c := m.allocCvar(v.index, v.object)
		if !c.ok() || count.v < 1 || int(count.v)*v.typ.Size() > binding.ThreadBytes/2 || !m.readCvar(h, m.value(int32(v.typ), int(count.v))).ok() {
			continue
		}
		if m.inThreads(h, 1, 1) {
			m.inThreads(h, 2, threadReads)
		}
	}
	if m.items == 0 {
		m.notApplicable("no control variable can be read")
	}
}

func (m *mpi) inThreads(h *handle, threads, times int) bool {
	c := m.call("read_in_threads", func() binding.Error { return m.raw.ReadInThreads(h.v, threads, times) }, h.in(), lit("%d", threads), lit("%d", times))
	return m.succeeds(c)
}
