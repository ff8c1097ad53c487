package tune

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mpitx/text"
)

// mostCopied is how much a working directory may hold that is copied for each run.
const mostCopied = 4 << 30

// copyTree copies a directory without another one in it, and without runs and campaigns of mpitx.
func copyTree(from, to, without string) error {
	left := int64(mostCopied)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		own := strings.HasPrefix(d.Name(), "mpitx-run-") || strings.HasPrefix(d.Name(), "mpitx-tune-")
		if d.IsDir() && (path == without || path == to || own) {
			return filepath.SkipDir
		}
		target := filepath.Join(to, rest)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch mode := info.Mode(); {
		case mode.IsDir():
			return os.MkdirAll(target, mode.Perm()|0o700)
		case mode&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case mode.IsRegular():
			if left -= info.Size(); left < 0 {
				return fmt.Errorf("%s holds more than %s", text.Quote(from), text.Amount(mostCopied, "B"))
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(target, content, mode.Perm())
		}
		return nil // sockets, pipes and devices
	})
}
