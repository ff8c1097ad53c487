package machine

import (
	"path/filepath"
	"strings"
)

// Launch describes the launcher that started this process, from its environment and ancestors.
type Launch struct {
	Name      string // "orte", "prrte", "hydra", "slurm", "pmi", "pmix", "demo"; "" without a launcher
	Rank      int    // -1 if unknown, like the next three
	Size      int
	LocalRank int
	LocalSize int
	Family    string // the family of MPI that this launcher starts; "" if it starts any
	Exe       string // path of the launcher's executable among the ancestors; "" if not found
	PID       int    // of that process; 0 if not found
}

// Command is the usual command of this launcher.
func (l Launch) Command() string {
	switch l.Name {
	case "orte", "prrte":
		return "mpirun"
	case "hydra", "pmi":
		return "mpiexec"
	case "slurm":
		return "srun"
	case "demo":
		return "mpitx -n"
	}
	return "a PMIx launcher"
}

// launchers maps the names of launcher executables to launchers.
var launchers = map[string]string{
	"orterun": "orte", "orted": "orte", "prterun": "prrte", "prte": "prrte", "prted": "prrte",
	"mpiexec.hydra": "hydra", "hydra_pmi_proxy": "hydra", "mpiexec.gforker": "pmi", "hydra_bstrap_proxy": "hydra", "slurmstepd": "slurm",
}

const ancestry = 16

// Launcher identifies the launcher that started this process, from the variables of a step (of this start), never those
// of a whole allocation.
func (e *Env) Launcher() Launch {
	var found []Launch
	add := func(name, family, rank, size, localRank, localSize string) {
		found = append(found, Launch{
			Name: name, Family: family,
			Rank: e.number(rank), Size: e.number(size), LocalRank: e.number(localRank), LocalSize: e.number(localSize),
		})
	}
	if e.has("FAKEMPI_SIZE") {
		add("demo", Demo, "FAKEMPI_RANK", "FAKEMPI_SIZE", "FAKEMPI_RANK", "FAKEMPI_SIZE")
	}
	if e.has("OMPI_COMM_WORLD_SIZE") {
		name := "prrte"
		if e.has("OMPI_MCA_orte_ess_num_procs") || e.has("OMPI_MCA_orte_hnp_uri") {
			name = "orte"
		}
		add(name, OpenMPI, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE")
	}
	if e.has("PMI_RANK") && (e.has("HYDI_CONTROL_FD") || e.has("MPI_LOCALNRANKS")) {
		add("hydra", MPICH, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS")
	}
	if e.has("SLURM_STEP_ID") && (e.has("SLURM_LAUNCH_NODE_IPADDR") || e.has("SLURM_STEP_LAUNCHER_PORT")) {
		add("slurm", "", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "")
	}
	if len(found) == 0 && e.has("PMI_RANK") && e.has("PMI_SIZE") {
		add("pmi", "", "PMI_RANK", "PMI_SIZE", "PMI_LOCAL_RANK", "PMI_LOCAL_SIZE")
	}
	if len(found) == 0 && e.has("PMIX_RANK") && e.has("PMIX_NAMESPACE") {
		add("pmix", "", "PMIX_RANK", "", "", "")
	}
	if len(found) == 0 {
		return Launch{Rank: -1, Size: -1, LocalRank: -1, LocalSize: -1}
	}
	return e.nearest(found)
}

// nearest picks the nearest ancestor among several launchers (a launcher started under another one leaves its
// variables), or the first if none is an ancestor. srun starts the daemons of mpirun, so it comes last anyway.
func (e *Env) nearest(found []Launch) Launch {
	if found[0].Name == "demo" {
		return found[0]
	}
	parents := e.Ancestors(ancestry)
	for i, p := range parents {
		for _, l := range found {
			if !starts(filepath.Base(p.Exe), l.Name) {
				continue
			}
			// The launcher's helper (hydra_pmi_proxy) is the parent process.
			for i+1 < len(parents) && starts(filepath.Base(parents[i+1].Exe), l.Name) {
				i++
			}
			l.Exe, l.PID = parents[i].Exe, parents[i].PID
			return l
		}
	}
	return found[0]
}

// starts reports whether an executable of that name is this launcher.
func starts(exe, launcher string) bool {
	if launchers[exe] == launcher {
		return true
	}
	// Self-built wrappers keep the plain names; Open MPI 5's mpirun becomes prterun.
	plain := exe == "mpirun" || exe == "mpiexec" || strings.HasPrefix(exe, "mpirun.") || strings.HasPrefix(exe, "mpiexec.")
	return plain && launchers[exe] == "" && launcher != "slurm"
}
