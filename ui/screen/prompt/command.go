package prompt

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
)

// Find finds a command by its name, or by an unambiguous beginning of it. Names with ! must be complete. Its errors are for the user.
func Find(names []string, name string) (int, error) {
	found := -1
	for k, n := range names {
		switch {
		case n == name:
			return k, nil
		case !strings.HasPrefix(n, name), strings.HasSuffix(n, "!"):
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

// Complete extends the last word of a line by what all names that begin with it have in common.
func Complete(line string, names []string) string {
	i := strings.LastIndexByte(line, ' ') + 1
	best, some := "", false
	for _, n := range names {
		if !strings.HasPrefix(n, line[i:]) {
			continue
		}
		if !some {
			best, some = n, true
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

// Format is the output format that a file name stands for. Its error is for the user.
func Format(path string) (export.Format, error) {
	format, err := export.ParseFormat(strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), "."))
	if err != nil || path == "" || format != export.FormatCSV && format != export.FormatJSON && format != export.FormatNDJSON {
		return format, fmt.Errorf("export: the file's name must end in .csv, .json or .ndjson: :export my.csv")
	}
	return format, nil
}

// Saved is the outcome of saving a file for a command.
type Saved struct {
	Path, What string
	Err        error
}

// Save writes what data holds to a file for a command.
func Save(command, path, what string, data []byte) tea.Cmd {
	return func() tea.Msg {
		f, err := Create(command, path)
		if err == nil {
			_, err = f.Write(data)
			err = cmp.Or(err, f.Close())
		}
		return Saved{path, what, err}
	}
}

// Create makes a file for a command. Only a command that ends in ! replaces a file that exists.
func Create(command, path string) (*os.File, error) {
	how := os.O_EXCL
	if strings.HasSuffix(command, "!") {
		how = os.O_TRUNC
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|how, 0o666)
	if os.IsExist(err) {
		return nil, fmt.Errorf("the file exists; :%s! %s replaces it", command, path)
	}
	return f, err
}
