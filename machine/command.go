package machine

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SelfLaunch is the first word of LaunchCommand's command for the demo MPI, which has no launcher: mpitx starts the
// processes itself, with FAKEMPI_RANK and FAKEMPI_SIZE in their environment. The second word is their number.
const SelfLaunch = "mpitx-self-launch"

// mappingPolicy is how Open MPI 4 places processes.
const mappingPolicy = "OMPI_MCA_rmaps_base_mapping_policy"

// DemoRanks is the maximum number of ranks of the demo MPI (FAKEMPI_MAX_SIZE in fixtures/fakempi/internal.h).
const DemoRanks = 1024

// QuietORTE suppresses all of Open MPI 4's own messages: the launcher's about exit codes, and the library's about errors. Later releases ignore
// it. It is for ranks that are mpitx itself, never for an application. It is not a setting of the user.
const QuietORTE = "OMPI_MCA_orte_execute_quiet=1"

// Quiet is [QuietORTE] as an environment for libraries that know it.
func Quiet(m MPI) []string {
	if m.Impl == OpenMPI {
		return []string{QuietORTE}
	}
	return nil
}

// LaunchOptions are the options with a value that settings may give the launcher of m, in all releases; nil: none are known.
func LaunchOptions(m MPI) []string {
	switch {
	case m.Launcher == "":
	case m.Impl == OpenMPI:
		return []string{"--bind-to", "--map-by", "--rank-by"}
	case m.Impl == MPICH:
		return []string{"-bind-to", "-map-by"}
	}
	return nil
}

// oversubscribed adds to a value of Open MPI's --map-by that more ranks than cores are allowed.
func oversubscribed(mapping string) string {
	separator, colons := ":", 0
	if strings.HasPrefix(mapping, "ppr:") { // ppr:N:RESOURCE
		colons = 2
	}
	if strings.Count(mapping, ":") > colons {
		separator = ","
	}
	return mapping + separator + "OVERSUBSCRIBE"
}

// LaunchCommand is the command line and environment that start n processes of a program with the launcher of m, with some of its
// [LaunchOptions]. The environment is this Env's without the variables of another launcher. An error is an *Error.
func (e *Env) LaunchCommand(m MPI, n int, program []string, options ...string) (argv, environ []string, err error) {
	environ = e.FreeOfLauncher()
	count := strconv.Itoa(n)
	if m.Family == Demo && n > DemoRanks {
		return nil, nil, &Error{What: "-n " + count, Why: "the demo MPI has at most " + strconv.Itoa(DemoRanks) + " ranks", Do: "name fewer", Usage: true}
	}
	if m.Family != Demo && slices.Contains(program, ":") {
		return nil, nil, &Error{
			What:  "cannot start " + count + " processes",
			Why:   "launchers take an argument that is a colon as the beginning of another program",
			Do:    "write it as one word with its option (--dir=:), or start mpitx under the launcher yourself",
			Usage: true,
		}
	}
	launcher := e.Word(m.Launcher) // with a path, Open MPI's launcher puts its own directories in front of PATH and LD_LIBRARY_PATH
	switch {
	case m.Family == Demo:
		argv = []string{SelfLaunch, count}
	case m.Launcher != "" && m.Impl == OpenMPI:
		// --map-by :OVERSUBSCRIBE is understood by every Open MPI from 1.8 to 6; --oversubscribe is deprecated in 5. In 4, the former
		// replaces the user's mapping policy.
		argv = []string{launcher, "--map-by", ":OVERSUBSCRIBE", "-n", count}
		if k := slices.Index(options, "--map-by"); k >= 0 {
			argv[2] = oversubscribed(options[k+1])
			options = slices.Delete(slices.Clone(options), k, k+2)
		} else if _, users := lookup(environ, mappingPolicy); users {
			argv = []string{launcher, "--oversubscribe", "-n", count}
		}
		if e.UID == 0 {
			environ = append(environ, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		}
	case m.Launcher != "":
		argv = []string{launcher, "-n", count}
	case e.has("SLURM_JOB_ID") && e.inPath("srun") != "":
		argv = []string{e.inPath("srun"), "-n", count, "--overlap"}
		if kind := slurmMPI(m); kind != "" {
			argv = append(argv, "--mpi="+kind)
		}
	default:
		return nil, nil, &Error{
			What: "cannot start " + count + " processes",
			Why:  "no mpirun or mpiexec of " + m.Name() + " is in " + filepath.Join(m.Prefix, "bin") + " or in PATH",
			Do:   "put it in PATH, or start mpitx under the launcher yourself: mpirun -n " + count + " mpitx …",
		}
	}
	return slices.Concat(argv, options, program), environ, nil
}

// slurmMPI is the value of srun's --mpi for a library; Cray's MPICH uses the site's default.
func slurmMPI(m MPI) string {
	switch {
	case m.Impl == OpenMPI:
		return "pmix"
	case m.Impl == MPICH && !strings.Contains(filepath.Base(m.Lib), "cray") && !strings.Contains(m.Lib, "/cray/"):
		return "pmi2"
	}
	return ""
}

// FreeOfLauncher is the environment without the variables that a launcher set for its processes. The user's settings
// for Open MPI (OMPI_MCA_…), MPICH and Slurm stay.
func (e *Env) FreeOfLauncher() []string {
	launched := e.Launcher().Name != ""
	environ := make([]string, 0, len(e.Environ)+2)
	for _, kv := range e.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if OwnedByLauncher(name, value) && (launched || !ambiguous(name)) {
			continue
		}
		environ = append(environ, kv)
	}
	return environ
}

