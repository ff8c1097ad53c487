package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/fixtures/mutate"
	"mpitx/machine"
	"mpitx/text"
)

// machine is an Env on a file system of its own, with a launcher as the parent if cmdline is given.
func testMachine(t *testing.T, environ []string, launcherEnviron []string, cmdline ...string) *machine.Env {
	e := &machine.Env{Environ: environ, Root: t.TempDir(), PID: 20, Arch: "amd64"}
	write(t, e, "/proc/20/stat", "20 (mpitx) S 10 1")
	if len(cmdline) > 0 {
		write(t, e, "/proc/10/stat", "10 (launcher) S 1 1")
		write(t, e, "/proc/10/cmdline", strings.Join(cmdline, "\x00")+"\x00")
		write(t, e, "/proc/10/environ", strings.Join(launcherEnviron, "\x00")+"\x00")
		exe := "/usr/bin/orterun"
		if strings.HasPrefix(cmdline[0], "mpiexec") {
			exe = "/usr/bin/mpiexec.hydra"
		}
		if cmdline[0] == "prterun" {
			exe = "/usr/bin/prterun"
		}
		if err := os.Symlink(exe, e.File("/proc/10/exe")); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	return e
}

func write(t *testing.T, e *machine.Env, path, text string) {
	t.Helper()
	path = e.File(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, got map[string]catalog.Origin, want map[string]catalog.Origin) {
	t.Helper()
	for name, o := range want {
		if got[name] != o {
			t.Errorf("%s: %+v, want %+v", name, got[name], o)
		}
	}
	for name, o := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s should have no origin: %+v", name, o)
		}
	}
}

// underMpirun is what mpirun of Open MPI 4.1 sets itself (measured), in addition to options and the user's settings.
var underMpirun = strings.Fields(`OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 OMPI_MCA_orte_ess_num_procs=2 OMPI_MCA_ess=^singleton
	OMPI_MCA_pmix=^s1,s2,cray,isolated OMPI_MCA_mpi_oversubscribe=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_initial_wdir=/tmp
	OMPI_MCA_shmem_RUNTIME_QUERY_hint=mmap OMPI_MCA_rmaps_base_mapping_policy=:OVERSUBSCRIBE`)

var openmpiNames = strings.Fields(`btl btl_tcp_rndv btl_tcp_links btl_tcp_if_include btl_tcp_eager_limit mpi_oversubscribe rmaps_base_oversubscribe
	rmaps_base_mapping_policy shmem_RUNTIME_QUERY_hint orte_ess_num_procs pmix ess coll mca_base_envar_file_prefix pml btl_tcp_dos`)

func TestOpenMPI(t *testing.T) {
	own := []string{"OMPI_MCA_btl_tcp_links=4", "OMPI_MCA_btl_tcp_lnks=5", "OMPI_MCA_plm_rsh_agent=ssh", "HOME=/home/u"}
	environ := append(append([]string{
		"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=a b", "OMPI_MCA_coll=^tuned",
		"OMPI_MCA_mca_base_envar_file_prefix=/t.conf", "OMPI_MCA_btl_x=3",
	}, own...), underMpirun...)
	e := testMachine(t, environ, own, "mpirun", "--map-by", ":OVERSUBSCRIBE", "-n", "1", "--mca", "btl", "self,tcp", "-x", "OMPI_MCA_btl_tcp_if_include=a b",
		"-x", "OMPI_MCA_btl_tcp_links", "--tune", "/t.conf", "--mca", "btl_x", "3", "prog", "--mca", "pml", "ucx", ":", "-n", "1", "--gmca", "coll", "^tuned", "other")
	write(t, e, "/t.conf", "# a tune file\n-mca btl_tcp_eager_limit \"70000\" -x A=1\n")
	write(t, e, "/home/u/.openmpi/mca-params.conf", "pml = ob1\nbtl = none\nbtl_tcp_eager_limit = 1\npml = cm # not a comment\n/* btl_tcp_links = 3\nbtl_tcp_links = 4\n*/ --mca btl_tcp_rndv 7\n/* */\nbtl_tcp_dos = lo \r\n\r\n")
	a := Find(Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: openmpiNames, Value: func(n string) string {
		return map[string]string{"mca_base_envar_file_prefix": "/t.conf"}[n]
	}})
	check(t, a.Set, map[string]catalog.Origin{
		"btl":                        {Kind: catalog.OriginLauncher, Where: "mpirun --mca btl self,tcp", Value: "self,tcp"},
		"btl_tcp_if_include":         {Kind: catalog.OriginLauncher, Where: "mpirun -x 'OMPI_MCA_btl_tcp_if_include=a b'", Value: "a b"},
		"btl_tcp_links":              {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl_tcp_links", Value: "4"},
		"coll":                       {Kind: catalog.OriginLauncher, Where: "mpirun --gmca coll '^tuned'", Value: "^tuned"},
		"mca_base_envar_file_prefix": {Kind: catalog.OriginLauncher, Where: "mpirun --tune /t.conf", Value: "/t.conf"},
		"btl_tcp_eager_limit":        {Kind: catalog.OriginFile, Where: "/t.conf:2", Value: "70000"},
		"pml":                        {Kind: catalog.OriginFile, Where: "/home/u/.openmpi/mca-params.conf:4", Value: "cm # not a comment"},
		"btl_tcp_rndv":               {Kind: catalog.OriginFile, Where: "/home/u/.openmpi/mca-params.conf:7", Value: "7"},
		"btl_tcp_dos":                {Kind: catalog.OriginFile, Where: "/home/u/.openmpi/mca-params.conf:9", Value: "lo \r"},
	})
	var names []string
	for _, s := range a.Unknown {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "btl_tcp_lnks btl_x" {
		t.Errorf("unknown: %s", got)
	}
}

// Options that stand for a parameter are options, not the environment that they arrive in.
func TestOpenMPIOptions(t *testing.T) {
	environ := append(strings.Fields("OMPI_MCA_hwloc_base_binding_policy=core OMPI_MCA_hwloc_base_use_hwthreads_as_cpus=1 OMPI_MCA_btl=self HOME=/h"), underMpirun...)
	e := testMachine(t, environ, []string{"HOME=/h"}, "mpirun", "--bind-to", "core", "--use-hwthread-cpus", "--mca", "btl", "self", "-n", "1", "prog")
	a := Find(Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: []string{"hwloc_base_binding_policy", "hwloc_base_use_hwthreads_as_cpus", "btl"}})
	check(t, a.Set, map[string]catalog.Origin{
		"hwloc_base_binding_policy":        {Kind: catalog.OriginLauncher, Where: "mpirun --bind-to core", Value: "core"},
		"hwloc_base_use_hwthreads_as_cpus": {Kind: catalog.OriginLauncher, Where: "mpirun --use-hwthread-cpus", Value: "1"},
		"btl":                              {Kind: catalog.OriginLauncher, Where: "mpirun --mca btl self", Value: "self"},
	})
}

