package settings

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mpitx/catalog"
	"mpitx/machine"
	"mpitx/machine/layers"
)

// dropped are the influences that nothing takes, as PLACE NAME=VALUE: WHY.
func dropped(q Query) (all []string) {
	for _, i := range Influences(q) {
		if i.Dropped != "" {
			all = append(all, fmt.Sprintf("%s %s=%s: %s", i.Place(), i.Name, i.Value, i.Dropped))
		}
	}
	return all
}

func wantDropped(t *testing.T, q Query, want ...string) {
	t.Helper()
	if got := dropped(q); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Open MPI 4.1 opens no file of --am, and goes on to read the user's file (measured). --tune works.
func TestFilesOfAM(t *testing.T) {
	e := testMachine(t, []string{"HOME=/home/u"}, nil)
	write(t, e, "/home/u/.openmpi/mca-params.conf", "btl_tcp_links = 7\n")
	write(t, e, "/am.conf", "btl_tcp_rndv = 9\nnot a line\n")
	write(t, e, "/tune.conf", "btl_tcp_rndv = 3\n")
	values := map[string]string{"mca_base_param_file_prefix": "/am.conf", "mca_base_param_files": "/am.conf:/home/u/.openmpi/mca-params.conf,/etc/openmpi-mca-params.conf", "btl_tcp_rndv": "0"}
	q := Query{Env: e, Impl: machine.OpenMPI, Prefix: "/usr", Names: openmpiNames, Value: func(n string) string { return values[n] }}
	home := catalog.Origin{Kind: catalog.OriginFile, Where: "/home/u/.openmpi/mca-params.conf:1", Value: "7"}
	check(t, Find(q).Set, map[string]catalog.Origin{"btl_tcp_links": home})
	wantDropped(t, q, "/am.conf:1 btl_tcp_rndv=9: Open MPI does not open the files of --am: it joins their names with /home/u/.openmpi/mca-params.conf; use --tune")
	values["mca_base_envar_file_prefix"] = "/tune.conf"
	check(t, Find(q).Set, map[string]catalog.Origin{"btl_tcp_links": home, "btl_tcp_rndv": {Kind: catalog.OriginFile, Where: "/tune.conf:1", Value: "3"}})
	// A library that opens it.
	values = map[string]string{"mca_base_param_file_prefix": "/am.conf", "mca_base_param_files": "/am.conf,/home/u/.openmpi/mca-params.conf", "btl_tcp_rndv": "9"}
	check(t, Find(q).Set, map[string]catalog.Origin{"btl_tcp_links": home, "btl_tcp_rndv": {Kind: catalog.OriginFile, Where: "/am.conf:1", Value: "9"}})
}

func TestMissingFiles(t *testing.T) {
	e := testMachine(t, []string{"HOME=/home/u", "OMPI_MCA_mca_base_envar_file_prefix=/there,/nosuch", "OMPI_MCA_mca_base_param_files=~/f,none.conf"}, nil)
	write(t, e, "/there", "")
	write(t, e, "/home/u/f", "")
	q := Query{Env: e, Impl: machine.OpenMPI, Names: []string{"mca_base_envar_file_prefix", "mca_base_param_files"}}
	wantDropped(t, q, "environment OMPI_MCA_mca_base_envar_file_prefix=/there,/nosuch: the file /nosuch does not exist",
		"environment OMPI_MCA_mca_base_param_files=~/f,none.conf: the file none.conf does not exist")
	q.Env = testMachine(t, []string{"OMPI_MCA_mca_base_param_files=none"}, nil)
	wantDropped(t, q)
}

// Open MPI 4.1 gives the first program's --mca to all processes, and later ones to none (measured). -x works for each program.
func TestOptionsAfterColon(t *testing.T) {
	environ := append(strings.Fields("OMPI_MCA_btl_tcp_links=3 A=1"), underMpirun...)
	for _, c := range []struct {
		exe, options string
		want         []string
	}{
		{"mpirun", "--mca btl_tcp_links 3 -n 1 a : -x B=2 --mca btl_tcp_rndv 4 -n 1 b : --gmca pml ob1 --mca btl_tcp_links 3 c", []string{
			`mpirun --mca btl_tcp_rndv 4 btl_tcp_rndv=4: mpirun ignores this option after the first ":"; give it before the first program`,
			`mpirun --gmca pml ob1 pml=ob1: mpirun ignores this option after the first ":"; give it before the first program`}},
		{"mpirun", "--mca btl_tcp_links 3 -n 1 a", nil},
		{"mpirun", "-n 1 a --mca pml ob1", nil}, // the program's own
		{"prterun", "--mca btl_tcp_links 3 -n 1 a : --mca btl_tcp_rndv 4 -n 1 b", nil},
	} {
		environ := environ
		if c.exe == "prterun" {
			environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "OMPI_MCA_orte") })
		}
		e := testMachine(t, environ, nil, append([]string{c.exe}, strings.Fields(c.options)...)...)
		wantDropped(t, Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames}, c.want...)
	}
}

