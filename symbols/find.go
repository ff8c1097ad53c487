package symbols

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// finder looks for files with debug information.
type finder struct {
	directories []string // like /usr/lib/debug
	recorded    time.Time
	unreadable  *error // why a separate file with debug information cannot be read; nil: nobody asks
}

// opens opens a separate file with debug information; nil if there is none that can be read.
func (f finder) opens(path string) *object {
	o, err := openObject(path)
	if err != nil && f.unreadable != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		var own *fs.PathError
		if errors.As(err, &own) {
			err = own.Err
		}
		*f.unreadable = fmt.Errorf("its debug information %s: %w", path, err)
	}
	if err != nil {
		return nil
	}
	return o
}

var errMissing = errors.New("not found")

var errChanged = errors.New("changed since the run")

// program opens the file of a module, if it is still the one that ran.
func (f finder) program(m Module) (*object, error) {
	path := strings.TrimSuffix(m.Path, " (deleted)")
	o, err := openObject(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errMissing
		}
		return nil, err
	}
	if o.buildID != m.BuildID || m.BuildID == "" && (path != m.Path || !f.recorded.IsZero() && o.modified.After(f.recorded)) {
		o.close()
		return nil, errChanged
	}
	return o, nil
}

// debug returns the file with the debug information of a module: its program, or a separate file; nil if there is none.
func (f finder) debug(m Module, program *object) *object {
	if program != nil && program.hasDWARF() {
		return program
	}
	if o := f.byBuildID(m.BuildID, "debug"); o != nil {
		return o
	}
	if program != nil {
		return f.byLink(program)
	}
	return nil
}

// byBuildID looks where distributions and debuginfod's clients put separate debug information.
func (f finder) byBuildID(id, suffix string) *object {
	if len(id) < 4 {
		return nil
	}
	var paths []string
	for _, dir := range f.directories {
		paths = append(paths, filepath.Join(dir, ".build-id", id[:2], id[2:]+"."+suffix))
	}
	if cache := debuginfod(); cache != "" {
		paths = append(paths, filepath.Join(cache, id, "debuginfo"))
	}
	for _, path := range paths {
		if o := f.sameBuild(path, id); o != nil {
			return o
		}
	}
	return nil
}

// debuginfod returns the folder in which debuginfod's clients keep files.
func debuginfod() string {
	if dir := os.Getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	if dir, err := os.UserCacheDir(); err == nil {
		return filepath.Join(dir, "debuginfod_client")
	}
	return ""
}

func (f finder) sameBuild(path, id string) *object {
	o := f.opens(path)
	if o == nil {
		return nil
	}
	if o.buildID != id || !o.hasDWARF() {
		o.close()
		return nil
	}
	return o
}

// byLink follows a program's .gnu_debuglink.
func (f finder) byLink(program *object) *object {
	name, crc, ok := program.debugLink()
	if !ok {
		return nil
	}
	dir := filepath.Dir(program.path)
	paths := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, root := range f.directories {
		paths = append(paths, filepath.Join(root, dir, name))
	}
	for _, path := range paths {
		o := f.opens(path)
		if o == nil {
			continue
		}
		if o.hasDWARF() && o.buildID == program.buildID && (o.buildID != "" || checksum(o) == crc) {
			return o
		}
		o.close()
	}
	return nil
}

func checksum(o *object) uint32 {
	h := crc32.NewIEEE()
	io.Copy(h, io.NewSectionReader(o.file, 0, o.bytes))
	return h.Sum32()
}

// alt returns the debug information that dwz moved to a file that several programs share; nil if there is none.
func (d *dwarf) alt() *dwarf {
	if d.looked {
		return d.other
	}
	d.looked = true
	b, err := d.o.section(".gnu_debugaltlink").all()
	if err != nil || len(b) > 2*maxName {
		return nil
	}
	c := cursor{b: b}
	name := string(c.text())
	id := hexOf(b[c.at:])
	if c.bad || len(id) < 4 {
		return nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(d.o.path), name)
	}
	o := d.find.sameBuild(name, id)
	if o == nil {
		o = d.find.byBuildID(id, "debug")
	}
	if o == nil {
		return nil
	}
	if d.other, _ = openDWARF(o, d.find); d.other != nil {
		d.other.looked = true // its own references would lead on
	}
	return d.other
}
