package settings

import (
	"cmp"
	"fmt"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/text"
)

// HowToSet is how control variables get values for the next run: the line for the shell's environment, the launcher's option, and where
// there is one the line for a parameter file, with values as the implementation reads them there. Lines that what sets a variable now
// (its Origin) would override are left out. It is empty where no such way is known, or the library would refuse a value; without a
// value, VALUE stands for one. The lines hold only what the terminal shows, so that they are printed as they are: escaped once more, they
// would set another value. launcher is the command of the launcher; "" is the usual one.
func HowToSet(impl, launcher string, all []Assignment, charset text.Charset) (lines []string) {
	var by [forms][]string
	for _, a := range all {
		for form, s := range waysToSet(impl, a, charset.Quote).text {
			if s != "" {
				by[form] = append(by[form], s)
			}
		}
	}
	has := func(form Form) bool { return len(all) > 0 && len(by[form]) == len(all) }
	if has(Script) {
		line := "export"
		for _, s := range by[Script] {
			line += strings.TrimPrefix(s, "export")
		}
		lines = append(lines, line)
	}
	if has(Options) {
		usual, more := "mpirun", "..."
		if impl == machine.MPICH {
			usual = "mpiexec"
		}
		if charset == text.UTF8 {
			more = "…"
		}
		lines = append(lines, charset.Quote(cmp.Or(launcher, usual))+" "+strings.Join(by[Options], " ")+" "+more)
	}
	if has(File) {
		words := "echo"
		if len(all) > 1 {
			words = `printf '%s\n'`
		}
		for _, s := range by[File] {
			words += " " + charset.Quote(s)
		}
		lines = append(lines, words+" >> ~/.openmpi/mca-params.conf")
	}
	return lines
}

// Variable is the environment variable that sets a control variable before MPI_Init. It fails for other libraries than
// Open MPI and MPICH, and for MPICH's variables that the environment does not set.
func Variable(impl, cvar string) (string, error) {
	err := &machine.Error{What: "--set " + cvar, Why: "mpitx does not know how this MPI reads settings from the environment", Do: "try --set-after", Usage: true}
	switch {
	case impl == machine.OpenMPI:
		return "OMPI_MCA_" + cvar, nil
	case impl == machine.MPICH && strings.HasPrefix(cvar, "MPIR_CVAR_"):
		return cvar, nil
	case impl == machine.MPICH:
		err.Why = machine.FamilyName(impl) + " takes settings from the environment for variables named MPIR_CVAR_… only"
	}
	return "", err
}

// Environ are the environment variables that set control variables before MPI_Init, as far as the MPI reads them from there.
func Environ(impl string, set []NameValue) (environ []string) {
	for _, v := range set {
		if name, err := Variable(impl, v.Name); err == nil {
			environ = append(environ, name+"="+v.Value)
		}
	}
	return environ
}

// Overridden reports that LD_LIBRARY_PATH makes programs load another library than the chosen one; "" if it does not.
// want is the value of --mpi.
func Overridden(e *machine.Env, m machine.MPI, want string) string {
	other := e.Overridden(m, want)
	if other == "" {
		return ""
	}
	return fmt.Sprintf("LD_LIBRARY_PATH makes programs load %s, but mpitx reads %s (%s); use --mpi %s, or change LD_LIBRARY_PATH", other, m.Lib, m.Why, text.Quote(other))
}

// launcherSets are the control variables that launchers set for each process: the user's setting is overwritten
// (measured with `mpirun --mca NAME 77 env`), or prevents the launcher from starting.
var launcherSets = map[string]map[string]bool{
	machine.OpenMPI: set(`ess ess_base_jobid ess_base_vpid initial_wdir mpi_oversubscribe orte_app_num orte_bound_at_launch orte_ess_jobid orte_ess_node_rank
		orte_ess_num_procs orte_ess_vpid orte_hnp_uri orte_launch orte_local_daemon_uri orte_num_nodes orte_precondition_transports pmix
		shmem_RUNTIME_QUERY_hint`),
	machine.MPICH: set("MPIR_CVAR_CH3_INTERFACE_HOSTNAME"),
}

// computed are control variables whose value the library computes, although their scope does not say that it is constant.
var computed = map[string]map[string]bool{machine.Demo: set("demo_rank demo_uptime")}

// overrideFile is Open MPI's parameter file that overrides the environment and the launcher's options.
const overrideFile = "openmpi-mca-params-override.conf"

// Fixed explains why a user's setting has no effect on a control variable; "" for others.
func Fixed(impl string, v *catalog.Variable) string {
	switch {
	case launcherSets[impl][v.Name]:
		return "the launcher sets it for each process"
	case computed[impl][v.Name]:
		return "the library computes it"
	case impl == machine.OpenMPI && v.Origin != nil && strings.Contains(v.Origin.Where, overrideFile):
		return v.Origin.Where + " stands above all other settings; change it there"
	}
	return ""
}

// shellName matches the names of shell variables, unlike btl_tcp_bandwidth_eth0:0.
var shellName = lazily(`^[A-Za-z0-9_]+$`)
