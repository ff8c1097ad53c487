package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"mpitx/machine"
)

// ReadRegular reads a configuration file. A named pipe would block for ever.
func ReadRegular(path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.ReadFile(path)
}

// ConfigFile is a file of the user's configuration directory; "" without a home directory.
func ConfigFile(e *machine.Env, name string) string {
	dir := e.Getenv("XDG_CONFIG_HOME")
	if dir == "" && e.Getenv("HOME") != "" {
		dir = filepath.Join(e.Getenv("HOME"), ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "mpitx", name)
}
