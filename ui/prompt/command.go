package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mpitx/export"
)

// Find finds a command by its name, or by the beginning of it where no other begins so. Its errors are for the user.
func Find(names []string, name string) (int, error) {
	found := -1
	for k, n := range names {
		switch {
		case n == name:
			return k, nil
		case !strings.HasPrefix(n, name):
		case found >= 0:
			return -1, fmt.Errorf("%q may be %s or %s", name, names[found], n)
		default:
			found = k
		}
	}
	if found < 0 {
		return -1, fmt.Errorf("no command %q: :help lists them", name)
	}
	return found, nil
}

// Complete finishes the last word of a line as far as all names that begin so agree.
func Complete(line string, names []string) string {
	i := strings.LastIndexByte(line, ' ') + 1
	best := ""
	for _, n := range names {
		if !strings.HasPrefix(n, line[i:]) {
			continue
		}
		if best == "" {
			best = n
			continue
		}
		for !strings.HasPrefix(n, best) {
			best = best[:len(best)-1]
		}
	}
	if len(best) > len(line[i:]) {
		return line[:i] + best
	}
	return line
}

// Format is what a file's name asks to be written as. Its error is for the user.
func Format(path string) (export.Format, error) {
	format, err := export.ParseFormat(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."))
	if err != nil || path == "" || format != export.FormatCSV && format != export.FormatJSON && format != export.FormatNDJSON {
		return format, fmt.Errorf("export: the file's name must end in .csv, .json or .ndjson: :export my.csv")
	}
	return format, nil
}

// Save writes a file that does not exist yet.
func Save(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if os.IsExist(err) {
		return fmt.Errorf("the file exists: choose another name")
	}
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
