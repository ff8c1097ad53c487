package locate

import (
	"path/filepath"
	"strings"
)

// Launch is what the environment and the ancestors of this process say of the launcher that started it.
type Launch struct {
	Name      string // "orte", "prrte", "hydra", "slurm", "pmi", "pmix", "demo"; "" where no launcher started us
	Rank      int    // -1 where unknown, like the next three
	Size      int
	LocalRank int
	LocalSize int
	Family    string // the family of MPI that this launcher starts; "" where it starts any
	Exe       string // path of the launcher's executable among our ancestors, "" where not seen
	PID       int    // of that process, 0 where not seen
}

// Command is what people type to start this launcher.
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

// launchers maps the names of launcher executables to what they are.
var launchers = map[string]string{
	"orterun": "orte", "orted": "orte", "prterun": "prrte", "prte": "prrte", "prted": "prrte",
	"mpiexec.hydra": "hydra", "hydra_pmi_proxy": "hydra", "mpiexec.gforker": "pmi", "hydra_bstrap_proxy": "hydra", "slurmstepd": "slurm",
}

const ancestry = 16

// Launcher tells which launcher started this process. It goes by the variables of a step (of this start), never by those of
// a whole allocation.
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

// nearest takes of several launchers (one started under another leaves its variables) the one that is nearest among our
// ancestors; where none is seen, the first. srun starts the daemons of mpirun, so it is asked last anyway.
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
			// The launcher's own helper (hydra_pmi_proxy) stands between it and us.
			for i+1 < len(parents) && starts(filepath.Base(parents[i+1].Exe), l.Name) {
				i++
			}
			l.Exe, l.PID = parents[i].Exe, parents[i].PID
			return l
		}
	}
	return found[0]
}

// starts tells whether an executable of that name is this launcher.
func starts(exe, launcher string) bool {
	if launchers[exe] == launcher {
		return true
	}
	// Home-built wrappers keep the plain names; Open MPI 5's mpirun becomes prterun.
	plain := exe == "mpirun" || exe == "mpiexec" || strings.HasPrefix(exe, "mpirun.") || strings.HasPrefix(exe, "mpiexec.")
	return plain && launchers[exe] == "" && launcher != "slurm"
}
