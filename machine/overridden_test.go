package machine

import "testing"

func TestOverridden(t *testing.T) {
	const own, other = "/usr/lib/x86_64-linux-gnu/libmpi.so.40.30.4", "/opt/ompi5/lib/libmpi.so.40.40.7"
	for name, c := range map[string]struct {
		path, want, mpi string // LD_LIBRARY_PATH, --mpi, $MPITX_MPI
		other           string
	}{
		"none":                  {},
		"another":               {path: "/nowhere:/opt/ompi5/lib", other: other},
		"with semicolons":       {path: "/opt/ompi5/lib;/nowhere", other: other},
		"behind the right one":  {path: "/usr/lib/x86_64-linux-gnu:/opt/ompi5/lib"},
		"of another name":       {path: "/opt/mpich5/lib"},
		"no library":            {path: "/opt/junk"},
		"named by family":       {path: "/opt/ompi5/lib", want: "openmpi", other: other},
		"named by its place":    {path: "/opt/ompi5/lib", want: own},
		"named by the variable": {path: "/opt/ompi5/lib", mpi: own},
	} {
		t.Run(name, func(t *testing.T) {
			tr := debian(t, "LD_LIBRARY_PATH="+c.path, "MPITX_MPI="+c.mpi)
			tr.lib(other, "libmpi.so.40", "ompi_mpi_comm_world", "MPI_Session_init")
			tr.link("/opt/ompi5/lib/libmpi.so.40", "libmpi.so.40.40.7")
			tr.lib("/opt/mpich5/lib/libmpi.so.12", "libmpi.so.12", "MPI_T_init_thread")
			tr.write("/opt/junk/libmpi.so.40", []byte("junk"), 0o644)
			m, err := tr.env.Choose(c.want)
			if err != nil || m.Lib != own {
				t.Fatalf("%+v %v", m, err)
			}
			if got := tr.env.Overridden(m, c.want); got != c.other {
				t.Errorf("%q, want %q", got, c.other)
			}
		})
	}
}