// ambiguous variables belong to the launcher if there is one, else to the user.
func ambiguous(name string) bool {
	return strings.HasPrefix(name, "OMPI_MCA_") || strings.HasPrefix(name, "PMIX_MCA_") || strings.HasPrefix(name, "PRTE_MCA_") ||
		strings.HasPrefix(name, "MPIR_CVAR_")
}

// ownedPrefixes and ownedNames are the variables that launchers set for their processes (measured with `mpirun env`).
var (
	ownedPrefixes = []string{
		"OMPI_COMM_WORLD_", "OMPI_APP_CTX_", "OMPI_MCA_orte_", "OMPI_MCA_ess", "OMPI_MCA_pmix", "OMPI_MCA_prte_", "PRTE_MCA_prte_",
		"PRTE_MCA_ess", "PMIX_SERVER_", "PMIX_DSTORE_", "PMI_", "PMI2_", "HYDI_", "MPI_LOCAL", "HYDRA_USER_PROVIDED_BINDING", "PALS_", "FAKEMPI_RANK", "FAKEMPI_SIZE",
		"FAKEMPI_JOB", "SLURM_STEP_", "SLURM_SRUN_COMM_",
	}
	ownedNames = map[string]bool{
		"OMPI_COMMAND": true, "OMPI_ARGV": true, "OMPI_FILE_LOCATION": true, "OMPI_FIRST_RANKS": true, "OMPI_NUM_APP_CTX": true,
		"OMPI_UNIVERSE_SIZE": true, "OMPI_VERSION": true, "PRTE_LAUNCHED": true,
		"OMPI_MCA_PREFIXES": true, "OMPI_MCA_mca_base_component_path": true, "OMPI_LIBDIR_LOC": true, "OMPI_TOOL_NAME": true,
		"OMPI_WORLD_SIZE": true, "OMPI_WORLD_LOCAL_SIZE": true, "PRTE_SHARED_FS": true, "PMIX_PARAM_FILE_PASSED": true,
		"OMPI_MCA_initial_wdir": true, "OMPI_MCA_num_procs": true, "OMPI_MCA_app_num": true, "OMPI_MCA_cpu_type": true,
		"OMPI_MCA_mpi_oversubscribe": true, "OMPI_MCA_rmaps_base_oversubscribe": true,
		"OMPI_MCA_shmem_RUNTIME_QUERY_hint": true, "PMIX_MCA_mca_base_component_show_load_errors": true,
		"PMIX_RANK": true, "PMIX_ID": true, "PMIX_NAMESPACE": true, "PMIX_HOSTNAME": true, "PMIX_VERSION": true,
		"PMIX_GDS_MODULE": true, "PMIX_SECURITY_MODE": true, "PMIX_BFROP_BUFFER_TYPE": true, "PMIX_SYSTEM_TMPDIR": true,
		"PMIX_KEEPALIVE_PIPE":              true,
		"MPIR_CVAR_CH3_INTERFACE_HOSTNAME": true,
		"SLURM_STEPID":                     true, "SLURM_PROCID": true, "SLURM_LOCALID": true, "SLURM_TASK_PID": true, "SLURM_GTIDS": true,
		"SLURM_LAUNCH_NODE_IPADDR": true,
		"HFI_NO_BACKTRACE":         true, "IPATH_NO_BACKTRACE": true,
	}
)

// OwnedByLauncher reports whether launchers set this environment variable for their processes. The value decides in one
// case: --map-by :OVERSUBSCRIBE, which mpitx -n passes itself.
func OwnedByLauncher(name, value string) bool {
	if ownedNames[name] {
		return true
	}
	if name == mappingPolicy {
		return value == ":OVERSUBSCRIBE"
	}
	for _, p := range ownedPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
