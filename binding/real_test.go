package binding

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mpitx/catalog"
	"mpitx/fixtures/need"
)

// family is an installed MPI, under Debian's names.
type family struct{ name, mpicc, lib string }

var families = []family{
	{"openmpi", "mpicc.openmpi", "libmpi.so.40"},
	{"mpich", "mpicc.mpich", "libmpich.so.12"},
}

const shimVariable = "MPITX_TEST_SHIM"

func (f family) load() (*Library, error) { return Load(os.Getenv(shimVariable), f.lib) }

var (
	shimLock sync.Mutex
	shimDir  string
	shims    = map[string]string{}
)

// shim builds the family's shim once.
func (f family) shim(t *testing.T) string {
	t.Helper()
	shimLock.Lock()
	defer shimLock.Unlock()
	if path := shims[f.name]; path != "" {
		return path
	}
	need.Commands(t, f.mpicc)
	if shimDir == "" {
		var err error
		if shimDir, err = os.MkdirTemp("", "mpitx-shim-"); err != nil {
			t.Fatal(err)
		}
	}
	object, path := filepath.Join(shimDir, f.name+".o"), filepath.Join(shimDir, f.name+".so")
	for _, args := range [][]string{
		{f.mpicc, "-std=gnu11", "-O1", "-fPIC", "-Wall", "-Wextra", "-Werror", "-c", "shim/shim.c", "-o", object},
		{"cc", "-shared", "-o", path, object, "-ldl"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	shims[f.name] = path
	return path
}

// onReal runs a body with each installed MPI, in the process that adjust chooses.
func onReal(t *testing.T, adjust func(family, child) child, body func(t *testing.T, f family, m *mpi)) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			c := child{load: f.load}
			if os.Getenv(childVariable) == "" {
				c.env = []string{shimVariable + "=" + f.shim(t)}
			}
			adjust(f, c).run(t, func(t *testing.T, m *mpi) { body(t, f, m) })
		})
	}
}

func at(s stage) func(family, child) child {
	return func(_ family, c child) child { c.stage = s; return c }
}

func (m *mpi) isDebianOpenMPI() bool {
	text, _ := m.lib.VersionText()
	return strings.HasPrefix(text, "Open MPI v4.1.4")
}

func TestRealFacts(t *testing.T) {
	onReal(t, at(loaded), func(t *testing.T, f family, m *mpi) {
		want(t, "family", m.lib.Family(), f.name)
		want(t, "path", m.lib.Path, f.lib)
		version, _, err := m.lib.Version()
		if err != nil || version < 3 {
			t.Error(version, err)
		}
		text := must(m.lib.VersionText())(t)
		if !strings.Contains(strings.ToLower(text), map[string]string{"openmpi": "open mpi", "mpich": "mpich"}[f.name]) || text != strings.TrimSpace(text) {
			t.Errorf("%q", text)
		}
		want(t, "MPI_Send", m.lib.Has("MPI_Send"), true)
		want(t, "MPI_Sendd", m.lib.Has("MPI_Sendd"), false)
		want(t, "QMPI", m.lib.HasQMPI(), false)
	})
}

// Debian's libraries are built without PERUSE.
func TestRealPeruse(t *testing.T) {
	onReal(t, at(after), func(t *testing.T, _ family, m *mpi) {
		_, err := m.lib.InitPeruse()
		wantErr(t, "InitPeruse", err, ErrNotProvided)
		duplicate := must(m.lib.Dup(CommWorld))(t)
		m.exchangeOn(duplicate, 1)
		wantErr(t, "FreeComm", m.lib.FreeComm(duplicate), nil)
	})
}

func TestRealInfo(t *testing.T) {
	for name, s := range map[string]stage{"before": before, "after": after} {
		t.Run(name, func(t *testing.T) {
			onReal(t, at(s), func(t *testing.T, f family, m *mpi) { m.checkReal(f, s) })
		})
	}
}

