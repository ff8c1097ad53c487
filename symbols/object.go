package symbols

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

const (
	maxExpanded = 1 << 30 // bytes of a section after decompression
	maxName     = 1 << 12 // bytes of a name or a path
	maxCode     = 64      // sections with code
)

// object is an ELF file. Nothing in it is trusted.
type object struct {
	path     string
	file     *os.File
	elf      *elf.File
	bytes    int64
	modified time.Time
	buildID  string // hexadecimal; "" if it has none
	code     []span // addresses of sections with code
	sections map[string]*section
}

type span struct{ low, high uint64 }

// section is a section's contents: read in parts from the file or, if compressed, expanded when first used.
type section struct {
	elf  *elf.Section
	size uint64
	data []byte // nil: not read
	err  error
}

func openObject(path string) (*object, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe or a device can block
		return nil, errors.New("not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	o := &object{path: path, file: file, bytes: info.Size(), modified: info.ModTime(), sections: map[string]*section{}}
	if err := o.read(); err != nil {
		file.Close()
		return nil, err
	}
	return o, nil
}

func (o *object) close() { o.file.Close() }

func (o *object) read() (err error) {
	defer func() {
		if p := recover(); p != nil { // debug/elf makes no promise about damaged files
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	if err := checkHeader(o.file); err != nil {
		return err
	}
	if o.elf, err = elf.NewFile(o.file); err != nil {
		return err
	}
	for _, s := range o.elf.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Addr+s.Size > s.Addr && len(o.code) < maxCode {
			o.code = append(o.code, span{s.Addr, s.Addr + s.Size})
		}
		name := strings.Replace(s.Name, ".zdebug_", ".debug_", 1)
		if o.sections[name] == nil && s.Type != elf.SHT_NOBITS {
			o.sections[name] = o.open(s)
		}
	}
	o.buildID = o.findBuildID()
	return nil
}

// open returns a section, as far as it is in the file.
func (o *object) open(s *elf.Section) *section {
	size := uint64(o.bytes)
	return &section{elf: s, size: min(s.FileSize, size-min(s.Offset, size))}
}

// checkHeader refuses files for whose section names debug/elf would need much memory: each section can name nearly all of
// the string table.
func checkHeader(r io.ReaderAt) error {
	var b [64]byte
	if _, err := r.ReadAt(b[:], 0); err != nil && err != io.EOF {
		return err
	}
	if string(b[:4]) != elf.ELFMAG {
		return errors.New("not an ELF file")
	}
	h := cursor{b: b[:], big: elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB}
	word, at, shape := 8, 40, 58
	if elf.Class(b[elf.EI_CLASS]) == elf.ELFCLASS32 {
		word, at, shape = 4, 32, 46
	}
	h.seek(uint64(at))
	table := h.uint(word)
	h.seek(uint64(shape))
	size, count, names := uint64(h.u16()), uint64(h.u16()), uint64(h.u16())
	if table == 0 {
		return nil // no sections
	}
	if count == 0 || names >= count {
		return errors.New("damaged: its table of sections")
	}
	entry := make([]byte, 64)
	if _, err := r.ReadAt(entry, int64(table+names*size)); err != nil && err != io.EOF {
		return fmt.Errorf("damaged: its table of sections: %w", err)
	}
	h.b = entry
	h.seek(uint64(8 + 3*word))
	if length := h.uint(word); length > 1<<26/count {
		return errors.New("damaged: its names of sections")
	}
	return nil
}

func (o *object) findBuildID() string {
	for _, s := range o.elf.Sections {
		if s.Type != elf.SHT_NOTE || s.FileSize > 1<<16 {
			continue
		}
		b, _ := o.open(s).all()
		for c := (cursor{b: b, big: o.big()}); c.more() && !c.bad; {
			name, size, kind := c.u32(), c.u32(), c.u32()
			owner := c.take(int(name+3) &^ 3)
			id := c.take(int(size))
			c.skip(uint64(-size & 3))
			if kind == 3 && name == 4 && string(owner) == "GNU\x00" && len(id) > 0 {
				return hexOf(id)
			}
		}
	}
	return ""
}

func hexOf(b []byte) string { return hex.EncodeToString(b[:min(len(b), 64)]) }

func (o *object) big() bool { return o.elf.ByteOrder == binary.BigEndian }

// isCode reports whether an address of the file is in a section with code. Functions that the linker dropped keep their debug
// information, with addresses from 0.
func (o *object) isCode(address uint64) bool {
	for _, s := range o.code {
		if address >= s.low && address < s.high {
			return true
		}
	}
	return false
}

// codeEnd returns the end of the section with code that has the address.
func (o *object) codeEnd(address uint64) uint64 {
	for _, s := range o.code {
		if address >= s.low && address < s.high {
			return s.high
		}
	}
	return address
}

// section returns a section by name; an empty one if there is none.
func (o *object) section(name string) *section {
	if s := o.sections[name]; s != nil {
		return s
	}
	return &section{data: []byte{}}
}

func (o *object) hasDWARF() bool {
	return o.section(".debug_info").size > 0 && o.section(".debug_abbrev").size > 0
}

// debugLink returns the name of the file with the debug information and its checksum.
func (o *object) debugLink() (name string, crc uint32, ok bool) {
	b, err := o.section(".gnu_debuglink").all()
	if err != nil || len(b) > maxName {
		return "", 0, false
	}
	c := cursor{b: b, big: o.big()}
	name = string(c.text())
	c.skip(uint64(-c.at & 3))
	crc = c.u32()
	return name, crc, !c.bad && fs.ValidPath(name) && !strings.Contains(name, "/")
}

func (s *section) compressed() bool {
	return s.elf.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.elf.Name, ".zdebug_")
}

// all returns the whole contents, expanded if they are compressed.
func (s *section) all() ([]byte, error) {
	if s.data == nil && s.err == nil {
		if s.data, s.err = s.load(); s.err != nil {
			s.err = fmt.Errorf("%s: %w", s.elf.Name, s.err)
		}
		s.size = uint64(len(s.data))
	}
	return s.data, s.err
}

func (s *section) load() ([]byte, error) {
	if !s.compressed() {
		b := make([]byte, s.size)
		n, err := s.elf.ReadAt(b, 0)
		if n == len(b) {
			err = nil
		}
		return b[:n], err
	}
	r := s.elf.Open() // sets Size
	if s.elf.Size > maxExpanded {
		return nil, fmt.Errorf("has more than %d bytes", maxExpanded)
	}
	b, err := io.ReadAll(io.LimitReader(r, int64(s.elf.Size)))
	return b, err
}

// length is the length of the contents.
func (s *section) length() uint64 {
	if s.data == nil && s.compressed() {
		s.all()
	}
	return s.size
}

// part returns the bytes from an offset on: n, or fewer at the end. Only parts of a section without compression are read.
func (s *section) part(at, n uint64) []byte {
	if at >= s.length() {
		return nil
	}
	n = min(n, s.size-at)
	if s.data != nil {
		return s.data[at : at+n]
	}
	b := make([]byte, n)
	got, _ := s.elf.ReadAt(b, int64(at))
	return b[:got]
}

// text returns the string at an offset.
func (s *section) text(at uint64) string {
	for n := uint64(128); n <= 2*maxName; n *= 8 {
		b := s.part(at, n)
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(b[:end])
		}
		if uint64(len(b)) < n {
			break
		}
	}
	return ""
}
