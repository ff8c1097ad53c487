// Package ompiinfo reads the output of `ompi_info --parsable --all` as a catalog, for machines on which only Open MPI is installed.
//
// ompi_info prints lines of fields separated by colons, which values and descriptions may contain too:
//
//	mca:coll:tuned:param:coll_tuned_priority:value:30
//
// It prints levels, defaults, types, descriptions and enumerations of control variables, and performance variables without values.
// It leaves out internal variables (unless --internal is given), scopes, bindings, categories, names of enumerations, and everything
// that exists only after MPI_Init.
package ompiinfo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// maxSize is far beyond the real outputs of less than 1 MB.
const maxSize = 64 << 20

// mark is what some tools write at the start of a file in UTF-8.
var mark = []byte("\ufeff")

// howTo is what to do about a file that cannot be used.
const howTo = "record it again with ompi_info --parsable --all >FILE"

// Recognize reports whether a file that starts like this may be an output of ompi_info, also of one without --parsable.
func Recognize(start []byte) bool {
	start = bytes.TrimLeft(bytes.TrimPrefix(start, mark), " \t\r\n")
	for _, prefix := range []string{"package:", "Package:", "ompi:", "Open MPI:", "mca:", "orte:", "opal:", "mpi-api:"} {
		if bytes.HasPrefix(start, []byte(prefix)) {
			return true
		}
	}
	return false
}

// Read reads an output of ompi_info. The catalog has the stage before MPI_Init only. The error says why the output cannot be used,
// and what to do: it was cut off, printed without --parsable, or printed without variables.
func Read(in io.Reader) (*catalog.Catalog, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxSize+1))
	text = bytes.TrimPrefix(text, mark)
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxSize:
		return nil, fmt.Errorf("the file is larger than %d MiB, which no output of ompi_info is", maxSize>>20)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, errors.New("the file is empty; " + howTo)
	}
	p := &parser{known: map[string]*variable{}, described: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxSize+1)
	for lines.Scan() {
		p.line(strings.TrimSuffix(lines.Text(), "\r"))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return p.catalog(text)
}

// variable is a variable that is being read.
type variable struct {
	name string
	pvar bool
	keys map[string]string
	enum []catalog.Item
	line int // of its last line
}

type parser struct {
	number  int
	library map[string]string // "ompi:version:full" and the like
	order   []*variable
	known   map[string]*variable
	help    *variable // whose description the next line may continue

	lastListed string          // the last framework of the list of components, which comes before the variables
	described  map[string]bool // frameworks whose variables were printed
}

// keys follow the name of a variable. Names may contain colons.
var keys = []string{"value", "source", "status", "level", "help", "enumerator", "deprecated", "type", "disabled", "synonym", "synonym_of",
	"class", "read-only", "continuous", "atomic"}

func (p *parser) line(s string) {
	p.number++
	if name, value, ok := splitLibrary(s); ok {
		if p.library == nil {
			p.library = map[string]string{}
		}
		p.library[name], p.help = value, nil
		return
	}
	rest, ok := strings.CutPrefix(s, "mca:")
	if !ok {
		if v := p.help; v != nil && !topLevel(s) { // descriptions may have several lines
			v.keys["help"] += "\n" + s
			v.line = p.number
		} else {
			p.help = nil
		}
		return
	}
	p.help = nil
	parts := strings.SplitN(rest, ":", 4) // framework, component, param or pvar
	if len(parts) < 4 || parts[2] != "param" && parts[2] != "pvar" {
		if len(parts) == 4 && parts[2] == "version" {
			p.lastListed = parts[0]
		}
		return
	}
	p.described[parts[0]] = true
	name, key, value := splitName(parts[3])
	if key == "" {
		name = parts[3] // cut off
	}
	v := p.known[parts[2]+name]
	if v == nil {
		v = &variable{name: name, pvar: parts[2] == "pvar", keys: map[string]string{}}
		p.known[parts[2]+name] = v
		p.order = append(p.order, v)
	}
	v.line = p.number
	switch key {
	case "":
	case "enumerator":
		v.item(value)
	case "help":
		p.help = v
		v.keys[key] = value
	default:
		v.keys[key] = value
	}
}

// splitName splits NAME:KEY:VALUE at the first key.
func splitName(s string) (name, key, value string) {
	at := len(s)
	for _, k := range keys {
		if i := strings.Index(s, ":"+k+":"); i > 0 && i < at {
			at, key = i, k
		}
	}
	if key == "" {
		return "", "", ""
	}
	return s[:at], key, s[at+len(key)+2:]
}