// checkReal checks everything that the library lists.
func (m *mpi) checkReal(f family, s stage) {
	t := m.t
	numCvars, numPvars, numCategories := must(m.NumCvars())(t), must(m.NumPvars())(t), must(m.NumCategories())(t)
	least := map[string][2]int{"openmpi": {700, 100}, "mpich": {200, 10}}[f.name]
	if numCvars < least[0] || numCvars > 5000 || numPvars < 0 || numPvars > 1000 || numCategories < least[1] || numCategories > 1000 {
		t.Errorf("%d control variables, %d performance variables, %d categories", numCvars, numPvars, numCategories)
	}
	o := ProbeOptions{TrialWrites: true, Object: CommWorld}
	cvars, pvars := m.probe(o)
	alive, byName := 0, map[string]catalog.Reading{}
	for k, trial := range cvars {
		info, err := m.CvarInfo(k)
		want(t, fmt.Sprintf("control variable %d is dead", k), trial.Dead, err != nil)
		if err != nil {
			wantErr(t, "CvarInfo", err, ErrInvalidIndex)
			continue
		}
		alive++
		byName[info.Name] = trial.Reading
		m.checkCvar(k, info, trial)
	}
	// Some of Open MPI's variables point to memory of unloaded components and have random values.
	if m.differ > 6 || m.differ > 0 && f.name != "openmpi" {
		t.Errorf("%d values of the child are others than here", m.differ)
	}
	if alive < least[0] {
		t.Errorf("%d of %d control variables are alive", alive, numCvars)
	}
	faulty, read := 0, 0
	for k, trial := range pvars {
		info, err := m.PvarInfo(k)
		want(t, fmt.Sprintf("performance variable %d is dead", k), trial.Dead, err != nil)
		if err != nil {
			continue
		}
		want(t, info.Name, must(m.PvarIndex(info.Name, info.Class))(t), k)
		if strings.Contains(info.Class.String()+info.Datatype.String()+info.Bind.String()+info.Verbosity.String(), "unknown") {
			t.Errorf("%+v", info)
		}
		switch r := trial.Reading; {
		case r.Status == catalog.StatusFaulty && strings.HasPrefix(info.Name, "mtl_psm2_"):
			want(t, info.Name, r.Reason, "crashes in handle_alloc (SIGSEGV)")
			faulty++
		case r.Status == catalog.StatusOK:
			want(t, info.Name, r.Value.Type(), info.Datatype)
			read++
		case r.Status != catalog.StatusUnbound && r.Status != catalog.StatusError:
			t.Errorf("%s: %+v", info.Name, r)
		}
	}
	if m.isDebianOpenMPI() {
		want(t, "performance variables that crash", faulty, 13)
		if read == 0 {
			t.Error("none is read")
		}
		// The counts of Debian 12; hardware changes them by a few.
		if counts := map[stage][2]int{before: {1259, 33}, after: {1116, 46}}[s]; numCvars < counts[0]-100 || numCvars > counts[0]+100 || numPvars != counts[1] {
			t.Errorf("%d control variables, %d performance variables", numCvars, numPvars)
		}
	}
	m.checkRealCategories(numCvars, numPvars, numCategories)
	m.checkRealWrite(f, byName)
	if _, err := m.NumEvents(); m.lib.Has("MPI_T_event_get_num") != (err == nil) {
		t.Errorf("NumEvents: %v", err)
	}
}