// MPICH stops reading its file at a line that it does not understand.
func TestDroppedOfMPICH(t *testing.T) {
	e := testMachine(t, nil, nil)
	write(t, e, "/etc/mpich.conf", "MPIR_CVAR_A=1\nMPIR_CVAR_B 2\nMPIR_CVAR_C=3\n")
	write(t, e, "/lib.so", "MPICH\x00/etc/mpich.conf\x00")
	q := Query{Env: e, Impl: machine.MPICH, Names: strings.Fields("MPIR_CVAR_A MPIR_CVAR_B MPIR_CVAR_C"), Lib: "/lib.so"}
	wantDropped(t, q, "/etc/mpich.conf:2 MPIR_CVAR_B=2: the line is not NAME=VALUE, so the library also ignores all lines after it")
	write(t, e, "/etc/mpich.conf", "MPIR_CVAR_A=1\nMPIR_CVAR_C=3\n")
	wantDropped(t, q)
}

// The environment overrides UCX's files, and the working directory the home directory (1.13, measured). UCX is asked about what counts.
func TestFilesOfUCX(t *testing.T) {
	e := testMachine(t, []string{"HOME=/h", "UCX_CONFIG_DIR=/c", "UCX_TLS=tcp"}, nil)
	write(t, e, "/h/ucx.conf", "# comment\n[section]\nUCX_TLS = self\nUCX_NET_DEVICES=lo ; comment\nUCX_SHM_DEVICES\nTLS = x\n")
	write(t, e, "/c/ucx.conf", "UCX_NET_DEVICES = eth0\n")
	var asked []string
	q := Query{Env: e, Impl: machine.MPICH, Layers: func(given []string) layers.Known { asked = given; return nil }}
	var got []string
	for _, i := range Influences(q) {
		got = append(got, fmt.Sprintf("%s=%s %s %v", i.Name, i.Value, i.Place(), i.Overridden))
	}
	want := []string{"TLS=x /h/ucx.conf:6 false", "UCX_CONFIG_DIR=/c environment false", "UCX_NET_DEVICES=eth0 /c/ucx.conf:1 false", "UCX_NET_DEVICES=lo /h/ucx.conf:4 true",
		"UCX_SHM_DEVICES= /h/ucx.conf:5 false", "UCX_TLS=tcp environment false", "UCX_TLS=self /h/ucx.conf:3 true"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	wantDropped(t, q, "/h/ucx.conf:6 TLS=x: UCX has no variable of this name; they begin with UCX_", "/h/ucx.conf:5 UCX_SHM_DEVICES=: the line is not NAME = VALUE")
	if want := []string{"UCX_CONFIG_DIR=/c", "UCX_TLS=tcp", "UCX_NET_DEVICES=eth0"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	if got := Beyond(Influences(q)); len(got) != 4 {
		t.Errorf("beyond MPI_T: %+v", got)
	}
	asked = nil
	q.Env = testMachine(t, []string{"HOME=/h"}, nil)
	if Influences(q); asked != nil {
		t.Errorf("asked without a setting: %q", asked)
	}
}

// What Open MPI 4.1 makes of options that are given twice, and of those in files (measured): the last --tune counts, --gmca takes precedence
// over --mca, a file of --app gives variables of -x but no parameters.
func TestOptionsThatAreDropped(t *testing.T) {
	for _, c := range []struct {
		environ, options string
		want             []string
	}{
		{"OMPI_MCA_mca_base_envar_file_prefix=/t2", "--tune /t1 --tune /t2 a", []string{
			"mpirun --tune /t1 mca_base_envar_file_prefix=/t1: mpirun takes only the last --tune; name all files in one: --tune /t1,/t2"}},
		{"OMPI_MCA_mca_base_envar_file_prefix=/t1,/t2", "--tune /t1,/t2 a --tune /t1", nil},
		{"OMPI_MCA_btl_tcp_links=3", "--mca btl_tcp_links 4 --gmca btl_tcp_links 3 a", []string{"mpirun --mca btl_tcp_links 4 btl_tcp_links=4: mpirun takes --gmca btl_tcp_links 3 instead"}},
		{"OMPI_MCA_btl_tcp_links=3 OMPI_MCA_btl_tcp_rndv=4", "--mca btl_tcp_rndv 4 --gmca btl_tcp_links 3 a", nil},
		{"OMPI_MCA_btl_tcp_links=3", "--mca btl_tcp_links 3 --gmca btl_tcp_links 3 a", nil},
		{"UCX_TLS=tcp", "--app /app", []string{
			"/app:1 btl_tcp_links=4: mpirun ignores --mca in a file of --app; give it before --app",
			"/app:3 pml=ob1: mpirun ignores --gmca in a file of --app; give it before --app"}},
		{"OMPI_MCA_btl_tcp_links=4", "--mca btl_tcp_links 4 --app /same", nil},
		{"", "--app /nosuch", nil},
	} {
		e := testMachine(t, append(strings.Fields(c.environ), underMpirun...), nil, append([]string{"mpirun"}, strings.Fields(c.options)...)...)
		write(t, e, "/t1", "-mca btl_tcp_rndv 3\n")
		write(t, e, "/t2", "")
		write(t, e, "/app", "-n 1 --mca btl_tcp_links 4 a\n# --mca btl x\n-x UCX_TLS=tcp --gmca pml ob1 b --mca pml cm\n")
		write(t, e, "/same", "-n 1 --mca btl_tcp_links 4 a\n")
		wantDropped(t, Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames}, c.want...)
	}
}

// Variables that mpirun sets for its options and files are theirs, and not the environment's.
func TestOriginsOfLaunchers(t *testing.T) {
	for _, c := range []struct{ impl, before, environ, options, want string }{
		{machine.OpenMPI, "", "UCX_TLS=tcp OMPI_MCA_mca_base_envar_file_prefix=/tune", "mpirun --tune /tune a", "UCX_TLS file /tune:2"},
		{machine.OpenMPI, "", "UCX_TLS=self OMPI_MCA_mca_base_envar_file_prefix=/tune", "mpirun --tune /tune a", "UCX_TLS environment UCX_TLS"},
		{machine.OpenMPI, "", "UCX_TLS=tcp", "mpirun --app /app", "UCX_TLS file /app:1"},
		{machine.OpenMPI, "", "UCX_TLS=tcp OMPI_MCA_mca_base_env_list=FOO=1;UCX_TLS=tcp", "mpirun --mca mca_base_env_list FOO=1;UCX_TLS=tcp a", "UCX_TLS launcher mpirun --mca mca_base_env_list 'FOO=1;UCX_TLS=tcp'"},
		{machine.OpenMPI, "OMPI_MCA_mca_base_env_list=UCX_TLS=tcp", "UCX_TLS=tcp OMPI_MCA_mca_base_env_list=UCX_TLS=tcp", "mpirun a", "UCX_TLS environment OMPI_MCA_mca_base_env_list"},
		{machine.OpenMPI, "UCX_TLS=tcp OMPI_MCA_mca_base_env_list=UCX_TLS=tcp", "UCX_TLS=tcp OMPI_MCA_mca_base_env_list=UCX_TLS=tcp", "mpirun a", "UCX_TLS environment UCX_TLS"},
		{machine.OpenMPI, "", "UCX_TLS=tcp OMPI_MCA_mca_base_env_list=UCX_TLS=tcp HOME=/home/u", "mpirun a", "UCX_TLS file /home/u/.openmpi/mca-params.conf:1"},
		{machine.MPICH, "", "PMI_RANK=0 MPI_LOCALNRANKS=1 UCX_TLS=tcp", "mpiexec -configfile /config", "UCX_TLS file /config:2"},
		{machine.MPICH, "", "PMI_RANK=0 MPI_LOCALNRANKS=1 UCX_TLS=shm", "mpiexec -configfile /config", "UCX_TLS file /config:3"},
		{machine.OpenMPI, "", "UCX_TLS=shm", "mpirun --app /config", "UCX_TLS environment UCX_TLS"}, // ":" and what follows are the program's
		{machine.MPICH, "", "PMI_RANK=0 MPI_LOCALNRANKS=1 UCX_TLS=sm", "mpiexec -configfile /config", "UCX_TLS environment UCX_TLS"},
	} {
		environ := strings.Fields(c.environ)
		if c.impl == machine.OpenMPI {
			environ = append(environ, underMpirun...)
		}
		e := testMachine(t, environ, strings.Fields(c.before), strings.Fields(c.options)...)
		write(t, e, "/tune", "-mca btl_tcp_links 3\n-x A=1 -x UCX_TLS=\"tcp\" -x HOME\n")
		write(t, e, "/app", "-n 1 -x UCX_TLS=tcp a\n")
		write(t, e, "/config", "-n 1 a\n-n 1 -env UCX_TLS tcp b\n-n 1 -env UCX_TLS self c : -n 1 -env UCX_TLS shm -x UCX_TLS=shm d\n")
		write(t, e, "/home/u/.openmpi/mca-params.conf", "mca_base_env_list = UCX_TLS=tcp\n")
		found := Influences(Query{Env: e, Impl: c.impl, Names: append(openmpiNames, envList), Value: func(string) string { return "" }})
		got := ""
		for _, i := range found {
			if i.Name == "UCX_TLS" {
				got += fmt.Sprintf("%s %s %s", i.Name, i.Kind, i.Where)
			}
			if i.Overridden {
				t.Errorf("%s: %s in %s is overridden", c.options, i.Name, i.Where)
			}
		}
		if got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.options, c.environ, got, c.want)
		}
	}
	// A pipe that the launcher has read.
	piped := testMachine(t, strings.Fields("PMI_RANK=0 MPI_LOCALNRANKS=1 UCX_TLS=sm"), nil, "mpiexec", "-configfile", "/pipe")
	if err := syscall.Mkfifo(piped.File("/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if found := Influences(Query{Env: piped, Impl: machine.MPICH}); len(found) != 1 || found[0].Kind != catalog.OriginEnvironment {
		t.Errorf("options in a pipe: %+v", found)
	}
	// Each option that stands for a parameter.
	e := testMachine(t, append(strings.Fields("OMPI_MCA_rmaps_base_display_topo_with_map=1 OMPI_MCA_rmaps_ppr_n_pernode=2 OMPI_MCA_orte_leave_session_attached=1"), underMpirun...), nil,
		strings.Fields("mpirun --display-topo -N 2 --leave-session-attached a")...)
	check(t, Find(Query{Env: e, Impl: machine.OpenMPI, Names: strings.Fields("rmaps_base_display_topo_with_map rmaps_ppr_n_pernode orte_leave_session_attached")}).Set, map[string]catalog.Origin{
		"rmaps_base_display_topo_with_map": {Kind: catalog.OriginLauncher, Where: "mpirun --display-topo", Value: "1"},
		"rmaps_ppr_n_pernode":              {Kind: catalog.OriginLauncher, Where: "mpirun -N 2", Value: "2"},
		"orte_leave_session_attached":      {Kind: catalog.OriginLauncher, Where: "mpirun --leave-session-attached", Value: "1"},
	})
}