// item adds an item of the enumeration: value:0:ignore.
func (v *variable) item(text string) {
	text, ok := strings.CutPrefix(text, "value:")
	number, name, named := strings.Cut(text, ":")
	n, err := strconv.ParseInt(number, 0, 32)
	one := catalog.Item{Value: int(n), Name: name}
	if ok && named && err == nil && !slices.Contains(v.enum, one) { // the file may hold the output twice
		v.enum = append(v.enum, one)
	}
}

// splitLibrary splits a line about the library.
func splitLibrary(s string) (name, value string, ok bool) {
	for _, name := range []string{"package", "ompi:version:full", "ompi:version:repo", "ompi:version:release_date", "mpi-api:version:full", "ident", "path:libdir"} {
		if value, ok := strings.CutPrefix(s, name+":"); ok {
			return name, value, true
		}
	}
	return "", "", false
}

// topLevel reports whether a line starts with a word and a colon, as all lines do except the rest of a description.
func topLevel(s string) bool {
	word, _, ok := strings.Cut(s, ":")
	return ok && word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_-.") == ""
}

// catalog checks that the output is complete, and makes the catalog.
func (p *parser) catalog(text []byte) (*catalog.Catalog, error) {
	switch {
	case len(p.library) == 0 && len(p.order) == 0 && bytes.Contains(text, []byte("Open MPI:")):
		return nil, errors.New("ompi_info printed this for people; " + howTo)
	case len(p.library) == 0 && len(p.order) == 0:
		return nil, errors.New("it is not the output of ompi_info; " + howTo)
	case len(p.order) == 0:
		return nil, errors.New("the output of ompi_info has no variables; " + howTo)
	}
	last := p.order[len(p.order)-1]
	if !bytes.HasSuffix(text, []byte("\n")) || last.keys["type"] == "" || last.keys["disabled"] == "" && p.order[0].keys["disabled"] != "" {
		return nil, fmt.Errorf("the output of ompi_info is cut off in line %d, in the variable %s; %s", p.number, last.name, howTo)
	}
	c := &catalog.Catalog{Creator: "ompi_info " + p.library["ompi:version:full"], Library: p.about()}
	c.Job = catalog.Job{Size: 1, Ranks: []catalog.Rank{{}}}
	c.After.Error = "ompi_info reads the stage before MPI_Init only"
	highest := catalog.Verbosity(0)
	for _, v := range p.order {
		if v.keys["type"] == "" {
			return nil, fmt.Errorf("the output of ompi_info has no type for the variable %s, line %d; %s", v.name, v.line, howTo)
		}
		if v.pvar {
			c.Pvars = append(c.Pvars, v.performance())
			continue
		}
		x, e := v.control()
		highest = max(highest, x.Verbosity)
		c.Cvars = append(c.Cvars, x)
		if e != nil {
			c.Enums = append(c.Enums, *e)
		}
	}
	slices.SortFunc(c.Cvars, func(a, b catalog.Variable) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(c.Pvars, func(a, b catalog.Variable) int { return strings.Compare(a.ID(), b.ID()) })
	slices.SortFunc(c.Enums, func(a, b catalog.Enum) int { return strings.Compare(a.Name, b.Name) })
	c.Before = catalog.Stage{Read: true, Cvars: len(c.Cvars), Pvars: len(c.Pvars)}
	// The variables of frameworks follow in the order of the list of components. Each has one of level 2: which components to use.
	if highest >= catalog.VerbosityUserDetail && p.lastListed != "" && !p.described[p.lastListed] {
		return nil, fmt.Errorf("the output of ompi_info is cut off after the variable %s: it lists components of %s, but none of its variables; %s", last.name, p.lastListed, howTo)
	}
	if len(c.Cvars) > 0 && highest < catalog.VerbosityMPIDevAll {
		c.Before.Error = fmt.Sprintf("ompi_info printed variables up to level %d only; %s", highest, howTo)
	}
	return c, nil
}

// about describes the library as MPI_Get_library_version does.
func (p *parser) about() catalog.Library {
	l := p.library
	text := "Open MPI v" + l["ompi:version:full"]
	for _, x := range []struct{ title, key string }{{"package: ", "package"}, {"ident: ", "ident"}, {"repo rev: ", "ompi:version:repo"}, {"", "ompi:version:release_date"}} {
		if l[x.key] != "" {
			text += ", " + x.title + l[x.key]
		}
	}
	standard := l["mpi-api:version:full"]
	if parts := strings.Split(standard, "."); len(parts) > 2 {
		standard = strings.Join(parts[:2], ".")
	}
	return catalog.Library{Family: "openmpi", Text: text, Standard: standard}
}