func (m *mpi) checkCvar(index int, info CvarInfo, trial Trial) {
	t := m.t
	want(t, info.Name, must(m.CvarIndex(info.Name))(t), index)
	if strings.Contains(info.Scope.String()+info.Datatype.String()+info.Bind.String()+info.Verbosity.String(), "unknown") || info.Name == "" {
		t.Errorf("%+v", info)
	}
	if !info.Enum.IsNull() {
		if e, err := m.Enum(info.Enum); err != nil || e.Name == "" || len(e.Items) == 0 {
			t.Errorf("%s: enumeration %+v, %v", info.Name, e, err)
		}
	}
	r := trial.Reading
	switch {
	case r.Status == catalog.StatusError && r.Reason == "read: "+ErrInvalidIndex.Error(): // Open MPI's synonyms of unloaded variables
	case r.Status == catalog.StatusError && r.Reason == "read: "+ErrInvalid.Error() && strings.HasPrefix(info.Name, "coll_ucc_print_"): // Open MPI 6.0
	case r.Status != catalog.StatusOK:
		t.Errorf("%s: %+v", info.Name, r)
	case r.Value.Type() != info.Datatype || info.Datatype != catalog.TypeChar && r.Value.Len() != r.Count:
		t.Errorf("%s: %v of %d elements", info.Name, r.Value.Type(), r.Count)
	default:
		// The child read the same value as this process.
		h := must(m.AllocCvar(index, NoObject))(t)
		if v := must(h.Read())(t); v != r.Value {
			t.Logf("%s: %q in the child, %q here", info.Name, r.Value, v)
			m.differ++
		}
		want(t, "count of "+info.Name, h.Count(), r.Count)
		wantErr(t, "Free", h.Free(), nil)
	}
	if r.Status == catalog.StatusOK && (info.Scope == catalog.ScopeReadonly || info.Scope == catalog.ScopeConstant) {
		want(t, info.Name+" is "+info.Scope.String(), r.Writable, catalog.WritableNever)
	}
}

func (m *mpi) checkRealCategories(numCvars, numPvars, num int) {
	t := m.t
	seen := map[string]bool{}
	for k := range num {
		info, err := m.CategoryInfo(k)
		if err != nil {
			wantErr(t, "CategoryInfo", err, ErrInvalidIndex)
			continue
		}
		if info.Name == "" || seen[info.Name] {
			t.Errorf("category %d is called %q", k, info.Name)
		}
		seen[info.Name] = true
		want(t, info.Name, must(m.CategoryIndex(info.Name))(t), k)
		for _, list := range []struct {
			got      func(int) ([]int, error)
			num, end int
		}{{m.CategoryCvars, info.NumCvars, numCvars}, {m.CategoryPvars, info.NumPvars, numPvars}, {m.CategoryCategories, info.NumCategories, num}} {
			members := must(list.got(k))(t)
			want(t, "members of "+info.Name, len(members), list.num)
			for _, member := range members {
				if member < 0 || member >= list.end {
					t.Errorf("%s has the member %d of %d", info.Name, member, list.end)
				}
			}
		}
	}
	must(m.CategoryChanged())(t)
}

// checkRealWrite writes a variable that can be written at any time, and reads it back.
func (m *mpi) checkRealWrite(f family, readings map[string]catalog.Reading) {
	t := m.t
	name := map[string]string{"openmpi": "coll_tuned_bcast_algorithm_segmentsize", "mpich": "MPIR_CVAR_BCAST_SHORT_MSG_SIZE"}[f.name]
	r, here := readings[name]
	if !here || r.Writable != catalog.WritableYes {
		name = ""
		for n, r := range readings {
			if r.Writable == catalog.WritableYes && r.Value.Type() == catalog.TypeInt && r.Count == 1 && strings.Contains(n, "size") {
				name = n
			}
		}
	}
	if name == "" {
		t.Error("nothing can be written")
		return
	}
	index := m.cvar(name)
	h := must(m.AllocCvar(index, NoObject))(t)
	defer h.Free()
	old := must(h.Read())(t)
	now := value(t, old.Type(), 1, fmt.Sprint(old.Int(0)+8))
	trial := must(m.ProbeWrite(index, 1, now, ProbeOptions{}))(t)
	if trial.Err != nil || trial.Fault != "" || trial.ReadBack != now {
		t.Errorf("%s: %+v", name, trial)
	}
	want(t, name+" after the trial", must(h.Read())(t), old)
	wantErr(t, name, h.Write(now), nil)
	want(t, name, must(h.Read())(t), now)
	want(t, name+" by another handle", m.read(name), now)
	wantErr(t, name, h.Write(old), nil)
}

