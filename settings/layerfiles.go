package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/machine"
)

// ucxFiles are the files from which UCX takes what the environment does not set, the strongest first (1.13, measured).
func (q Query) ucxFiles() (files []string) {
	const name = "ucx.conf"
	if dir, err := os.Getwd(); err == nil {
		files = append(files, filepath.Join(dir, name))
	}
	for _, dir := range []string{q.Env.Getenv("UCX_CONFIG_DIR"), q.Env.Getenv("HOME"), "/etc/ucx"} {
		if dir != "" {
			files = append(files, filepath.Join(dir, name))
		}
	}
	var once []string
	for _, f := range files {
		if !slices.Contains(once, f) {
			once = append(once, f)
		}
	}
	return once
}

// ofUCXFiles are the settings of UCX's files, those with precedence first. Its lines are NAME = VALUE, in sections, which do not matter;
// comments begin with # or ;.
func (q Query) ofUCXFiles() (all []Influence) {
	for _, path := range q.ucxFiles() {
		data, err := os.ReadFile(q.Env.File(path))
		if err != nil {
			continue
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			line, _, _ = strings.Cut(strings.TrimSpace(line), " ;")
			if line == "" || strings.ContainsAny(line[:1], "#;[") {
				continue
			}
			name, value, ok := strings.Cut(line, "=")
			i := Influence{Name: strings.TrimSpace(name), Reader: "UCX", Origin: catalog.Origin{Kind: catalog.OriginFile, Where: path + ":" + strconv.Itoa(n), Value: strings.TrimSpace(value)}}
			switch {
			case !ok:
				i.Dropped = droppedLine(line).Dropped
			case !strings.HasPrefix(i.Name, "UCX_"):
				i.Dropped = "UCX has no variable of this name; they begin with UCX_"
			}
			all = append(all, i)
		}
	}
	return all
}

// beyondFiles are the settings of the files of what MPI builds on, and of the launcher. given are variables of the environment, which take
// precedence.
func (q Query) beyondFiles(given map[string]bool) (all []Influence) {
	for _, i := range q.ofUCXFiles() {
		i.Overridden = given[i.Name] && i.Dropped == ""
		given[i.Name] = true
		all = append(all, i)
	}
	home := q.Env.Getenv("HOME")
	if q.Impl != machine.OpenMPI || home == "" {
		return all
	}
	launch := q.Env.Launcher().Name
	for _, f := range []struct {
		file, reader string
		read         bool
	}{{".pmix", Reader("PMIX_"), launch == "orte" || launch == "prrte"}, {".prte", Reader("PRTE_MCA_"), launch == "prrte"}} {
		if !f.read {
			continue
		}
		for _, s := range q.read(filepath.Join(home, f.file, "mca-params.conf")) {
			all = append(all, Influence{Name: s.Name, Reader: f.reader, Origin: s.Origin, Dropped: s.Dropped, beyond: true})
		}
	}
	return all
}
