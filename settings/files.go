package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// fromFiles reads Open MPI's parameter files. The first named file wins, and the last line within a file.
func fromFiles(q Query) []Setting {
	var found []Setting
	for _, file := range split(q.Value("mca_base_envar_file_prefix"), ",") {
		found = append(found, q.read(file)...)
	}
	for _, file := range q.paramFiles() {
		found = append(found, q.read(file)...)
	}
	return append(found, q.ofAM()...)
}

// amVariable has the files of mpirun --am.
const amVariable = "mca_base_param_file_prefix"

// ofAM are the settings of the files of --am. Open MPI (4.1 to 6.0) puts their names and ":" in front of the list of its parameter files, whose
// names it separates by commas, so that it opens no file of the first of these names. If it does otherwise, the value decides.
func (q Query) ofAM() (found []Setting) {
	am := q.Value(amVariable)
	if am == "" {
		return nil
	}
	rest, joined := strings.CutPrefix(q.Value("mca_base_param_files"), am+":")
	for _, file := range split(am, ":") {
		for _, s := range q.read(file) {
			switch {
			case joined && s.Dropped == "":
				first, _, _ := strings.Cut(rest, ",")
				s.Dropped = "Open MPI does not open the files of --am: it joins their names with " + first + "; use --tune"
				found = append(found, s)
			case !joined && q.Value(s.Name) == s.Value:
				found = append(found, s)
			}
		}
	}
	return found
}

// overrides reads the file that overrides everything.
func overrides(q Query) []Setting {
	file := q.Value("mca_base_override_param_file")
	if file == "" || file == "none" {
		return nil
	}
	return q.read(file)
}

// inSystemFile reports whether a file of the installation sets a variable: each run has it. So does a file whose path is hidden.
func inSystemFile(o *catalog.Origin) bool {
	path, _, _ := strings.Cut(o.Where, ":")
	return o.Kind == catalog.OriginFile && slices.Contains([]string{"openmpi-mca-params.conf", overrideFile, filepath.Base(mpichConf), "<path>"}, filepath.Base(path))
}

// paramFiles are the files that the library names, or else the usual ones.
func (q Query) paramFiles() []string {
	if files := q.Value("mca_base_param_files"); files != "" {
		if files == "none" {
			return nil
		}
		if am := q.Value(amVariable); am != "" {
			files = strings.TrimPrefix(files, am+":")
		}
		return split(files, ",")
	}
	var files []string
	if home := q.Env.Getenv("HOME"); home != "" {
		files = append(files, filepath.Join(home, ".openmpi", "mca-params.conf"))
	}
	if q.Prefix == "/usr" {
		return append(files, "/etc/openmpi/openmpi-mca-params.conf", "/etc/openmpi-mca-params.conf")
	}
	if q.Prefix != "" {
		files = append(files, filepath.Join(q.Prefix, "etc", "openmpi-mca-params.conf"))
	}
	return files
}

func split(s, sep string) []string {
	var parts []string
	for p := range strings.SplitSeq(s, sep) {
		if p = strings.TrimSpace(p); p != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// read returns the settings of a file, the last line first. A missing file sets nothing.
func (q Query) read(file string) []Setting {
	path := q.find(file)
	data, err := os.ReadFile(q.Env.File(path))
	if err != nil {
		return nil
	}
	var found []Setting
	for _, l := range parseKeyval(string(data)) {
		taken := l.settings
		if l.nothing { // what the library makes of the rest of the line is seldom meant; PRRTE, which reads the file for it, makes nothing of it
			prrte := q.Env.Launcher().Name == "prrte"
			taken = slices.DeleteFunc(taken, func(s Setting) bool { return prrte || !slices.Contains(q.Names, s.Name) })
		}
		if l.nothing && len(taken) == 0 && strings.TrimSpace(l.text) != "" {
			taken = []Setting{droppedLine(l.text)}
		}
		for _, s := range taken {
			s.Kind, s.Where = catalog.OriginFile, path+":"+strconv.Itoa(l.number)
			found = append(found, s)
		}
	}
	slices.Reverse(found)
	return found
}

// find looks for a file of the launcher's options in the same places as Open MPI.
func (q Query) find(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	for _, dir := range split(strings.Trim(q.Value("mca_base_param_file_path"), `"`), ":") {
		if _, err := os.Stat(q.Env.File(filepath.Join(dir, file))); err == nil {
			return filepath.Join(dir, file)
		}
	}
	return file
}

// fileBlanks are what Open MPI cuts off values. A carriage return of a file from Windows stays (4.1, measured).
const fileBlanks = " \t\n"

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
