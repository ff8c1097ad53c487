package tuning_test

import (
	"slices"
	"strings"
	"testing"

	"mpitx/catalog"
	"mpitx/settings/tuning"
)

// What MPICH was built for is in the text of its version: its device, and the options of configure.
func TestBuild(t *testing.T) {
	const cvar, xpmem = "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE", "MPIR_CVAR_CH4_XPMEM_ENABLE"
	for _, test := range []struct{ device, configure, ofi, xpmem string }{
		{"ch4:ucx", "", "this one is built for ch4:ucx: no", ": unknown"},
		{"ch4:ofi,ucx", "--with-xpmem=/usr", "", ""},
		{"ch4:ofi", "--prefix=/opt/with-xpmem --with-xpmem", "", ""},
		{"ch4", "--without-xpmem", "this one is built for ch4: unknown", "it is not: no"},
		{"ch3:nemesis", "--with-xpmem=no", "this one is built for ch3:nemesis: no", "this one is built for ch3:nemesis: no"},
		{"", "", ": unknown", ": unknown"},
	} {
		c := load(t, "mpich-4.0.2.json")
		c.Library.Text = "MPICH Version: 4.0.2\nMPICH configure: " + test.configure
		if test.device != "" {
			c.Library.Text += "\nMPICH Device: " + test.device
		}
		for name, want := range map[string]string{cvar: test.ofi, xpmem: test.xpmem} {
			got := ""
			for _, cond := range tuning.Own().Effect(c, c.Cvar(name), enums(c)).Conditions {
				got += cond.Have + ": " + string(cond.Met) + "; "
			}
			if want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%+v: %s: %q", test, name, got)
			}
			recommended := slices.ContainsFunc(tuning.Own().Essentials(c), func(g tuning.Group) bool {
				return slices.ContainsFunc(g.Cvars, func(v *catalog.Variable) bool { return v.Name == name })
			})
			if unknown := name == xpmem && got != ""; recommended == (strings.Contains(got, ": no") || unknown) { // libraries must be named
				t.Errorf("%+v: %s is recommended: %v", test, name, recommended)
			}
		}
	}
}

// Of each parameter of an algorithm it is known which algorithms use it.
func TestAlgorithms(t *testing.T) {
	for _, library := range []string{"openmpi-4.1.4.json", "openmpi-5.0.7.json", "openmpi-6.0.0rc2.json"} {
		c := load(t, library)
		for k := range c.Cvars {
			v := &c.Cvars[k]
			collective, parameter, _ := strings.Cut(v.Name, "_algorithm_")
			if !strings.HasPrefix(v.Name, "coll_tuned_") || parameter == "" {
				continue
			}
			e := tuning.Own().Effect(c, v, enums(c))
			if e.Read != tuning.Never && !slices.ContainsFunc(e.Conditions, func(cond tuning.Condition) bool {
				return strings.HasPrefix(cond.Text, "it acts only in the algorithm ") ||
					strings.HasPrefix(cond.Text, collective+"_algorithm must be ") && !strings.Contains(cond.Text, "other than")
			}) {
				t.Errorf("%s: %s: %+v", library, v.Name, e)
			}
		}
	}
}

