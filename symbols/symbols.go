// Package symbols resolves addresses of code to functions, files and lines, from the ELF files and the debug information (DWARF 2 to 5)
// of the programs and libraries that a run used. It needs no other program, loads nothing, and works on every system.
//
// Separate debug files are found by build ID and by .gnu_debuglink. A file that is not the one that ran is never used. Nothing in
// a file is trusted: reading a damaged one takes time and memory in proportion to its size.
package symbols

import (
	"fmt"
	"path/filepath"
	"sort"
	"sync"
	"time"
)

// Module is a program or a library that was mapped into a process; it has the fields of [recording.Module].
type Module struct {
	Start, End uint64
	Bias       uint64 // load address minus the address in the file
	Path       string
	BuildID    string // hexadecimal; "" if it has none
}

// Frame is a function at a resolved address.
type Frame struct {
	Function string // as users write it, such as solver::step; "" if unknown
	Symbol   string // as the linker names it; "" if unknown
	File     string // of the source code, as the compiler knew it; "" if unknown
	Line     int    // 0 if unknown
	Inlined  bool   // compiled into the function of the next frame
	Module   string // path of the program or the library; "" if unknown
	Offset   uint64 // of the address in the function; in the module if Function is ""; the address itself if Module is "", too
}

// String returns the function, or the best that is known instead, such as libm.so.6+0x1230.
func (f Frame) String() string {
	switch {
	case f.Function != "" && f.Line == 0 && f.Offset > 0:
		return fmt.Sprintf("%s+%#x", f.Function, f.Offset)
	case f.Function != "":
		return f.Function
	case f.Module != "":
		return fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
	}
	return fmt.Sprintf("%#x", f.Offset)
}

// Options say where to look.
type Options struct {
	Directories []string  // with separate debug files; nil: /usr/lib/debug
	Recorded    time.Time // when the run was recorded: a file without a build ID that was modified later is not used
}

// Symbols resolves addresses. Several goroutines may use it.
type Symbols struct {
	mu    sync.Mutex
	find  finder
	files map[fileKey]*file
}

type fileKey struct{ path, buildID string }

// New returns a resolver. Files are opened when addresses in them are resolved, and stay open until Close.
func New(o Options) *Symbols {
	if o.Directories == nil {
		o.Directories = []string{"/usr/lib/debug"}
	}
	return &Symbols{find: finder{directories: o.Directories, recorded: o.Recorded}, files: map[fileKey]*file{}}
}

// Close closes all files.
func (s *Symbols) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		f.close()
	}
	clear(s.files)
}

// Resolve returns the functions at the call that returns to an address in a module (nil: it is in none), the innermost first.
// There is always at least one frame.
func (s *Symbols) Resolve(m *Module, returnAddress uint64) []Frame {
	if m == nil {
		return []Frame{{Offset: returnAddress}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fileKey{m.Path, m.BuildID}
	f := s.files[key]
	if f == nil {
		f = openFile(s.find, *m)
		s.files[key] = f
	}
	return f.resolve(returnAddress - m.Bias)
}

// Problem is a module whose addresses cannot be resolved, or not as well as its debug information allows.
type Problem struct {
	Module string // path
	Reason string // such as "changed since the run"

	Unreadable bool // a file is there, but cannot be read
}

// Partly reports whether only inlined functions are missing.
func (p Problem) Partly() bool { return p.Reason == splitProblem }

// String says which call sites are resolved badly, and why.
func (p Problem) String() string {
	if p.Partly() {
		return "call sites in " + p.Module + " lack inlined functions: " + p.Reason
	}
	return "call sites in " + p.Module + " have no file and line: " + p.Reason
}

// Problems returns what was found so far, by module.
func (s *Symbols) Problems() []Problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Problem
	for key, f := range s.files {
		if f.problem != "" {
			all = append(all, Problem{key.path, f.problem, f.unreadable})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Module < all[j].Module })
	return all
}
