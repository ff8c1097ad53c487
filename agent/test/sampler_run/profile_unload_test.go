package samplerrun

import (
	"strings"
	"testing"

	"mpitx/symbols"
)

// Call sites in a library that the program has unloaded have names, whether the program ends or is killed.
func TestProfileUnloaded(t *testing.T) {
	each(t, func(t *testing.T, m *mpi) {
		plugin := m.compile(t, "profile_unload.c", "-shared", "-fPIC", "-g", "-DPLUGIN")
		for _, end := range []string{"finalize", "kill"} {
			r := m.run(t, job{n: 1, config: []string{"profile=record"}, program: []string{m.compile(t, "profile_unload.c", "-ldl"), plugin, end}})
			if !strings.HasPrefix(r.stdout, "mapped 1 0\n") { // mpiexec adds a note on killed processes
				t.Fatalf("%s: %q %s", end, r.stdout, r.stderr)
			}
			for _, row := range r.table(t, 0, "profile calls") {
				if row.text("function") != "MPI_Barrier" {
					continue
				}
				address := uint64(row.number("stack"))
				s := symbols.New(symbols.Options{})
				defer s.Close()
				module := r.run.Ranks[0].Module(address)
				if module == nil || module.Path != plugin {
					t.Fatalf("%s: %#x is in %+v, not in %s", end, address, module, plugin)
				}
				if frames := s.Resolve((*symbols.Module)(module), address); frames[0].Function != "in_plugin" || frames[0].Line == 0 {
					t.Errorf("%s: %+v", end, frames)
				}
			}
		}
	})
}
