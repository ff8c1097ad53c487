//go:build cgo && linux

package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"mpitx/machine"
)

// behaviours are differences between major releases of a library that tests must expect. Scripts use them as conditions.
var behaviours = map[string]struct {
	family   string
	from, to int // major releases; to 0: all later ones
}{
	// Open MPI 6.0 crashes in MPI_Init with pml_monitoring_enable.
	"openmpi-monitors": {machine.OpenMPI, 0, 5},
	// Up to 4, some variables hold the rank. From 5 on they belong to the launcher, PRRTE, and not to the library.
	"openmpi-vpid": {machine.OpenMPI, 0, 4},
	// From 5 on a node must have its own host name and addresses: two of them cannot be one machine.
	"openmpi-nodes":     {machine.OpenMPI, 0, 4},
	"openmpi-isendrecv": {machine.OpenMPI, 5, 0},
	// From 6 on it has MPI_T events.
	"openmpi-eventless": {machine.OpenMPI, 0, 5},
	// From 6 on MPI_Init keeps variables of components that it did not select, such as pml_ucx_tls.
	"openmpi-unloads": {machine.OpenMPI, 0, 5},
	// PRRTE sometimes exits with 255 ("unable to start") if a process exits as soon as it is started, with any code.
	"openmpi-hasty": {machine.OpenMPI, 5, 0},
	// MPICH 5 exits in MPI_Init under a launcher that only speaks PMIx. With older releases each process is a separate job.
	"mpich-alone": {machine.MPICH, 0, 4},
}

// behaves reports whether the installed library has this behaviour.
func behaves(name string) (bool, error) {
	if name == "mpich-direct" { // UCX alone also carries the messages on a node
		out, _ := exec.Command("mpirun.mpich", "--version").Output()
		return bytes.Contains(out, []byte("--with-device=ch4:ucx")) && !bytes.Contains(out, []byte("--with-ch4-shmmods")), nil
	}
	b, ok := behaviours[name]
	if !ok {
		return false, fmt.Errorf("unknown condition %s", name)
	}
	if ok, err := have(b.family); !ok || err != nil {
		return false, err
	}
	major, err := release(b.family)
	return b.from <= major && (b.to == 0 || major <= b.to), err
}

// release is the major release of a library, according to its launcher.
func release(family string) (int, error) {
	return releases[family]()
}

var releases = map[string]func() (int, error){
	machine.OpenMPI: sync.OnceValues(func() (int, error) { return askLauncher(machine.OpenMPI) }),
	machine.MPICH:   sync.OnceValues(func() (int, error) { return askLauncher(machine.MPICH) }),
}

func askLauncher(family string) (int, error) {
	out, err := exec.Command("mpirun."+family, "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("mpirun.%s --version: %v", family, err)
	}
	m := regexp.MustCompile(`(\d+)\.\d+`).FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("mpirun.%s --version names no release: %s", family, out)
	}
	return strconv.Atoi(string(m[1]))
}

func TestBehaviours(t *testing.T) {
	for name, b := range behaviours {
		if ok, err := have(b.family); !ok || err != nil {
			continue
		}
		if got, err := behaves(name); err != nil {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if _, err := behaves("nonsense"); err == nil {
		t.Error("an unknown condition holds")
	}
}