func TestRealSession(t *testing.T) {
	onReal(t, func(f family, c child) child {
		c.stage = after
		if f.name == "openmpi" {
			c.env = append(c.env, "OMPI_MCA_pml=ob1")
		}
		return c
	}, func(t *testing.T, f family, m *mpi) {
		s := m.session()
		wantErr(t, "Start of none", s.Start(AllHandles), nil)
		if f.name == "openmpi" {
			h := m.openPvar(s, "pml_ob1_unexpected_msgq_length", catalog.ClassSize)
			want(t, "count", h.Count(), 1)
			info := must(m.PvarInfo(m.pvar("pml_ob1_unexpected_msgq_length", catalog.ClassSize)))(t)
			var refused error
			if info.Continuous {
				refused = ErrPvarNoStartStop
			}
			if m.isDebianOpenMPI() {
				want(t, "attributes", fmt.Sprint(info.Readonly, info.Continuous, info.Atomic, info.Bind, info.Datatype), "true true false comm unsigned")
			}
			wantErr(t, "Start", s.Start(h), refused)
			want(t, "queue", must(s.Read(h))(t).String(), "0")
			r := must(m.lib.Send([]byte("unexpected"), 0, 77))(t)
			m.lib.Probe(0, 77)
			want(t, "queue", must(s.Read(h))(t).String(), "1")
			got, _ := m.receive(0, 77)
			m.await(r)
			want(t, "message", string(got), "unexpected")
			want(t, "queue", must(s.Read(h))(t).String(), "0")
			wantErr(t, "Stop", s.Stop(h), refused)
			wantErr(t, "Stop all", s.Stop(AllHandles), nil)
			wantErr(t, "FreeHandle", s.FreeHandle(h), nil)
		}
		wantErr(t, "Free", s.Free(), nil)
		wantErr(t, "Free again", s.Free(), ErrInvalidSession)
		wantErr(t, "Finalize", m.Finalize(), nil)
		must2(m.lib.InitThread(catalog.ThreadSingle))(t)
		must(m.CvarInfo(0))(t)
	})
}

func TestRealMessages(t *testing.T) {
	onReal(t, at(after), func(t *testing.T, f family, m *mpi) {
		checkMessagesToItself(t, m)
		_, err := m.lib.Send([]byte("x"), 5, 0)
		if err == nil || !strings.Contains(err.Error(), "MPI_ERR_RANK") { // errors return
			t.Errorf("Send to nobody: %v", err)
		}
		r := must(m.lib.Receive(2, 0, 3))(t)
		m.await(must(m.lib.Send([]byte("too long"), 0, 3))(t))
		var first error // Open MPI returns none and truncates the message
		eventually(t, "a message that is too long", func() bool {
			done, err := r.Done()
			first = err
			return done || err != nil
		})
		if _, err := r.Done(); err != first || f.name == "mpich" && first == nil {
			t.Errorf("a message that is too long: %v, then %v", first, err)
		}
		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
	})
}

// A library of one family with the shim of the other would be called with the wrong constants.
func TestLoadWrongFamily(t *testing.T) {
	onReal(t, func(_ family, c child) child { c.stage = bare; return c }, func(t *testing.T, f family, m *mpi) {
		_, err := Load(os.Getenv(shimVariable), "libm.so.6")
		if err == nil || !strings.Contains(err.Error(), "libm.so.6 lacks MPI_Get_version") {
			t.Errorf("libm: %v", err)
		}
		for _, other := range families {
			if other.name == f.name {
				continue
			}
			lib, err := Load(os.Getenv(shimVariable), other.lib)
			if err == nil || lib != nil {
				t.Errorf("%s is taken for %s", other.lib, f.name)
			}
		}
	})
}
