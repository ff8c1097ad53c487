package symbols

import (
	"debug/elf"
	"errors"
	"fmt"
	"slices"
)

// file is what is known about a module.
type file struct {
	module         Module
	problem        string
	unreadable     bool    // the problem is that a file is there, but cannot be read
	program, debug *object // either may be missing; they can be the same
	dwarf          *dwarf
	tables         []*symbolTable // that are read, best first
	tablesOf       []*object
	known          map[uint64][]Frame
}

const maxKnown = 1 << 16

func openFile(find finder, m Module) *file {
	f := &file{module: m, known: map[uint64][]Frame{}}
	var unreadable error
	find.unreadable = &unreadable
	f.guard(func() {
		var err error
		if f.program, err = find.program(m); err != nil {
			f.problem, f.unreadable = err.Error(), !errors.Is(err, errMissing) && !errors.Is(err, errChanged)
		}
		if f.debug = find.debug(m, f.program); f.debug == nil {
			if unreadable != nil && (f.problem == "" || !f.unreadable) {
				f.problem, f.unreadable = unreadable.Error(), true
			}
			return
		}
		if f.program == nil {
			f.problem, f.unreadable = "", false // its separate debug information is enough
		}
		if f.dwarf, err = openDWARF(f.debug, find); err != nil {
			f.problem, f.unreadable = err.Error(), true
		}
	})
	return f
}

// guard runs a function on a file that may be damaged in a way that was not thought of.
func (f *file) guard(run func()) {
	defer func() {
		if p := recover(); p != nil {
			if rethrow {
				panic(p)
			}
			f.problem, f.unreadable, f.dwarf = fmt.Sprintf("damaged: %v", p), true, nil
		}
	}()
	run()
}

var rethrow bool // tests see panics

func (f *file) close() {
	if f.dwarf != nil && f.dwarf.other != nil {
		f.dwarf.other.o.close()
	}
	if f.debug != nil && f.debug != f.program {
		f.debug.close()
	}
	if f.program != nil {
		f.program.close()
	}
}

// resolve returns the frames at the call that returns to an address of the file.
func (f *file) resolve(address uint64) []Frame {
	if frames, ok := f.known[address]; ok {
		return frames
	}
	var frames []Frame
	f.guard(func() { frames = f.frames(address) })
	if frames == nil {
		frames = []Frame{{Module: f.module.Path, Offset: address}}
	}
	if len(f.known) < maxKnown {
		f.known[address] = frames
	}
	return frames
}

const splitProblem = "they are in .dwo files, which mpitx does not read"

func (f *file) frames(address uint64) []Frame {
	pc := address - 1 // of the call
	var frames []Frame
	if f.dwarf != nil {
		frames = f.dwarf.frames(pc)
		if u := f.dwarf.unitOf(pc); u != nil && u.split && f.problem == "" {
			f.problem = splitProblem
		}
	}
	if len(frames) == 0 {
		frames = []Frame{{}}
	}
	last := &frames[len(frames)-1]
	name, low := f.symbol(pc)
	if name != "" {
		full, mangled := demangled(name)
		switch {
		case last.Function == "":
			last.Function = symbolName(name)
		case last.Symbol == "" && mangled:
			last.Function = full // with its namespace
		}
		last.Symbol, last.Offset = name, address-low
	}
	if last.Function == "" {
		last.Offset = address
	}
	for i := range frames {
		frames[i].Module = f.module.Path
	}
	return frames
}

// symbol returns the symbol at an address from the best table that has it.
func (f *file) symbol(pc uint64) (string, uint64) {
	if f.tables == nil {
		f.tables = []*symbolTable{}
		for _, o := range []*object{f.debug, f.program} {
			if o == nil || slices.Contains(f.tablesOf, o) {
				continue
			}
			f.tables = append(f.tables, symbolsOf(o, elf.SHT_SYMTAB), symbolsOf(o, elf.SHT_DYNSYM))
			f.tablesOf = append(f.tablesOf, o, o)
		}
	}
	for i, t := range f.tables {
		if name, low := t.at(f.tablesOf[i], pc); name != "" {
			return name, low
		}
	}
	return "", 0
}

// frames returns the functions with the code at an address, the innermost first; none if the debug information does not have it.
func (d *dwarf) frames(pc uint64) []Frame {
	d.allow()
	u := d.unitOf(pc)
	if u == nil {
		return nil
	}
	l := d.load(u)
	l.readScopes()
	l.readLines()
	here := Frame{}
	if row := l.lines.at(pc); row != nil {
		here.File, here.Line = l.lines.file(uint64(row.file)), int(row.line)
	}
	var frames []Frame
	for _, s := range slices.Backward(l.chain(pc)) {
		n := l.names(uint64(s.at))
		here.Function, here.Symbol, here.Inlined = n.function(), n.linkage, s.inlined
		frames = append(frames, here)
		here = Frame{}
		if s.inlined {
			here.File, here.Line = l.lines.file(uint64(s.callFile)), int(s.callLine)
		}
	}
	if len(frames) == 0 && here.Line > 0 {
		frames = append(frames, here)
	}
	return frames
}
