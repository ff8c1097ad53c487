package settings

import (
	"fmt"
	"slices"
	"strings"
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