// Where processes are decides whether TCP and han do anything: not on one node, unless no other transport connects them there.
func TestPlace(t *testing.T) {
	for _, test := range []struct {
		hosts, ranks int
		vader        bool
		tcp, han     string
	}{
		{1, 4, true, "btl vader connects these, which are on one node: no", "these processes are on one node: no"},
		{1, 4, false, "none of these is in use: yes", "these processes are on one node: no"},
		{2, 4, true, "these processes are on 2 nodes: yes", "these processes are on 2 nodes: yes"},
		{1, 1, true, "this is one process: unknown", "this is one process: unknown"},
		{0, 4, true, "this is one process: unknown", "this is one process: unknown"},
	} {
		c := load(t, "openmpi-4.1.4.json")
		c.Job.Size, c.Job.Ranks = test.ranks, c.Job.Ranks[:min(test.ranks, test.hosts*4)]
		for k := range c.Job.Ranks {
			c.Job.Ranks[k].Host = []string{"a", "b"}[k%test.hosts]
		}
		for k := range c.Cvars {
			if v := &c.Cvars[k]; !test.vader && strings.HasPrefix(v.Name, "btl_vader_") {
				v.After = nil
			}
		}
		if !test.vader { // from 6.0 on, MPI_Init keeps the variables
			six := load(t, "openmpi-6.0.0rc2.json")
			for _, btl := range []string{"self,tcp", "^vader,sm"} {
				set(t, six, "btl", btl)
				if cond := tuning.Own().Effect(six, six.Cvar("btl_tcp_links"), enums(six)).Conditions[0]; cond.Met != tuning.Yes {
					t.Errorf("btl=%s: %+v", btl, cond)
				}
			}
		}
		for name, want := range map[string]string{"btl_tcp_links": test.tcp, "coll_han_priority": test.han} {
			cond := tuning.Own().Effect(c, c.Cvar(name), enums(c)).Conditions[0]
			if got := cond.Have + ": " + string(cond.Met); got != want {
				t.Errorf("%+v: %s: %q", test, name, got)
			}
		}
	}
}

// Options of configure say what MPICH can do; the last one counts, and some devices have a default.
func TestConfigured(t *testing.T) {
	const shm, leaks, net = "MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE", "MPIR_CVAR_ABORT_ON_LEAKED_HANDLES", "MPIR_CVAR_CH4_NETMOD"
	for _, test := range []struct {
		device, configure string
		works             []string
	}{
		{"ch4:ucx", "--with-ucx=/usr", nil},
		{"ch4:ucx", "--with-ch4-shmmods=auto", nil},
		{"ch4:ucx", "'--with-ch4-shmmods=posix'", []string{shm}},
		{"ch4:ucx", "--with-ch4-shmmods=none --with-ch4-shmmods=posix,xpmem", []string{shm}},
		{"ch4:ofi", "", []string{shm}},
		{"ch4:ofi", "--without-ch4-shmmods", nil},
		{"ch4:ofi,ucx", "--with-ch4-shmmods=none", []string{net}},
		{"ch4:ucx", "--enable-g=dbg,handlealloc", []string{leaks}},
		{"ch4:ucx", "--enable-g=dbg", nil},
		{"ch4:ucx", "--enable-g", []string{leaks}},
		{"ch4:ucx", "-enable-g=all --disable-g", nil},
	} {
		c := load(t, "mpich-4.0.2.json")
		c.Library.Text = "MPICH Version: 4.0.2\nMPICH Device: " + test.device + "\nMPICH configure: " + test.configure
		for _, name := range []string{shm, leaks, net} {
			e := tuning.Own().Effect(c, c.Cvar(name), enums(c))
			if works := e.Fails() == nil; works != slices.Contains(test.works, name) {
				t.Errorf("%+v: %s: %+v", test, name, e.Conditions)
			}
		}
	}
}

// Settings of UCX are recommended for a library that uses it, and others are not.
func TestEnvironment(t *testing.T) {
	names := func(c *catalog.Catalog) (out []string) {
		for _, g := range tuning.Own().Essentials(c) {
			for _, e := range g.Environment {
				out = append(out, e.Name)
			}
		}
		return out
	}
	c := load(t, "mpich-4.0.2.json")
	if got := names(c); !slices.Equal(got, []string{"UCX_TLS", "UCX_NET_DEVICES", "UCX_RNDV_THRESH"}) {
		t.Errorf("ch4:ucx: %v", got)
	}
	c.Library.Text = strings.ReplaceAll(c.Library.Text, "ch4:ucx", "ch4:ofi")
	if got := names(c); !slices.Equal(got, []string{"FI_PROVIDER"}) {
		t.Errorf("ch4:ofi: %v", got)
	}
	if got := names(load(t, "openmpi-4.1.4.json")); got != nil { // pml ob1
		t.Errorf("pml ob1: %v", got)
	}
}
