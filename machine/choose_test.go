package machine

import (
	"debug/elf"
	"errors"
	"strings"
	"testing"
)

func TestChooseOrder(t *testing.T) {
	underOpenMPI := []string{"OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_MCA_orte_ess_num_procs=4"}
	underHydra := []string{"PMI_RANK=2", "PMI_SIZE=4", "HYDI_CONTROL_FD=7", "MPI_LOCALRANKID=2", "MPI_LOCALNRANKS=4"}
	module := func(tr *tree) {
		tr.lib("/soft/mpich-4/lib/libmpi.so.12", "libmpi.so.12", "MPI_T_init_thread", "MPIR_Dup_fn")
		tr.exe("/soft/mpich-4/bin/mpirun", "hydra")
	}
	for name, c := range map[string]struct {
		environ []string
		want    string
		setup   func(*tree)
		lib     string
		why     string
	}{
		"mpirun in PATH":            {lib: debianOpenMPI, why: "mpirun in PATH (/usr/bin/mpirun)"},
		"--mpi above MPITX_MPI":     {environ: []string{"MPITX_MPI=openmpi"}, want: "mpich", lib: debianMPICH, why: "--mpi mpich"},
		"MPITX_MPI above launcher":  {environ: append(underOpenMPI, "MPITX_MPI=mpich"), lib: debianMPICH, why: "$MPITX_MPI=mpich"},
		"launcher above PATH":       {environ: underHydra, lib: debianMPICH, why: "MPICH's mpiexec"},
		"launcher of Open MPI":      {environ: underOpenMPI, lib: debianOpenMPI, why: "Open MPI's mpirun"},
		"PATH above modules":        {environ: []string{"MPI_HOME=/soft/mpich-4"}, setup: module, lib: debianOpenMPI, why: "mpirun in PATH"},
		"a prefix":                  {want: "/soft/mpich-4", setup: module, lib: "/soft/mpich-4/lib/libmpi.so.12", why: "--mpi /soft/mpich-4"},
		"a prefix with two":         {want: "/usr", lib: debianOpenMPI, why: "--mpi /usr"},
		"a library":                 {want: debianMPICH, lib: debianMPICH, why: "--mpi " + debianMPICH},
		"a link to a library":       {want: "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so", lib: debianOpenMPI, why: "--mpi"},
		"a launcher's path":         {want: "/usr/bin/mpirun.mpich", lib: debianMPICH, why: "--mpi"},
		"a launcher's name":         {want: "mpirun.mpich", lib: debianMPICH, why: "--mpi"},
		"capitals":                  {want: "MPICH", lib: debianMPICH, why: "--mpi MPICH"},
		"demo":                      {want: "demo", lib: "", why: "--mpi demo"},
		"demo's own launcher":       {environ: []string{"FAKEMPI_SIZE=4", "FAKEMPI_RANK=0"}, lib: "", why: "demo"},
		"relative PATH is no place": {environ: []string{"PATH=bin:."}, setup: module, lib: "", why: ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := debian(t, c.environ...)
			if c.setup != nil {
				c.setup(tr)
			}
			m, err := tr.env.Choose(c.want)
			if c.why == "" {
				if err == nil {
					t.Fatalf("chose %+v", m)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Lib != c.lib || !strings.Contains(m.Why, c.why) {
				t.Errorf("chose %s because %q, want %s because %q", m.Lib, m.Why, c.lib, c.why)
			}
			if m.Family != Demo && (m.Launcher == "" || !strings.HasPrefix(m.BuildID, "dead")) {
				t.Errorf("launcher %q, build id %q", m.Launcher, m.BuildID)
			}
		})
	}
}

// The launcher is identified by its path, also through shells and its own helpers, and if PATH has another one.
func TestChooseByAncestor(t *testing.T) {
	tr := debian(t, "OMPI_COMM_WORLD_SIZE=2")
	tr.lib("/soft/openmpi-5/lib/libmpi.so.40.40.7", "libmpi.so.40")
	tr.link("/soft/openmpi-5/lib/libmpi.so.40", "libmpi.so.40.40.7")
	tr.exe("/soft/openmpi-5/bin/prterun")
	tr.process(1000, 900, "/home/u/bin/mpitx")
	tr.process(900, 800, "/usr/bin/dash")
	tr.process(800, 1, "/soft/openmpi-5/bin/prterun")
	m, err := tr.env.Choose("")
	if err != nil || m.Lib != "/soft/openmpi-5/lib/libmpi.so.40.40.7" || m.Launcher != "/soft/openmpi-5/bin/prterun" || m.Prefix != "/soft/openmpi-5" {
		t.Fatalf("%+v, %v", m, err)
	}
	if l := tr.env.Launcher(); l.PID != 800 || l.Name != "prrte" {
		t.Fatalf("%+v", l)
	}
}

func TestChooseModules(t *testing.T) {
	for variable, prefix := range map[string]string{
		"MPI_HOME": "/soft/a", "MPI_ROOT": "/soft/a", "EBROOTOPENMPI": "/soft/a", "EBROOTMPICH": "/soft/m",
		"CRAY_MPICH_DIR": "/opt/cray/pe/mpich/8/ofi/gnu/12", "I_MPI_ROOT": "/opt/intel/mpi/2021",
	} {
		tr := newTree(t, "PATH=/usr/bin", variable+"="+prefix)
		tr.lib("/soft/a/lib64/libmpi.so.40", "libmpi.so.40")
		tr.lib("/soft/m/lib/libmpi.so.12", "libmpi.so.12", "MPI_T_init_thread", "QMPI_Register_tool_name")
		tr.lib("/opt/cray/pe/mpich/8/ofi/gnu/12/lib/libmpi_gnu_123.so.12", "libmpi_gnu_123.so.12", "MPI_T_init_thread")
		tr.lib("/opt/intel/mpi/2021/lib/release/libmpi.so.12", "libmpi.so.12", "MPI_T_init_thread")
		m, err := tr.env.Choose("")
		if err != nil || !strings.HasPrefix(m.Lib, prefix) || m.Prefix != prefix || !strings.Contains(m.Why, "$"+variable) {
			t.Errorf("%s: %+v, %v", variable, m, err)
		}
	}
}

func TestChooseErrors(t *testing.T) {
	for name, c := range map[string]struct {
		tr   func(*testing.T) *tree
		want string
		says []string
	}{
		"nothing installed": {func(t *testing.T) *tree { return newTree(t, "PATH=/usr/bin") }, "",
			[]string{"no MPI library found: searched", "/usr/lib/x86_64-linux-gnu", "$MPI_HOME", "--mpi demo"}},
		"family not there": {func(t *testing.T) *tree { return debian(t) }, "abi", []string{"--mpi abi: no library of this family"}},
		"nonsense":         {func(t *testing.T) *tree { return debian(t) }, "nonsense", []string{"--mpi nonsense: ", "openmpi, mpich, abi, demo"}},
		"no MPI in folder": {func(t *testing.T) *tree { return debian(t) }, "/etc", []string{"--mpi /etc: no libmpi"}},
		"no library":       {func(t *testing.T) *tree { return debian(t) }, "/usr/lib/x86_64-linux-gnu/pkgconfig/ompi.pc", []string{"neither a libmpi"}},
		"several, no mpirun": {func(t *testing.T) *tree {
			tr := debian(t)
			tr.env.Environ = nil
			return tr
		}, "", []string{"cannot choose an MPI", "Open MPI (" + debianOpenMPI, "--mpi openmpi, --mpi mpich"}},
		"launcher without library": {func(t *testing.T) *tree {
			return newTree(t, "PATH=/usr/bin", "PMI_RANK=0", "PMI_SIZE=2", "HYDI_CONTROL_FD=3")
		}, "", []string{"no MPICH library found: this process was started by MPICH's mpiexec", "--mpi PREFIX"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.tr(t).env.Choose(c.want)
			var e *Error
			if !errors.As(err, &e) || e.What == "" || e.Why == "" || e.Do == "" {
				t.Fatalf("%#v", err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%q does not say %q", err, s)
				}
			}
		})
	}
}

func TestTheOnlyOne(t *testing.T) {
	tr := newTree(t, "PATH=/usr/bin")
	tr.lib("/opt/some/lib/libmpi.so.40", "libmpi.so.40")
	m, err := tr.env.Choose("")
	if err != nil || !strings.HasPrefix(m.Why, "the only MPI found") {
		t.Fatalf("%+v, %v", m, err)
	}
}

// Both of Debian's ABI libraries have the name libmpi_abi.so.1.
func TestChooseABIByLauncher(t *testing.T) {
	for launcher, c := range map[string]struct {
		environ       []string
		exe, lib, own string
	}{
		"none":     {nil, "", "openmpi", "mpirun.openmpi"},
		"Open MPI": {[]string{"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"}, "/usr/bin/orterun", "openmpi", "mpirun.openmpi"},
		"MPICH":    {[]string{"PMI_RANK=0", "PMI_SIZE=2", "HYDI_CONTROL_FD=7"}, "/usr/bin/mpiexec.hydra", "mpich", "mpirun.mpich"},
	} {
		tr := debian(t, c.environ...)
		lib := "/usr/lib/x86_64-linux-gnu/"
		tr.lib(lib+"libmpi_abi_openmpi.so.1.0.0", "libmpi_abi.so.1")
		tr.lib(lib+"libmpi_abi_mpich.so.1.0.0", "libmpi_abi.so.1")
		tr.link(lib+"libmpi_abi.so.1", "libmpi_abi_openmpi.so.1.0.0")
		tr.process(1000, 999, "/usr/bin/mpitx")
		tr.process(999, 1, or(c.exe, "/bin/sh"))
		m, err := tr.env.Choose("abi")
		if err != nil || m.Lib != lib+"libmpi_abi_"+c.lib+".so.1.0.0" || m.Launcher != "/usr/bin/"+c.own || m.Impl != c.lib {
			t.Errorf("%s: %+v, %v", launcher, m, err)
		}
	}
}

func TestFamilies(t *testing.T) {
	for name, c := range map[string]struct {
		file, soname string
		symbols      []string
		family, impl string
	}{
		"Open MPI":             {"libmpi.so.40", "libmpi.so.40", nil, OpenMPI, OpenMPI},
		"Debian's MPICH":       {"libmpich.so.12", "libmpich.so.12", nil, MPICH, MPICH},
		"MPICH":                {"libmpi.so.12", "libmpi.so.12", []string{"MPI_T_init_thread", "MPIR_Dup_fn"}, MPICH, MPICH},
		"MPICH, names merged":  {"libmpi.so.12", "libmpi.so.12", []string{"PMPI_T_init_thread", "QMPI_Register_tool_name"}, MPICH, MPICH},
		"Open MPI 1.10":        {"libmpi.so.12", "libmpi.so.12", []string{"MPI_T_init_thread", "ompi_mpi_comm_world"}, OpenMPI, OpenMPI},
		"standard ABI":         {"libmpi_abi.so.1", "libmpi_abi.so.1", nil, ABI, ""},
		"Open MPI's ABI":       {"libmpi_abi_openmpi.so.1.0.0", "libmpi_abi.so.1", nil, ABI, OpenMPI},
		"MPICH's ABI":          {"libmpi_abi.so.1", "libmpi_abi.so.1", []string{"QMPI_Register_tool_name"}, ABI, MPICH},
		"no MPI":               {"libmpi.so.12", "libmpi.so.12", []string{"something"}, "", ""},
		"without a SONAME":     {"libmpi.so", "", []string{"ompi_mpi_comm_world"}, OpenMPI, OpenMPI},
		"a prefix of the name": {"libmpi.so.12", "libmpi.so.12", []string{"ompi_mpi_comm_world2"}, "", ""},
	} {
		tr := newTree(t)
		tr.lib("/x/lib/"+c.file, c.soname, c.symbols...)
		m, ok := tr.env.inspect("/x/lib/" + c.file)
		if m.Family != c.family || m.Impl != c.impl || ok != (c.family != "") {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestOtherMachinesAndJunk(t *testing.T) {
	tr := newTree(t)
	tr.write("/x/lib/libmpi.so.40", sharedLibrary(elf.EM_AARCH64, "libmpi.so.40"), 0o644)
	good := sharedLibrary(elf.EM_X86_64, "libmpi.so.40")
	for i := range good {
		tr.write("/y/lib/libmpi.so.40", good[:i], 0o644)
		tr.env.libs.Clear()
		tr.env.inspect("/y/lib/libmpi.so.40") // must not panic
	}
	if m, ok := tr.env.inspect("/x/lib/libmpi.so.40"); ok {
		t.Errorf("took a library of another machine: %+v", m)
	}
}

func TestFindListsEachOnce(t *testing.T) {
	tr := debian(t, "LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu", "MPI_HOME=/usr")
	all := tr.env.Find()
	if len(all) != 2 || all[0].Lib != debianOpenMPI || all[1].Lib != debianMPICH {
		t.Fatalf("%+v", all)
	}
	if all[0].Version != "4.1.4" || all[0].Launcher != "/usr/bin/mpirun" || all[1].Launcher != "/usr/bin/mpirun.mpich" {
		t.Errorf("%+v", all)
	}
}

func TestLinksThatGoInCircles(t *testing.T) {
	tr := newTree(t, "PATH=/usr/bin")
	tr.link("/usr/bin/mpirun", "mpiexec")
	tr.link("/usr/bin/mpiexec", "mpirun")
	tr.link("/usr/lib/libmpi.so.40", "libmpi.so.40")
	if all := tr.env.Find(); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
