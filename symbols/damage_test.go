package symbols

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mpitx/fixtures/mutate"
)

// tiny compiles small programs of several formats, to be damaged.
func tiny(t testing.TB) (files [][]byte) {
	for _, command := range []string{"gcc -g -O2 -nostdlib -shared", "gcc -gdwarf-4 -gz -O2 -nostdlib -shared", "clang -g -O1 -nostdlib -shared", "gcc -gdwarf-3 -O2 -m32 -c"} {
		dir := t.TempDir()
		source, target := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
		os.WriteFile(source, []byte("int g(int); static inline int f(int n) { g(n); return g(n + 1); } int h(int n) { for (int i = 0; i < n; i++) f(i); return f(n) - 1; }"), 0o600)
		words := append(strings.Fields(command), "-fPIC", "-o", target, source)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		b, err := os.ReadFile(target)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// survive resolves addresses of a file that may be damaged; the file takes the time that its size allows.
func survive(t testing.TB, dir string, b []byte) (named int) {
	path := filepath.Join(dir, "a.so")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Module{Path: path}
	if o, err := openObject(path); err == nil {
		m.BuildID = o.buildID
		o.close()
	}
	s := New(Options{Directories: []string{}})
	defer s.Close()
	start := time.Now()
	for at := uint64(0); at < 0x3000; at += 16 {
		frames := s.Resolve(m, at+1)
		if len(frames) == 0 || len(frames) > maxChain {
			t.Fatalf("%d frames", len(frames))
		}
		if frames[0].Line > 0 {
			named++
		}
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Fatalf("%v for %d bytes", took, len(b))
	}
	return named
}

// Damaged files neither crash nor hang.
func TestDamagedFiles(t *testing.T) {
	defer rethrowPanics()()
	dir := t.TempDir()
	for i, b := range tiny(t) {
		if named := survive(t, dir, b); named == 0 && i < 3 {
			t.Errorf("file %d: nothing resolved", i)
		}
		r := rand.New(rand.NewPCG(1, uint64(i)))
		for range 150 {
			survive(t, dir, damage(r, b))
		}
	}
}

func rethrowPanics() (end func()) {
	rethrow = true
	return func() { rethrow = false }
}

// damage changes some bytes, or cuts the file.
func damage(r *rand.Rand, b []byte) []byte {
	b = append([]byte{}, b...)
	if r.IntN(10) == 0 {
		return b[:r.IntN(len(b))]
	}
	for range 1 + r.IntN(20) {
		b[r.IntN(len(b))] = []byte{0, 1, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(6)]
	}
	return b
}

// An input is edits of one of the programs.
func FuzzResolve(f *testing.F) {
	files, dir := tiny(f), mutate.Folder(f)
	for i := range files {
		f.Add(uint8(i), []byte{})
	}
	f.Add(uint8(0), []byte("\x02\x0c\x00\x02\x00"))
	defer rethrowPanics()()
	f.Fuzz(func(t *testing.T, which uint8, script []byte) {
		survive(t, dir, mutate.Bytes(files[int(which)%len(files)], script))
	})
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"__solver_MOD_step", "foo_", "_ZN7lattice5FieldIdEpLERKS1_", "f.constprop.0", "_QMsolverPstep", "operator<", "a<b>"} {
		f.Add(name, name)
	}
	f.Fuzz(func(t *testing.T, source, linkage string) {
		if n := (names{source, linkage}).function(); n == "" && source+linkage != "" {
			t.Errorf("%q %q: no name", source, linkage)
		}
	})
}

func TestNames(t *testing.T) {
	for symbol, want := range map[string]string{
		"__solver_MOD_step": "solver::step", "solver_mp_step_": "solver::step", "_QMsolverPstep": "solver::step", "foo_": "foo", "_QPfoo": "foo",
		"Foo_": "Foo_", "foo__": "foo__", "_": "_", "main": "main", "MAIN__": "MAIN__", "f.constprop.0": "f", "f.part.0.cold": "f", "inner.3": "inner", ".init": ".init",
		"__solver_MOD_step.cold": "solver::step", "_ZN7lattice5FieldIdE3sumEPFiiE": "lattice::Field::sum", "_ZL5localv.isra.0": "local", "_Z": "_Z",
		"_RNvCs1234_7mycrate3foo": "mycrate::foo",
	} {
		if got := symbolName(symbol); got != want {
			t.Errorf("%s: %s, not %s", symbol, got, want)
		}
	}
	for source, want := range map[string]string{"f<int>": "f", "operator<": "operator<", "operator<< <char>": "operator<< <char>", "operator->": "operator->", "operator()<int>": "operator()", "f": "f"} {
		if got := (names{source: source}).function(); got != want {
			t.Errorf("%s: %s, not %s", source, got, want)
		}
	}
}
