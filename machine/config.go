package machine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadConfig reads a file of the user's configuration directory, $XDG_CONFIG_HOME/mpitx or ~/.config/mpitx. The error wraps
// fs.ErrNotExist if there is no such file, or no home directory. path is the file's name, for messages.
func (e *Env) ReadConfig(name string) (path, content string, err error) {
	dir := e.Getenv("XDG_CONFIG_HOME")
	if dir == "" && e.Getenv("HOME") != "" {
		dir = filepath.Join(e.Getenv("HOME"), ".config")
	}
	if dir == "" {
		return "", "", fs.ErrNotExist
	}
	path = filepath.Join(dir, "mpitx", name)
	if info, err := os.Stat(e.File(path)); err == nil && !info.Mode().IsRegular() { // a named pipe would block for ever
		return path, "", fmt.Errorf("%s is not a regular file", path)
	}
	b, err := os.ReadFile(e.File(path))
	return path, string(b), err
}
