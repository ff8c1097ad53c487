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
	// Files of --am: 4.1 does not always take them, so the value decides.
	for _, file := range split(q.Value("mca_base_param_file_prefix"), ",") {
		for _, s := range q.read(file) {
			if q.Value(s.Name) == s.Value {
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

// paramFiles are the files that the library names, or else the usual ones.
func (q Query) paramFiles() []string {
	if files := q.Value("mca_base_param_files"); files != "" {
		if files == "none" {
			return nil
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
	n, comment := 0, false
	for text := range strings.Lines(string(data)) {
		n++
		if comment {
			_, text, comment = strings.Cut(text, "*/")
			comment = !comment
		}
		text = strings.Trim(text, fileBlanks)
		if strings.HasPrefix(text, "/*") {
			_, text, comment = strings.Cut(text[2:], "*/")
			comment, text = !comment, strings.Trim(text, fileBlanks)
		}
		if text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "//") {
			continue // comments are whole lines: "a # b" is a value
		}
		for _, s := range fileLine(text) {
			s.Kind, s.Where = catalog.OriginFile, path+":"+strconv.Itoa(n)
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

// paramLine reads "name = value". Quotes are part of the value (4.1 and 5.0, measured), unlike in options of a --tune
// file.
func paramLine(line string) []Setting {
	name, value, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" || strings.ContainsAny(name, " \t") {
		return nil
	}
	return []Setting{{Name: name, Origin: catalog.Origin{Value: strings.Trim(value, fileBlanks)}}}
}

// fileLine reads a line of a parameter or --tune file: "name = value", or mpirun's options. Variables of -x are set in
// the environment.
func fileLine(line string) []Setting {
	if !strings.HasPrefix(line, "-") {
		return paramLine(line)
	}
	var found []Setting
	words := strings.Fields(line)
	for i := 0; i+2 < len(words); i++ {
		if words[i] == "-mca" || words[i] == "--mca" {
			found = append(found, Setting{Name: words[i+1], Origin: catalog.Origin{Value: unquote(words[i+2])}})
			i += 2
		}
	}
	return found
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