// Names in lists of components are judged by what is installed, and by what releases have had.
func TestMissingComponents(t *testing.T) {
	e := testMachine(t, nil, nil)
	for _, name := range []string{"btl_self", "btl_tcp", "btl_vader", "coll_tuned"} {
		write(t, e, "/lib/openmpi/mca_"+name+".so", "")
	}
	write(t, e, "/lib/libmpi.so", "mca_btl_inside_component\x00")
	q := Query{Env: e, Impl: machine.OpenMPI, Lib: "/lib/libmpi.so", Names: strings.Fields("btl pml btl_theirs_priority mca_base_component_path btl_tcp_if_include"),
		Value: func(name string) string {
			return map[string]string{"mca_base_component_path": "/lib/openmpi:/home/u/.openmpi/components"}[name]
		}}
	for _, c := range []struct{ cvar, value, want string }{
		{"btl", "^tpc", "Open MPI has no component tpc of btl; did you mean tcp?"},
		{"btl", "self,tpc", "Open MPI has no component tpc of btl; did you mean tcp?"},
		{"btl", "self, tcp", "Open MPI has no component ' tcp' of btl; did you mean tcp?"},
		{"btl", "self,^tcp", "Open MPI takes ^ only at the beginning of the list, for all of its components"},
		{"btl", "ugni,self", "this Open MPI has no component ugni of btl; it has self, tcp, vader"},
		{"btl", "^uct,openib,ofi", ""}, // another build's
		{"btl", "^tcp", ""},
		{"btl", "^^tcp", ""},
		{"btl", "self,vader", ""},
		{"btl", "self,inside,theirs", ""},
		{"btl", "", ""},
		{"pml", "ucx", ""}, // where components of pml are is not known
		{"pml", "ob2", "Open MPI has no component ob2 of pml; did you mean ob1?"},
		{"btl_tcp_if_include", "tpc", ""},
	} {
		if got := q.missingComponent(c.cvar, c.value); got != c.want {
			t.Errorf("%s=%s: %q, want %q", c.cvar, c.value, got, c.want)
		}
	}
	q.Impl = machine.MPICH
	if got := q.missingComponent("btl", "^tpc"); got != "" {
		t.Error(got)
	}
}

// A file from Windows: numbers bear the carriage return (4.1, measured).
func TestCarriageReturns(t *testing.T) {
	e := testMachine(t, []string{"HOME=/home/u"}, nil)
	write(t, e, "/home/u/.openmpi/mca-params.conf", "btl_tcp_links = 3\r\nbtl_tcp_eager_limit = 8k\r\n\r\n# comment\r\nbtl_tcp_if_include = lo\r\npml = ob1\n")
	wantDropped(t, Query{Env: e, Impl: machine.OpenMPI, Names: openmpiNames},
		"/home/u/.openmpi/mca-params.conf:5 btl_tcp_if_include=lo\r: the line ends with a carriage return, which Open MPI takes as part of the value; remove it: sed -i 's/\\r$//' /home/u/.openmpi/mca-params.conf")
}
