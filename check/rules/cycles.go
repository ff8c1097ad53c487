//go:build cgo && linux

package rules

import "strings"

func initAgain(m *mpi) {
	for range 3 {
		if !m.succeeds(m.startTool()) || !m.usable() || !m.succeeds(m.finalizeTool()) {
			return
		}
	}
}

func cycleBeforeInit(m *mpi) {
	m.startTool()
	m.finalizeTool()
	if m.succeeds(m.initMPI()) {
		m.mpiWorks()
		if m.succeeds(m.startTool()) {
			m.usable()
		}
	}
}

func cycleAfterInit(m *mpi) {
	m.initMPI()
	for range 2 {
		if !m.succeeds(m.startTool()) || !m.usable() || !m.succeeds(m.finalizeTool()) {
			return
		}
		m.mpiWorks()
	}
	m.succeeds(m.finalizeMPI())
}

func numbersKeptByCycle(m *mpi) {
	for _, l := range lists(m) {
		if !m.item("%s_get_num", l.prefix) {
			continue
		}
		m.startTool()
		was := m.number(l)
		m.finalizeTool()
		m.startTool()
		now := m.number(l)
		m.expect(now.code.is(0), now.ge(was))
		m.finalizeTool()
	}
}

// orders are cycles of MPI_T within each other, in their order with MPI_Init and MPI_Finalize. Each is an item.
var orders = []string{
	"T_init T_init T_finalize use MPI_Init use T_finalize MPI_Finalize",
	"T_init MPI_Init T_init T_finalize use T_finalize MPI_Finalize",
	"T_init MPI_Init T_init T_finalize use MPI_Finalize use T_finalize",
	"MPI_Init T_init T_init T_finalize use T_finalize MPI_Finalize",
	"T_init MPI_Init T_init MPI_Finalize T_finalize use T_finalize",
	"MPI_Init T_init MPI_Finalize T_init use T_finalize use T_finalize",
}

func cycleNested(m *mpi) {
	for _, order := range orders {
		if m.item("%s", order) {
			m.follow(strings.Fields(order))
		}
	}
}

// follow calls what an order says until something fails. MPI_T is not initialized after the last MPI_T_finalize.
func (m *mpi) follow(order []string) {
	cycles, running := 0, false
	for _, step := range order {
		ok := true
		switch step {
		case "T_init":
			ok = m.succeeds(m.startTool())
			cycles++
		case "T_finalize":
			ok = m.succeeds(m.finalizeTool())
			if cycles--; ok && cycles == 0 {
				ok = m.ended()
			}
		case "MPI_Init":
			ok, running = m.succeeds(m.initMPI()), true
		case "MPI_Finalize":
			ok, running = m.succeeds(m.finalizeMPI()), false
		case "use":
			if ok = m.usable(); ok {
				m.entry(cvars(m), 0)
			}
			if ok && running {
				m.mpiWorks()
			}
		}
		if !ok {
			return
		}
	}
}
