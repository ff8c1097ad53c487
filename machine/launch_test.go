package machine

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestLauncher(t *testing.T) {
	none := Launch{Rank: -1, Size: -1, LocalRank: -1, LocalSize: -1}
	for name, c := range map[string]struct {
		environ string
		want    Launch
	}{
		"none":                               {"", none},
		"orte":                               {"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_MCA_orte_hnp_uri=x PMIX_RANK=3", Launch{Name: "orte", Family: OpenMPI, Rank: 3, Size: 4, LocalRank: 1, LocalSize: 2}},
		"prrte":                              {"OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0", Launch{Name: "prrte", Family: OpenMPI, Rank: 0, Size: 4, LocalRank: -1, LocalSize: -1}},
		"hydra":                              {"PMI_RANK=1 PMI_SIZE=2 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 HYDI_CONTROL_FD=7", Launch{Name: "hydra", Family: MPICH, Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2}},
		"srun":                               {"SLURM_JOB_ID=1 SLURM_NTASKS=8 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=2 SLURM_LOCALID=0 SLURM_STEP_LAUNCHER_PORT=9 PMI_RANK=2 PMI_SIZE=4", Launch{Name: "slurm", Rank: 2, Size: 4, LocalRank: 0, LocalSize: -1}},
		"a batch script, a whole allocation": {"SLURM_JOB_ID=1 SLURM_NTASKS=8 SLURM_NPROCS=8 SLURM_PROCID=0 SLURM_LOCALID=0", none},
		"mpirun whose daemons srun started":  {"SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_LAUNCHER_PORT=9 OMPI_COMM_WORLD_SIZE=64 OMPI_COMM_WORLD_RANK=5", Launch{Name: "prrte", Family: OpenMPI, Rank: 5, Size: 64, LocalRank: -1, LocalSize: -1}},
		"another PMI":                        {"PMI_RANK=1 PMI_SIZE=2", Launch{Name: "pmi", Rank: 1, Size: 2, LocalRank: -1, LocalSize: -1}},
		"another PMIx":                       {"PMIX_RANK=1 PMIX_NAMESPACE=n", Launch{Name: "pmix", Rank: 1, Size: -1, LocalRank: -1, LocalSize: -1}},
		"demo":                               {"FAKEMPI_RANK=1 FAKEMPI_SIZE=2 PMI_RANK=0 PMI_SIZE=1", Launch{Name: "demo", Family: Demo, Rank: 1, Size: 2, LocalRank: 1, LocalSize: 2}},
		"garbage":                            {"OMPI_COMM_WORLD_SIZE=-3 OMPI_COMM_WORLD_RANK=x", Launch{Name: "prrte", Family: OpenMPI, Rank: -1, Size: -1, LocalRank: -1, LocalSize: -1}},
	} {
		e := &Env{Environ: strings.Fields(c.environ), Root: t.TempDir()}
		if got := e.Launcher(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// If one launcher runs inside another, the inner one started this process.
func TestNestedLaunchers(t *testing.T) {
	tr := newTree(t, "OMPI_COMM_WORLD_SIZE=1", "PMI_RANK=0", "PMI_SIZE=4", "HYDI_CONTROL_FD=7")
	tr.process(1000, 900, "/bin/mpitx")
	tr.process(900, 850, "/usr/bin/hydra_pmi_proxy")
	tr.process(850, 800, "/usr/bin/mpiexec.hydra")
	tr.process(800, 1, "/usr/bin/orterun")
	if l := tr.env.Launcher(); l.Name != "hydra" || l.Size != 4 || l.Exe != "/usr/bin/mpiexec.hydra" || l.PID != 850 {
		t.Errorf("%+v", l)
	}
}

func TestLaunchCommand(t *testing.T) {
	program := []string{"/bin/mpitx", "list"}
	openmpi := MPI{Family: OpenMPI, Impl: OpenMPI, Launcher: "/usr/bin/mpirun"}
	mpich := MPI{Family: MPICH, Impl: MPICH, Launcher: "/usr/bin/mpiexec.hydra"}
	for name, c := range map[string]struct {
		m       MPI
		uid     int
		environ string
		argv    string
		env     string
	}{
		"Open MPI":         {openmpi, 1000, "A=1", "/usr/bin/mpirun --map-by :OVERSUBSCRIBE -n 4 /bin/mpitx list", "A=1"},
		"Open MPI as root": {openmpi, 0, "A=1", "/usr/bin/mpirun --map-by :OVERSUBSCRIBE -n 4 /bin/mpitx list", "A=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		"the user's mapping policy stays": {openmpi, 1000, "OMPI_MCA_rmaps_base_mapping_policy=node", "/usr/bin/mpirun --oversubscribe -n 4 /bin/mpitx list",
			"OMPI_MCA_rmaps_base_mapping_policy=node"},
		"the policy of another mpitx goes": {openmpi, 1000, "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 OMPI_MCA_rmaps_base_mapping_policy=:OVERSUBSCRIBE",
			"/usr/bin/mpirun --map-by :OVERSUBSCRIBE -n 4 /bin/mpitx list", ""},
		"MPICH": {mpich, 0, "A=1", "/usr/bin/mpiexec.hydra -n 4 /bin/mpitx list", "A=1"},
		"demo":  {MPI{Family: Demo}, 0, "FAKEMPI_RANK=0 FAKEMPI_FAULTS=x FAKEMPI_SIZE=2", SelfLaunch + " 4 /bin/mpitx list", "FAKEMPI_FAULTS=x"},
		"the user's own stays": {openmpi, 1, "OMPI_MCA_btl=self OMPI_MCA_mpi_oversubscribe=1 PMIX_MCA_gds=hash SLURM_JOB_ID=3 HYDRA_HOST_FILE=h OPAL_PREFIX=/x MPIR_CVAR_A=1",
			"/usr/bin/mpirun --map-by :OVERSUBSCRIBE -n 4 /bin/mpitx list", "OMPI_MCA_btl=self OMPI_MCA_mpi_oversubscribe=1 PMIX_MCA_gds=hash SLURM_JOB_ID=3 HYDRA_HOST_FILE=h OPAL_PREFIX=/x MPIR_CVAR_A=1"},
		"an inherited job goes": {mpich, 1, "OMPI_COMM_WORLD_SIZE=2 OMPI_MCA_btl=self OMPI_MCA_ess=pmi OMPI_MCA_orte_hnp_uri=u OMPI_MCA_mpi_oversubscribe=1 PMIX_RANK=0 PMIX_SERVER_URI41=u PMI_FD=6 HYDI_CONTROL_FD=7 MPI_LOCALNRANKS=2 SLURM_STEP_ID=0 SLURM_PROCID=1 MPIR_CVAR_CH3_INTERFACE_HOSTNAME=h",
			"/usr/bin/mpiexec.hydra -n 4 /bin/mpitx list", "OMPI_MCA_btl=self"},
	} {
		e := &Env{Environ: strings.Fields(c.environ), UID: c.uid, Root: t.TempDir()}
		argv, environ, err := e.LaunchCommand(c.m, 4, program)
		if err != nil || strings.Join(argv, " ") != c.argv || strings.Join(environ, " ") != c.env {
			t.Errorf("%s: %q %q %v", name, argv, environ, err)
		}
	}
}

// Options of settings stand in front of the program. Open MPI's mapping allows more ranks than cores, as without them.
func TestLaunchOptions(t *testing.T) {
	for _, c := range []struct {
		m             MPI
		options, argv string
	}{
		{MPI{Impl: OpenMPI, Launcher: "/r"}, "--bind-to core", "/r --map-by :OVERSUBSCRIBE -n 2 --bind-to core p"},
		{MPI{Impl: OpenMPI, Launcher: "/r"}, "--bind-to none --map-by numa", "/r --map-by numa:OVERSUBSCRIBE -n 2 --bind-to none p"},
		{MPI{Impl: OpenMPI, Launcher: "/r"}, "--map-by core:PE=2", "/r --map-by core:PE=2,OVERSUBSCRIBE -n 2 p"},
		{MPI{Impl: OpenMPI, Launcher: "/r"}, "--map-by ppr:2:node", "/r --map-by ppr:2:node:OVERSUBSCRIBE -n 2 p"},
		{MPI{Impl: MPICH, Launcher: "/r"}, "-bind-to core -map-by numa", "/r -n 2 -bind-to core -map-by numa p"},
	} {
		e := &Env{Root: t.TempDir(), UID: 1, Environ: []string{"OMPI_MCA_rmaps_base_mapping_policy=node"}}
		if !strings.Contains(c.options, "--map-by") {
			e.Environ = nil
		}
		options := strings.Fields(c.options)
		argv, _, err := e.LaunchCommand(c.m, 2, []string{"p"}, options...)
		if got := strings.Join(argv, " "); err != nil || got != c.argv || strings.Join(options, " ") != c.options {
			t.Errorf("%s: %s, %v", c.options, got, err)
		}
		for k := 0; k < len(options); k += 2 {
			if !slices.Contains(LaunchOptions(c.m), options[k]) {
				t.Errorf("%s is not an option of %s", options[k], c.m.Impl)
			}
		}
	}
	if got := LaunchOptions(MPI{Impl: OpenMPI}); got != nil {
		t.Errorf("without a launcher: %q", got)
	}
}

// The demo MPI takes as many ranks as its C code says.
func TestDemoRanks(t *testing.T) {
	header, err := os.ReadFile("../fixtures/fakempi/internal.h")
	if err != nil || !strings.Contains(string(header), fmt.Sprintf("#define FAKEMPI_MAX_SIZE %d\n", DemoRanks)) {
		t.Errorf("FAKEMPI_MAX_SIZE is not %d: %v", DemoRanks, err)
	}
	e := &Env{}
	if _, _, err := e.LaunchCommand(MPI{Family: Demo}, DemoRanks, []string{"p"}); err != nil {
		t.Error(err)
	}
	_, _, err = e.LaunchCommand(MPI{Family: Demo}, DemoRanks+1, []string{"p"})
	if own, ok := err.(*Error); !ok || !own.Usage || err.Error() != "-n 1025: the demo MPI has at most 1024 ranks; name fewer" {
		t.Errorf("%v", err)
	}
}

func TestLaunchCommandWithoutMpirun(t *testing.T) {
	tr := newTree(t, "PATH=/usr/bin", "SLURM_JOB_ID=1")
	tr.exe("/usr/bin/srun")
	for m, mpi := range map[MPI]string{
		{Family: OpenMPI, Impl: OpenMPI}:                                 "--mpi=pmix",
		{Family: MPICH, Impl: MPICH, Lib: "/x/lib/libmpi.so.12"}:         "--mpi=pmi2",
		{Family: MPICH, Impl: MPICH, Lib: "/x/lib/libmpi_gnu_123.so.12"}: "--mpi=pmi2",
		{Family: MPICH, Impl: MPICH, Lib: "/opt/cray/libmpi_cray.so.12"}: "",
	} {
		argv, _, err := tr.env.LaunchCommand(m, 2, []string{"p"})
		if err != nil || argv[0] != "/usr/bin/srun" || mpi != "" && !slices.Contains(argv, mpi) || mpi == "" && strings.Contains(strings.Join(argv, " "), "--mpi") {
			t.Errorf("%+v: %q, %v", m, argv, err)
		}
	}
	tr.env.Environ = nil
	if _, _, err := tr.env.LaunchCommand(MPI{Family: MPICH, Impl: MPICH, Launcher: "/m"}, 2, []string{"p", "--dir", ":"}); err == nil || !strings.Contains(err.Error(), "colon") {
		t.Errorf("a colon of its own: %v", err)
	}
	_, _, err := tr.env.LaunchCommand(MPI{Family: MPICH, Impl: MPICH, Prefix: "/x"}, 2, []string{"p"})
	if err == nil || !strings.Contains(err.Error(), "no mpirun or mpiexec of MPICH is in /x/bin") {
		t.Error(err)
	}
}

func TestMismatch(t *testing.T) {
	orte := Launch{Name: "orte", Family: OpenMPI, Size: 4, Exe: "/usr/bin/orterun"}
	mpich := MPI{Family: MPICH, Impl: MPICH, Lib: "/l/libmpich.so.12", Launcher: "/usr/bin/mpirun.mpich"}
	openmpi := MPI{Family: OpenMPI, Impl: OpenMPI, Lib: "/l/libmpi.so.40"}
	for name, c := range map[string]struct {
		l    Launch
		m    MPI
		size int
		says string // "": no mismatch
	}{
		"matches":         {orte, openmpi, 4, ""},
		"one process":     {Launch{Name: "orte", Size: 1}, openmpi, 1, ""},
		"no launcher":     {Launch{Size: -1}, openmpi, 1, ""},
		"wrong family":    {orte, mpich, 1, "the 4 processes that Open MPI's mpirun (/usr/bin/orterun) started are not one job: each has MPI_Comm_size 1: the library is MPICH (/l/libmpich.so.12); start them with /usr/bin/mpirun.mpich, or read the launcher's own library with --mpi openmpi"},
		"wrong version":   {orte, openmpi, 1, "different installations"},
		"srun, Open MPI":  {Launch{Name: "slurm", Size: 4}, openmpi, 1, "srun --mpi=pmix"},
		"srun, MPICH":     {Launch{Name: "slurm", Size: 4}, mpich, 1, "srun --mpi=pmi2"},
		"another starter": {Launch{Name: "pmix", Size: 4}, mpich, 1, "does not work with this launcher"},
	} {
		err := Mismatch(c.l, c.m, c.size, false)
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInitFailed(t *testing.T) {
	orte := Launch{Name: "prrte", Family: OpenMPI, Size: 2, Exe: "/usr/bin/prte"}
	err := InitFailed(orte, MPI{Family: MPICH, Impl: MPICH, Lib: "/l/libmpich.so.12", Launcher: "/usr/bin/mpirun.mpich"}, "exited with code 16")
	want := "MPI_Init of MPICH (/l/libmpich.so.12) fails under Open MPI's mpirun (/usr/bin/prte): exited with code 16; start mpitx with /usr/bin/mpirun.mpich, or read the launcher's own library with --mpi openmpi"
	if err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
	if err := InitFailed(orte, MPI{Family: OpenMPI, Impl: OpenMPI}, ""); err != nil {
		t.Errorf("its own launcher: %v", err)
	}
	if got, want := WrongLauncher(orte, MPI{Impl: MPICH, Launcher: "/usr/bin/mpirun.mpich"}), "it was started by Open MPI's mpirun (/usr/bin/prte); start it with /usr/bin/mpirun.mpich"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got := WrongLauncher(orte, MPI{Impl: OpenMPI}); got != "" {
		t.Errorf("its own launcher: %s", got)
	}
}

func TestCompilerOfABI(t *testing.T) {
	tr := debian(t, "HOME=/home/u")
	lib := "/usr/lib/x86_64-linux-gnu/"
	for impl, header := range map[string]string{OpenMPI: "openmpi/include/standard_abi/mpi.h", MPICH: "mpich/include/mpi_abi.h"} {
		file := lib + "libmpi_abi_" + impl + ".so.1.0.0"
		tr.lib(file, "libmpi_abi.so.1")
		m, _ := tr.env.inspect(file)
		if cc := tr.env.Compiler(m); cc != "" {
			t.Errorf("%s without a header: %s", impl, cc)
		}
		tr.write(lib+header, nil, 0o644)
		if cc, want := tr.env.Compiler(m), "cc -DMPI_ABI -I"+path.Dir(lib+header)+" -Wl,--no-as-needed -L"+strings.TrimSuffix(lib, "/")+" -l:libmpi_abi_"+impl+".so.1.0.0"; cc != want {
			t.Errorf("%s: %s, not %s", impl, cc, want)
		}
		if got := tr.env.SetupCommand(m); got != "mpitx setup --mpi abi" {
			t.Errorf("%s: %s", impl, got)
		}
		os.Remove(tr.env.File(lib + header)) // one header serves both: each is tested alone
	}
}

func TestShim(t *testing.T) {
	tr := debian(t, "HOME=/home/u")
	tr.exe("/usr/bin/mpicc.openmpi")
	m := MPI{Family: OpenMPI, Impl: OpenMPI}
	_, err := tr.env.Shim(m, "/x/bin")
	for _, says := range []string{"mpitx-shim-openmpi.so is not in /x/bin, /x/lib/mpitx, /home/u/.local/share/mpitx/amd64", "mpitx setup --mpicc mpicc.openmpi"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	for _, dir := range []string{"/home/u/.local/share/mpitx/amd64", "/x/lib/mpitx", "/x/bin"} {
		tr.write(dir+"/mpitx-shim-openmpi.so", nil, 0o644)
		if p, err := tr.env.Shim(m, "/x/bin"); err != nil || p != dir+"/mpitx-shim-openmpi.so" {
			t.Errorf("%s, %v; want it in %s", p, err, dir)
		}
	}
	if p, err := tr.env.Shim(MPI{Family: Demo}, "/x"); p != "" || err != nil {
		t.Errorf("demo: %s, %v", p, err)
	}
}