// If a wrapper between the launcher and the process sets another value than the launcher's option, the environment set it. What the
// option asked the launcher for, it did.
func TestReplacedOptions(t *testing.T) {
	environ := append(strings.Fields("OMPI_MCA_hwloc_base_binding_policy=core OMPI_MCA_btl_tcp_links=5 OMPI_MCA_btl=self,tcp HOME=/h"), underMpirun...)
	e := testMachine(t, environ, []string{"HOME=/h"}, "mpirun", "--bind-to", "none", "--mca", "btl_tcp_links", "3", "--mca", "btl", `"self,tcp"`, "-n", "1", "sh")
	q := Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: []string{"hwloc_base_binding_policy", "btl_tcp_links", "btl"}}
	check(t, Find(q).Set, map[string]catalog.Origin{
		"hwloc_base_binding_policy": {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_hwloc_base_binding_policy", Value: "core"},
		"btl_tcp_links":             {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl_tcp_links", Value: "5"},
		"btl":                       {Kind: catalog.OriginLauncher, Where: `mpirun --mca btl '"self,tcp"'`, Value: "self,tcp"},
	})
	if !slices.ContainsFunc(Influences(q), func(i Influence) bool { return i.Name == "--bind-to" && i.Value == "none" }) {
		t.Errorf("%+v", Influences(q))
	}
	e = testMachine(t, strings.Fields("PMI_RANK=0 PMI_SIZE=2 PMI_FD=9 HYDI_CONTROL_FD=8 MPIR_CVAR_A=2 MPIR_CVAR_B=2"), nil,
		"mpiexec", "-genv", "MPIR_CVAR_A", "1", "-genv", "MPIR_CVAR_B", "1", "-env", "MPIR_CVAR_B", "2", "sh")
	check(t, Find(Query{Env: e, Impl: machine.MPICH, Names: []string{"MPIR_CVAR_A", "MPIR_CVAR_B"}}).Set, map[string]catalog.Origin{
		"MPIR_CVAR_A": {Kind: catalog.OriginEnvironment, Where: "MPIR_CVAR_A", Value: "2"},
		"MPIR_CVAR_B": {Kind: catalog.OriginLauncher, Where: "mpiexec -env MPIR_CVAR_B 2", Value: "2"},
	})
}

// Another rank's settings replace those of this process's environment. What launchers set by themselves, for each rank, is not sent.
func TestSettingsOfRanks(t *testing.T) {
	e := testMachine(t, append([]string{"OMPI_MCA_btl_tcp_links=3", "OMPI_MCA_pml=ob1", "HOME=/h"}, underMpirun...), []string{"OMPI_MCA_pml=ob1"}, "mpirun", "-n", "1",
		"-x", "OMPI_MCA_btl_tcp_links=3", "a", ":", "-n", "1", "-x", "OMPI_MCA_btl_tcp_links=4", "a")
	q := Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: openmpiNames}
	if got := strings.Join(q.Settings(e.Environ), " "); got != "OMPI_MCA_btl_tcp_links=3 OMPI_MCA_pml=ob1" {
		t.Errorf("sent: %s", got)
	}
	check(t, Find(q.On([]string{"OMPI_MCA_btl_tcp_links=4", "OMPI_MCA_btl=self"})).Set, map[string]catalog.Origin{
		"btl_tcp_links": {Kind: catalog.OriginLauncher, Where: "mpirun -x OMPI_MCA_btl_tcp_links=4", Value: "4"},
		"btl":           {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl", Value: "self"},
	})
	check(t, Find(q.On(nil)).Set, nil)
	check(t, Find(q).Set, map[string]catalog.Origin{
		"btl_tcp_links": {Kind: catalog.OriginLauncher, Where: "mpirun -x OMPI_MCA_btl_tcp_links=3", Value: "3"},
		"pml":           {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_pml", Value: "ob1"},
	})
}

// On nodes other than mpirun's, only the table shows which variables the launcher sets.
func TestLauncherElsewhere(t *testing.T) {
	e := testMachine(t, append([]string{"OMPI_MCA_btl=self"}, underMpirun...), nil)
	a := Find(Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames})
	check(t, a.Set, map[string]catalog.Origin{"btl": {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_btl", Value: "self"}})
	if len(a.Unknown) != 0 {
		t.Errorf("%+v", a.Unknown)
	}
}

// Without a launcher, and where the user set them, the names that launchers use are the user's.
func TestLaunchersNamesSetByUser(t *testing.T) {
	want := map[string]catalog.Origin{"mpi_oversubscribe": {Kind: catalog.OriginEnvironment, Where: "OMPI_MCA_mpi_oversubscribe", Value: "1"}}
	e := testMachine(t, []string{"OMPI_MCA_mpi_oversubscribe=1"}, nil)
	check(t, Find(Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames}).Set, want)
	e = testMachine(t, underMpirun, []string{"OMPI_MCA_mpi_oversubscribe=1"}, "mpirun", "-n", "2", "prog")
	check(t, Find(Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames}).Set, want)
}

func TestFilesOfOpenMPI(t *testing.T) {
	e := testMachine(t, []string{"OMPI_MCA_btl=env"}, nil)
	write(t, e, "/a", "// comment\n  btl_tcp_links=1\nbtl_tcp_links = 2\nnot a line\nbtl_tcp_if_include = \"x y\"\n = 3\nbtl=a\nbad name = 3")
	write(t, e, "/b", "btl_tcp_links=3\npml = ob1")
	write(t, e, "/o", "btl = override\n")
	a := Find(Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames, Value: func(n string) string {
		return map[string]string{"mca_base_param_files": "/a,/b,/c", "mca_base_override_param_file": "/o"}[n]
	}})
	check(t, a.Set, map[string]catalog.Origin{
		"btl_tcp_links":      {Kind: catalog.OriginFile, Where: "/a:3", Value: "2"},
		"btl_tcp_if_include": {Kind: catalog.OriginFile, Where: "/a:5", Value: `"x y"`},
		"pml":                {Kind: catalog.OriginFile, Where: "/b:2", Value: "ob1"},
		"btl":                {Kind: catalog.OriginFile, Where: "/o:1", Value: "override"},
	})
}

func TestMPICH(t *testing.T) {
	environ := strings.Fields("PMI_RANK=0 PMI_SIZE=2 HYDI_CONTROL_FD=7 MPIR_CVAR_CH3_INTERFACE_HOSTNAME=h MPIR_CVAR_A=1 MPIR_CVAR_B=2 MPICH_C=3 MPICH_B=9 MPIR_PARAM_D=4 MPIR_CVAR_TYPO=5 MPICH_OTHER=6 MPIR_CVAR_E=x=y")
	e := testMachine(t, environ, nil, "mpiexec", "-genv", "MPIR_CVAR_A=1", "-n", "2", "-env", "MPIR_CVAR_B", "2", "-genv", "MPIR_CVAR_E", "x=y", "prog", "-env", "MPIR_PARAM_D", "4")
	a := Find(Query{Env: e, Impl: machine.MPICH, Names: strings.Fields("MPIR_CVAR_A MPIR_CVAR_B MPIR_CVAR_C MPIR_CVAR_D MPIR_CVAR_E MPIR_CVAR_CH3_INTERFACE_HOSTNAME")})
	check(t, a.Set, map[string]catalog.Origin{
		"MPIR_CVAR_A": {Kind: catalog.OriginLauncher, Where: "mpiexec -genv MPIR_CVAR_A=1", Value: "1"},
		"MPIR_CVAR_B": {Kind: catalog.OriginLauncher, Where: "mpiexec -env MPIR_CVAR_B 2", Value: "2"},
		"MPIR_CVAR_C": {Kind: catalog.OriginEnvironment, Where: "MPICH_C", Value: "3"},
		"MPIR_CVAR_D": {Kind: catalog.OriginEnvironment, Where: "MPIR_PARAM_D", Value: "4"},
		"MPIR_CVAR_E": {Kind: catalog.OriginLauncher, Where: "mpiexec -genv MPIR_CVAR_E x=y", Value: "x=y"},
	})
	if len(a.Unknown) != 1 || a.Unknown[0].Name != "MPIR_CVAR_TYPO" {
		t.Errorf("%+v", a.Unknown)
	}
}

// Variables that PRRTE sets itself are not reported as misspelt. Variables that the user gave it are.
func TestPRRTE(t *testing.T) {
	own := []string{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0", "OMPI_MCA_prterun_added=1", "OMPI_MCA_btl_tcp_lnks=3", "OMPI_MCA_typo=2"}
	e := testMachine(t, append(own, "HOME=/h"), []string{"HOME=/h", "OMPI_MCA_typo=2"}, "prterun", "--mca", "btl_tcp_lnks", "3", "-n", "2", "prog")
	a := Find(Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: openmpiNames})
	var unknown []string
	for _, s := range a.Unknown {
		unknown = append(unknown, s.Name+" "+s.Where)
	}
	if got := strings.Join(unknown, "; "); got != "btl_tcp_lnks prterun --mca btl_tcp_lnks 3; typo OMPI_MCA_typo" {
		t.Errorf("unknown: %s", got)
	}
}

// MPICH puts the lines of its file into its environment, but only a release that has the file's name in it reads the file.
func TestFileOfMPICH(t *testing.T) {
	const conf = "# a comment\n\nMPICH_A=1 # more\nMPIR_CVAR_A=2\nMPIR_CVAR_B=3\nMPIR_CVAR_B=4\nMPIR_CVAR_C:force=5\nMPIR_CVAR_D=6\nMPIR_CVAR_TYPO=7\nno line\nMPIR_CVAR_E=8\n"
	names := strings.Fields("MPIR_CVAR_A MPIR_CVAR_B MPIR_CVAR_C MPIR_CVAR_D MPIR_CVAR_E")
	e := testMachine(t, []string{"MPIR_CVAR_C=1", "MPIR_CVAR_D=1"}, nil)
	write(t, e, "/etc/mpich.conf", conf)
	write(t, e, "/old.so", "MPICH")
	write(t, e, "/new.so", "MPICH\x00/etc/mpich.conf\x00")
	environment := map[string]catalog.Origin{
		"MPIR_CVAR_C": {Kind: catalog.OriginEnvironment, Where: "MPIR_CVAR_C", Value: "1"},
		"MPIR_CVAR_D": {Kind: catalog.OriginEnvironment, Where: "MPIR_CVAR_D", Value: "1"},
	}
	check(t, Find(Query{Env: e, Impl: machine.MPICH, Names: names, Lib: "/old.so"}).Set, environment)
	check(t, Find(Query{Env: e, Impl: machine.MPICH, Names: names, Lib: "/nothing"}).Set, environment)
	a := Find(Query{Env: e, Impl: machine.MPICH, Names: names, Lib: "/new.so"})
	check(t, a.Set, map[string]catalog.Origin{
		"MPIR_CVAR_A": {Kind: catalog.OriginFile, Where: "/etc/mpich.conf:4", Value: "2"},
		"MPIR_CVAR_B": {Kind: catalog.OriginFile, Where: "/etc/mpich.conf:5", Value: "3"},
		"MPIR_CVAR_C": {Kind: catalog.OriginFile, Where: "/etc/mpich.conf:7", Value: "5"},
		"MPIR_CVAR_D": {Kind: catalog.OriginEnvironment, Where: "MPIR_CVAR_D", Value: "1"},
	})
	if len(a.Unknown) != 1 || a.Unknown[0].Where != "/etc/mpich.conf:9" {
		t.Errorf("%+v", a.Unknown)
	}
}

// MVAPICH takes MVP_ for its variables and for MPICH's; MPICH does not.
func TestMVAPICH(t *testing.T) {
	e := testMachine(t, strings.Fields("MVP_A=1 MVP_B=2 MPIR_CVAR_B=3 MVP_OWN=4 MVP_OTHER=5"), nil)
	q := Query{Env: e, Impl: machine.MPICH, Names: strings.Fields("MPIR_CVAR_A MPIR_CVAR_B MVP_OWN"), Text: "MVAPICH Version: 4.0"}
	a := Find(q)
	check(t, a.Set, map[string]catalog.Origin{
		"MPIR_CVAR_A": {Kind: catalog.OriginEnvironment, Where: "MVP_A", Value: "1"},
		"MPIR_CVAR_B": {Kind: catalog.OriginEnvironment, Where: "MPIR_CVAR_B", Value: "3"},
		"MVP_OWN":     {Kind: catalog.OriginEnvironment, Where: "MVP_OWN", Value: "4"},
	})
	q.Text = "MPICH Version: 4.2.1"
	b := Find(q)
	if len(b.Set) != 1 || len(a.Unknown)+len(b.Unknown) != 0 {
		t.Errorf("%+v, unknown %+v %+v", b.Set, a.Unknown, b.Unknown)
	}
}

func TestDemo(t *testing.T) {
	e := testMachine(t, []string{"DEMO_CVAR_EAGER_LIMIT=3", "DEMO_CVAR_NOT_THERE=1", "FAKEMPI_SIZE=2"}, nil)
	a := Find(Query{Env: e, Impl: machine.Demo, Names: []string{"eager.limit", "other"}})
	check(t, a.Set, map[string]catalog.Origin{"eager.limit": {Kind: catalog.OriginEnvironment, Where: "DEMO_CVAR_EAGER_LIMIT", Value: "3"}})
	if len(a.Unknown) != 1 || a.Unknown[0].Where != "DEMO_CVAR_NOT_THERE" {
		t.Errorf("%+v", a.Unknown)
	}
}

func TestCommandLinesThatEndEarly(t *testing.T) {
	for _, launcher := range []string{"orte", "hydra"} {
		for _, cmdline := range [][]string{nil, {"mpirun"}, {"mpirun", "-"}, {"mpirun", "--mca"}, {"mpirun", "--mca", "a"}, {"mpirun", "-genv"}, {"mpirun", "-genv", "a"}, {"mpirun", "-n"}, {"mpirun", ":", ":"}, {"mpirun", "-x"}} {
			if got := parseOptions(launcher, cmdline, func(string) string { return "-n 1 --mca a\n-x\n# -x A=1\n:" }); len(got) != 0 {
				t.Errorf("%s %q: %+v", launcher, cmdline, got)
			}
		}
	}
}

func TestHowToSet(t *testing.T) {
	variable := func(typ catalog.Datatype, name, description string) *catalog.Variable {
		return &catalog.Variable{Kind: catalog.Cvars, Name: name, Type: typ, Description: description}
	}
	textual := func(name string) *catalog.Variable { return variable(catalog.TypeChar, name, "") }
	number := func(name, description string) *catalog.Variable { return variable(catalog.TypeInt, name, description) }
	flags := &catalog.Enum{Flags: true, Items: []catalog.Item{{Value: 1, Name: "send"}, {Value: 2, Name: "put"}, {Value: 4, Name: "get"}}}
	level := &catalog.Enum{Items: []catalog.Item{{Value: 10, Name: "low"}, {Value: 20, Name: "high"}}}
	algorithm := "Variable to select bcast algorithmauto - Internal selection (by MPIR_X)binomial    - Force Binomial Treenb   - Force nonblockingnews - Force"
	for _, c := range []struct {
		impl        string
		v           *catalog.Variable
		e           *catalog.Enum
		value, want string
	}{
		{machine.OpenMPI, textual("btl"), nil, "^tcp", "export OMPI_MCA_btl='^tcp' | mpirun --mca btl '^tcp' … | echo 'btl = ^tcp' >> ~/.openmpi/mca-params.conf"},
		{machine.OpenMPI, textual("btl"), nil, "a\nb", `export OMPI_MCA_btl=$'a\nb' | mpirun --mca btl $'a\nb' …`},
		{machine.OpenMPI, textual("btl"), nil, "tcp ", "export OMPI_MCA_btl='tcp ' | mpirun --mca btl 'tcp ' …"},
		{machine.OpenMPI, textual("btl"), nil, "", "export OMPI_MCA_btl='' | mpirun --mca btl '' … | echo 'btl = ' >> ~/.openmpi/mca-params.conf"},
		{machine.OpenMPI, textual("btl_eth0:0"), nil, "x", "mpirun --mca btl_eth0:0 x …"},
		{machine.OpenMPI, number("f", ""), flags, "send|get", "export OMPI_MCA_f=send,get | mpirun --mca f send,get … | echo 'f = send,get' >> ~/.openmpi/mca-params.conf"},
		{machine.OpenMPI, number("f", ""), flags, "0", ""},
		{machine.OpenMPI, number("l", ""), level, "high", "export OMPI_MCA_l=20 | mpirun --mca l 20 … | echo 'l = 20' >> ~/.openmpi/mca-params.conf"},
		{machine.MPICH, number("MPIR_CVAR_A", "A size."), nil, "0x10", "export MPIR_CVAR_A=16 | mpiexec -genv MPIR_CVAR_A 16 …"},
		{machine.MPICH, number("MPIR_CVAR_R", "<low>:<high>"), nil, "5,9", "export MPIR_CVAR_R=5:9 | mpiexec -genv MPIR_CVAR_R 5:9 …"},
		{machine.MPICH, number("MPIR_CVAR_A", algorithm), nil, "0", "export MPIR_CVAR_A=auto | mpiexec -genv MPIR_CVAR_A auto …"},
		{machine.MPICH, number("MPIR_CVAR_A", algorithm), nil, "2", "export MPIR_CVAR_A=nb | mpiexec -genv MPIR_CVAR_A nb …"},
		{machine.MPICH, number("MPIR_CVAR_A", algorithm), nil, "3", "export MPIR_CVAR_A=NAME | mpiexec -genv MPIR_CVAR_A NAME …"},
		{machine.MPICH, number("MPIR_CVAR_A", "Variable to select\nauto - Internal\n  k_new   - Force"), nil, "1", "export MPIR_CVAR_A=k_new | mpiexec -genv MPIR_CVAR_A k_new …"},
		{machine.MPICH, number("MPIR_CVAR_A", "How to receive\ntrue - packed\nfalse - not"), nil, "1", "export MPIR_CVAR_A=1 | mpiexec -genv MPIR_CVAR_A 1 …"},
		{machine.MPICH, number("MPIR_CVAR_A", "Sets - a - of things."), nil, "3", "export MPIR_CVAR_A=3 | mpiexec -genv MPIR_CVAR_A 3 …"},
		{machine.Demo, textual("eager.limit"), nil, "it's", `export DEMO_CVAR_EAGER_LIMIT='it'\''s'`},
		{machine.Demo, textual("x"), nil, "é\u202e\x1b", `export DEMO_CVAR_X=$'é\xe2\x80\xae\x1b'`},
		{"", number("x", ""), nil, "1", ""},
	} {
		count := strings.Count(c.value, ",") + 1
		if c.v.Type == catalog.TypeChar {
			count = 100
		}
		value, err := catalog.ParseValue(c.v, c.e, count, c.value)
		if err != nil {
			t.Fatal(c.value, err)
		}
		if got := strings.Join(HowToSet(c.impl, "", []Assignment{{Variable: c.v, Enum: c.e, Value: value}}, text.UTF8), " | "); got != c.want {
			t.Errorf("%s", got)
		}
	}
	if got := HowToSet(machine.MPICH, "", []Assignment{{Variable: textual("X")}}, text.ASCII)[0]; got != "export X=VALUE" {
		t.Error(got)
	}
}

// Lines that the present setting would override are left out, and the launcher is this library's.
func TestHowToSetInstead(t *testing.T) {
	const home = "/home/u/.openmpi/mca-params.conf:1"
	for _, c := range []struct {
		impl, launcher, name string
		kind                 catalog.OriginKind
		where, want, fixed   string
	}{
		{machine.OpenMPI, "mpirun.openmpi", "btl", "", "", "export OMPI_MCA_btl=1 | mpirun.openmpi --mca btl 1 … | echo 'btl = 1' >> ~/.openmpi/mca-params.conf", ""},
		{machine.OpenMPI, "", "btl", catalog.OriginFile, home, "export OMPI_MCA_btl=1 | mpirun --mca btl 1 … | echo 'btl = 1' >> ~/.openmpi/mca-params.conf", ""},
		{machine.OpenMPI, "", "btl", catalog.OriginEnvironment, "OMPI_MCA_btl", "export OMPI_MCA_btl=1 | mpirun --mca btl 1 …", ""},
		{machine.OpenMPI, "", "btl", catalog.OriginLauncher, "mpirun --mca btl 2", "mpirun --mca btl 1 …", ""},
		{machine.OpenMPI, "", "btl", catalog.OriginFile, "/etc/openmpi-mca-params-override.conf:2", "", "/etc/openmpi-mca-params-override.conf:2 stands above all other settings; change it there"},
		{machine.OpenMPI, "", "ess_base_vpid", "", "", "", "the launcher sets it for each process"},
		{machine.MPICH, "/opt/m p/mpiexec", "MPIR_CVAR_A", catalog.OriginEnvironment, "MPIR_CVAR_A", "export MPIR_CVAR_A=1 | '/opt/m p/mpiexec' -genv MPIR_CVAR_A 1 …", ""},
		{machine.MPICH, "", "MPIR_CVAR_A", catalog.OriginLauncher, "mpiexec -genv MPIR_CVAR_A 2", "mpiexec -genv MPIR_CVAR_A 1 …", ""},
		{machine.MPICH, "", "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", "", "", "", "the launcher sets it for each process"},
	} {
		v := &catalog.Variable{Kind: catalog.Cvars, Name: c.name, Type: catalog.TypeInt}
		if c.kind != "" {
			v.Origin = &catalog.Origin{Kind: c.kind, Where: c.where}
		}
		one, err := catalog.ParseValue(v, nil, 1, "1")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(HowToSet(c.impl, c.launcher, []Assignment{{Variable: v, Value: one}}, text.UTF8), " | "); got != c.want || Fixed(c.impl, v) != c.fixed {
			t.Errorf("%s by %q: %s (%s)", c.name, c.where, got, Fixed(c.impl, v))
		}
	}
}

// All names of MPICH's enumerations are known. A line with the number instead would make the program exit.
func TestItemsOfMPICH(t *testing.T) {
	c, err := catalog.Load("../fixtures/snapshots/mpich-4.0.2.json")
	if err != nil {
		t.Fatal(err)
	}
	found, own := 0, &catalog.Enum{}
	for v := range c.Variables() {
		items := catalog.MPICHItems(v.Description)
		enumeration := v.Name == "MPIR_CVAR_DEVICE_COLLECTIVES" || v.Name == "MPIR_CVAR_COLLECTIVE_FALLBACK" || strings.HasSuffix(v.Name, "_ALGORITHM")
		if enumeration != (items != nil) || slices.Contains(items, "") {
			t.Errorf("%s: %q", v.Name, items)
		}
		if items != nil {
			found++
		}
		if e := Items(machine.MPICH, v); (e != nil) != enumeration || e != nil && (len(e.Items) != len(items) || e.Items[1] != catalog.Item{Value: 1, Name: items[1]}) {
			t.Errorf("%s: %+v", v.Name, e)
		}
		if Enum(machine.MPICH, v, nil, 1) == nil && enumeration || Enum(machine.MPICH, v, own, 1) != own || Enum(machine.MPICH, v, nil, 2) != nil {
			t.Errorf("%s: not the enumeration", v.Name)
		}
		if Items(machine.OpenMPI, v) != nil {
			t.Errorf("%s: items on another library", v.Name)
		}
	}
	if found != 90 {
		t.Errorf("%d enumerations", found)
	}
}

// An input is edits of a file. Its settings are the same in a file that has only the lines of the settings.
func FuzzMPICHConf(f *testing.F) {
	small := []byte("# a comment\n\nMPIR_CVAR_A=1\nMPIR_CVAR_B:force=two words\n#MPIR_CVAR_C=3\nMPIR_CVAR_D = 4\nMPIR_CVAR_A=5\n")
	f.Add([]byte{})
	f.Add([]byte("\x00\x19\x00\x20\x00"))
	f.Add([]byte("\x05\x1a\x00\x00\x00"))
	f.Add([]byte("\x06\x0d\x00\x0e\x00"))
	f.Fuzz(func(t *testing.T, script []byte) {
		all, _, _ := parseMPICHConf(mutate.Bytes(small, script))
		var again strings.Builder
		at := 1
		for _, l := range all {
			if l.number < at || l.value == "" || strings.ContainsAny(l.name+l.value, "\n") || strings.ContainsAny(l.value, " \t\r") {
				t.Fatalf("%+v", l)
			}
			for ; at < l.number; at++ {
				again.WriteString("\n")
			}
			force := ""
			if l.force {
				force = ":force"
			}
			fmt.Fprintf(&again, "%s%s=%s", l.name, force, l.value)
		}
		if got, _, _ := parseMPICHConf([]byte(again.String())); !slices.Equal(got, all) {
			t.Errorf("%+v, read again: %+v", all, got)
		}
	})
}

// Several settings in one text. Settings that the form cannot express are named with the reason.
func TestSettings(t *testing.T) {
	assign := func(name, value string, kind catalog.OriginKind, note string) Assignment {
		v := &catalog.Variable{Kind: catalog.Cvars, Name: name, Type: catalog.TypeChar}
		if kind != "" {
			v.Origin = &catalog.Origin{Kind: kind, Where: "there"}
		}
		return Assignment{Variable: v, Value: catalog.NewText(value), Notes: slices.DeleteFunc([]string{note}, func(s string) bool { return s == "" })}
	}
	openmpi := []Assignment{assign("btl", "^tcp", "", ""), assign("pml", "ob1", catalog.OriginLauncher, ""),
		assign("coll", "it's\nx", "", "coll was written on rank 2 only;\nx"), assign("ess_base_vpid", "1", "", "")}
	mpich := []Assignment{assign("MPIR_CVAR_A", "1", "", ""), assign("MPIR_CVAR_B", "a b", "", "")}
	for _, c := range []struct {
		impl string
		form Form
		all  []Assignment
		want string
		left string
		err  string
	}{
		{machine.OpenMPI, Options, openmpi, "--mca btl '^tcp' --mca pml ob1 --mca coll 'it'\\''s\nx'\n", "ess_base_vpid", ""},
		{machine.OpenMPI, Script, openmpi, "# Settings for the next run, from mpitx. In the shell that starts it: . ./FILE\nexport OMPI_MCA_btl='^tcp'\n" +
			"# not set: pml: a launcher option sets it, which overrides the environment\n" +
			"# coll was written on rank 2 only;\\x0ax\nexport OMPI_MCA_coll='it'\\''s\nx'\n" +
			"# not set: ess_base_vpid: the launcher sets it for each process\n", "pml ess_base_vpid", ""},
		{machine.OpenMPI, File, openmpi[:1], "# Settings for the next run, from mpitx: lines for ~/.openmpi/mca-params.conf\nbtl = ^tcp\n", "", ""},
		{machine.OpenMPI, File, openmpi[2:3], "# Settings for the next run, from mpitx: lines for ~/.openmpi/mca-params.conf\n" +
			"# not set: coll: a line of the file cannot hold its value\n", "coll", ""},
		{machine.MPICH, Options, mpich, "-genv MPIR_CVAR_A 1 -genv MPIR_CVAR_B 'a b'\n", "", ""},
		{machine.MPICH, Script, mpich[1:], "# Settings for the next run, from mpitx. In the shell that starts it: . ./FILE\nexport MPIR_CVAR_B='a b'\n", "", ""},
		{machine.MPICH, File, mpich, "", "", "MPICH reads no parameter file of a user's; use the environment script"},
		{machine.Demo, Options, mpich, "", "", "the demo MPI reads its environment only; use the environment script"},
		{"", Options, mpich[:1], "\n", "MPIR_CVAR_A", ""},
	} {
		got, left, err := Settings(c.impl, c.form, c.all, text.UTF8)
		for i := range left {
			left[i], _, _ = strings.Cut(left[i], ":")
		}
		if message := fmt.Sprint(err); got != c.want || strings.Join(left, " ") != c.left || err != nil && message != c.err || (c.err == "") != (err == nil) {
			t.Errorf("%s, %s: %s left %q (%v)", c.impl, c.form, got, left, err)
		}
	}
}

func TestInfluences(t *testing.T) {
	e := testMachine(t, append([]string{"HOME=/home/u", "PATH=/bin", "OMPI_MCA_btl=self", "OMPI_MCA_btl_tcp_eager_limt=1", "UCX_TLS=tcp", "FI_PROVIDER=tcp", "LD_PRELOAD=",
		"OMPI_MCA_rmaps_base_verbose=1"}, underMpirun...), nil, "mpirun", "-x", "FI_PROVIDER=tcp", "app")
	write(t, e, "/home/u/.openmpi/mca-params.conf", "btl = vader\npml = ob1\n")
	var got []string
	for _, i := range Influences(Query{Env: e, Impl: machine.OpenMPI, Names: []string{"btl", "pml", "btl_tcp_eager_limit"}}) {
		got = append(got, fmt.Sprintf("%s=%s %s (%s) %s %v %v", i.Name, i.Value, i.Cvar, i.Reader, i.Kind, i.Overridden, i.Unknown))
	}
	want := []string{
		"OMPI_MCA_btl=self btl (Open MPI) environment false false",
		"OMPI_MCA_btl_tcp_eager_limt=1 btl_tcp_eager_limt (Open MPI) environment false true",
		"OMPI_MCA_rmaps_base_verbose=1  (the launcher) environment false false",
		"pml=ob1 pml (Open MPI) file false false",
		"btl=vader btl (Open MPI) file true false",
		"FI_PROVIDER=tcp  (libfabric) launcher false false",
		"UCX_TLS=tcp  (UCX) environment false false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Options that place processes, and those of the launcher and of PMIx, are listed even if no variable of the process has them.
func TestInfluencesOfOptions(t *testing.T) {
	hydra := strings.Fields("PMI_RANK=0 PMI_SIZE=2 PMI_FD=9 HYDI_CONTROL_FD=8")
	prrte := strings.Fields("PMIX_RANK=0 PMIX_NAMESPACE=prterun-x@1 PMIX_SERVER_URI41=x PRTE_LAUNCHED=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_MCA_gds=hash PMIX_DEBUG=1")
	for _, c := range []struct {
		impl, cmdline string
		environ       []string
		want          []string
	}{
		{machine.MPICH, "mpiexec -n 1 -bind-to core:2 -map-by socket -membind local -f hosts app -bind-to none", hydra, []string{
			"-bind-to=core:2 (Hydra, the launcher) mpiexec -bind-to core:2", "-map-by=socket (Hydra, the launcher) mpiexec -map-by socket",
			"-membind=local (Hydra, the launcher) mpiexec -membind local"}},
		{machine.OpenMPI, "prterun --bind-to core --prtemca rmaps_base_verbose 5 --pmixmca ptl tcp --pmixmca gds hash --map-by :OVERSUBSCRIBE -x A app", prrte, []string{
			"--bind-to=core (PRRTE, the launcher) prterun --bind-to core",
			"--pmixmca ptl=tcp (PMIx) prterun --pmixmca ptl tcp",
			"--prtemca rmaps_base_verbose=5 (PRRTE, the launcher) prterun --prtemca rmaps_base_verbose 5",
			"PMIX_DEBUG=1 (PMIx) PMIX_DEBUG", "PMIX_MCA_gds=hash (PMIx) prterun --pmixmca gds hash"}},
	} {
		e := testMachine(t, append(c.environ, "PATH=/bin"), []string{"PMIX_DEBUG=1"}, strings.Fields(c.cmdline)...)
		var got []string
		for _, i := range Influences(Query{Env: e, Impl: c.impl}) {
			got = append(got, fmt.Sprintf("%s=%s (%s) %s", i.Name, i.Value, i.Reader, i.Where))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.cmdline, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// An absolute path of mpirun makes it set LD_LIBRARY_PATH (4.1, measured), which the user did not.
func TestInfluencesOfLibraryPath(t *testing.T) {
	for _, c := range []struct {
		path, before string
		users        bool
	}{
		{"/usr/lib:/usr/lib", "", false}, {"/usr/lib64:/usr/lib", "", false}, {"/usr/lib:/usr/lib", "/usr/lib:/usr/lib", true},
		{"/usr/lib:/opt/x/lib", "/opt/x/lib", true}, {"/opt/x/lib", "", true},
	} {
		e := testMachine(t, append([]string{"LD_LIBRARY_PATH=" + c.path}, underMpirun...), []string{"LD_LIBRARY_PATH=" + c.before}, "/usr/bin/mpirun", "app")
		if got := Influences(Query{Env: e, Impl: machine.OpenMPI}); (len(got) == 1) != c.users {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// What a library's environment takes is accepted, also where MPI_T would not take it.
func TestAccepts(t *testing.T) {
	algorithms := &catalog.Enum{Name: "algorithms", Items: []catalog.Item{{Value: 0, Name: "ignore"}, {Value: 6, Name: "binomial"}}}
	flags := &catalog.Enum{Name: "flags", Flags: true, Items: []catalog.Item{{Value: 1, Name: "send"}, {Value: 2, Name: "put"}}}
	boolean := &catalog.Enum{Name: "boolean", Items: []catalog.Item{{Value: 0, Name: "false"}, {Value: 1, Name: "true"}}}
	verbosity := &catalog.Enum{Name: "verbosity", Items: []catalog.Item{{Value: 0, Name: "error"}}}
	described := &catalog.Enum{Items: []catalog.Item{{Value: 0, Name: "auto"}, {Value: 1, Name: "ring"}}}
	gaps := &catalog.Enum{Items: []catalog.Item{{Value: 0, Name: "auto"}, {Value: 2, Name: "ring"}}}
	for _, test := range []struct {
		impl  string
		kind  catalog.Datatype
		enum  *catalog.Enum
		count int
		texts string
		bad   string
	}{
		{machine.OpenMPI, catalog.TypeInt, nil, 1, "5 -1 0x10 64k 1M true", "abc 5x 1.5 99999999999"},
		{machine.OpenMPI, catalog.TypeUnsigned, nil, 1, "5", "-1"},
		{machine.OpenMPI, catalog.TypeInt, algorithms, 1, "binomial BINOMIAL 6 0", "binomal 7 true"},
		{machine.OpenMPI, catalog.TypeInt, verbosity, 1, "error 55", "loud"},
		{machine.OpenMPI, catalog.TypeInt, boolean, 1, "true t y enabled 1 7 -1", "maybe on TRUE 0x1"},
		{machine.OpenMPI, catalog.TypeBool, nil, 1, "false f n disabled 0", "off"},
		{machine.OpenMPI, catalog.TypeUnsigned, flags, 1, "send,put send|put 3", "send,get"},
		{machine.OpenMPI, catalog.TypeChar, nil, 4, "anything,long", ""},
		{machine.OpenMPI, catalog.TypeDouble, nil, 1, "1.5 1e3", "x 64k"},
		{machine.OpenMPI, catalog.TypeInt, nil, 0, "anything", ""},
		{machine.MPICH, catalog.TypeInt, nil, 1, "5 -3 yes TRUE", "64k 0x10 t maybe 1,2"},
		{machine.MPICH, catalog.TypeInt, described, 1, "ring", "1 rings"},
		{machine.MPICH, catalog.TypeInt, gaps, 1, "ring 1", ""},
		{machine.MPICH, catalog.TypeInt, nil, 2, "1:2 1,2", "1 1:2:3"},
	} {
		v := &catalog.Variable{Kind: catalog.Cvars, Name: "v", Type: test.kind}
		if test.enum != nil {
			v.Enum = test.enum.Name
		}
		for _, want := range []bool{true, false} {
			texts := test.bad
			if want {
				texts = test.texts
			}
			for _, text := range strings.Fields(texts) {
				if err := Accepts(test.impl, v, test.enum, test.count, text); (err == nil) != want {
					t.Errorf("%s %s %+v: %q: %v", test.impl, test.kind, test.enum, text, err)
				}
			}
		}
	}
}

// MPICH reads variables by further names, which only its file has. Parts of a name are no names.
func TestOtherNamesOfMPICH(t *testing.T) {
	e := testMachine(t, strings.Fields("MPIR_CVAR_NO_LOCAL=1 MPIR_PARAM_PORTRANGE=1:2 MPIR_CVAR_NO_LOCA=1 MPIR_CVAR_LOCAL=1 MPIR_CVAR_NOLOCL=1"), nil)
	write(t, e, "/lib.so", "MPICH\x00MPIR_CVAR_NOLOCAL\x00MPIR_CVAR_NO_LOCAL\x00MPIR_PARAM_PORTRANGE\x00 MPIR_CVAR_LOCAL\x00")
	q := Query{Env: e, Impl: machine.MPICH, Names: strings.Fields("MPIR_CVAR_NOLOCAL MPIR_CVAR_CH3_PORT_RANGE"), Lib: "/lib.so"}
	unknown := func() (names []string) {
		for _, s := range Find(q).Unknown {
			names = append(names, s.variable)
		}
		return names
	}
	if got, want := unknown(), strings.Fields("MPIR_CVAR_LOCAL MPIR_CVAR_NOLOCL MPIR_CVAR_NO_LOCA"); !slices.Equal(got, want) {
		t.Errorf("unknown: %q, want %q", got, want)
	}
	q.Impl = machine.OpenMPI
	if got := unknown(); got != nil {
		t.Errorf("unknown to Open MPI: %q", got)
	}
}

// Routines of Open MPI are not the launcher's parameters. What only mpirun has an option for is, and a library that lists no names of a
// framework proves nothing.
func TestLaunchersNames(t *testing.T) {
	e := testMachine(t, strings.Fields("OMPI_MCA_opal_finalize=1 OMPI_MCA_opal_cr_enable_crdebug=1 OMPI_MCA_orte_init=1 OMPI_MCA_orte_output=1 OMPI_MCA_plm_rsh_agent=ssh OMPI_MCA_orte_xterm=0"), nil)
	for names, want := range map[string]string{
		"orte_debug_daemons opal_net_private_ipv4": "opal_finalize orte_init orte_output",
		"opal_net_private_ipv4":                    "opal_finalize",
		"orte_ess_vpid":                            "",
	} {
		q := Query{Env: e, Impl: machine.OpenMPI, Names: strings.Fields(names)}
		var got, unknown []string
		for _, s := range Find(q).Unknown {
			got = append(got, s.Name)
		}
		for _, i := range Influences(q) {
			if i.Unknown {
				unknown = append(unknown, i.Cvar)
			} else if i.Reader != "the launcher" {
				t.Errorf("%s: %s read by %s", names, i.Name, i.Reader)
			}
		}
		if strings.Join(got, " ") != want || strings.Join(unknown, " ") != want {
			t.Errorf("%s: unknown: %q, %q, want %s", names, got, unknown, want)
		}
	}
}
