package layers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"

	"mpitx/machine"
)

var parameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([a-z0-9_]+)" \(current value`) })

// PRRTE are the parameters of the launcher of an Open MPI from 5.0 on, as its prte_info lists them; nil: they are not known.
func PRRTE(e *machine.Env, m machine.MPI) (names map[string]bool) {
	info := filepath.Join(filepath.Dir(m.Launcher), "prte_info")
	if m.Launcher == "" || m.Impl != machine.OpenMPI {
		return nil
	}
	if _, err := os.Stat(e.File(info)); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	out, _ := exec.CommandContext(ctx, e.File(info), "--all").Output()
	for _, found := range parameter().FindAllSubmatch(out, -1) {
		if names == nil {
			names = map[string]bool{}
		}
		names[string(found[1])] = true
	}
	return names
}
