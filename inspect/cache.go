package inspect

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"
	"mpitx/machine"
	"mpitx/settings"
	"mpitx/text"
)

// The names of a library's variables and categories are kept for completion: one file for each library, identified by path and build
// identifier. Its first line, a tab and a hash, says whether the names are still the same; it ends with the control variables that were
// set whenever the library was read, so that their defaults are not known. A variable's line is its ID, the first words
// of its description, and the values that an enumeration or a boolean takes; a category's line begins with a tab, and that of an event or event source
// with two. Fields are separated by
// tabs. Errors are ignored: without the file, completion offers less.
//
// Next to it, the control variables as they were before MPI_Init are kept as a snapshot, for warnings of settings without an effect.

// known is what the file says of a variable.
type known struct {
	ID, Text string
	Values   []string
}

func cachePath(env *machine.Env, m machine.MPI, what string) string {
	dir := env.CacheDir()
	if dir == "" {
		return ""
	}
	id := sha256.Sum256([]byte(m.Family + "\x00" + m.Lib + "\x00" + m.BuildID))
	return filepath.Join(dir, what+"-"+hex.EncodeToString(id[:8]))
}

// CacheNames writes the names of a catalog, and its control variables, to the cache unless the cache has them already.
func CacheNames(env *machine.Env, m machine.MPI, c *catalog.Catalog) {
	path := cachePath(env, m, "names")
	if path == "" || !c.Before.Read || !c.After.Read {
		return
	}
	mark := namesMark(c)
	set, same := cached(path, mark)
	learns := slices.ContainsFunc(set, func(name string) bool { v := c.Cvar(name); return v != nil && !v.IsSet() })
	if same && !learns || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	given := settingsOf(c)
	if old := CachedCatalog(env, m); same && old != nil {
		keepDefaults(given, old)
	}
	for k := range given.Cvars {
		if v := &given.Cvars[k]; v.IsSet() {
			mark += "," + text.Safe(v.Name)
		}
	}
	replace(cachePath(env, m, "settings"), func(w io.Writer) error { return catalog.Write(w, given) })
	replace(path, func(w io.Writer) error {
		_, err := io.WriteString(w, mark+"\n"+cacheLines(m, c))
		return err
	})
}

// keepDefaults takes the values of variables that are set now from an earlier reading in which they were not.
func keepDefaults(now, old *catalog.Catalog) {
	for k := range now.Cvars {
		v := &now.Cvars[k]
		if before := old.Cvar(v.Name); v.IsSet() && before != nil && !before.IsSet() {
			v.Before, v.Origin, v.Origins = before.Before, nil, nil
		}
	}
}

// replace writes a file of the cache; other processes see the old or the new one.
func replace(path string, write func(io.Writer) error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return
	}
	err = write(tmp)
	if closeErr := tmp.Close(); err != nil || closeErr != nil || os.Rename(tmp.Name(), path) != nil {
		os.Remove(tmp.Name())
	}
}

// settingsOf is a catalog of the control variables before MPI_Init.
func settingsOf(c *catalog.Catalog) *catalog.Catalog {
	out := &catalog.Catalog{Library: c.Library, Before: catalog.Stage{Read: true}}
	out.Enums = c.Enums
	for _, v := range c.Cvars {
		if v.Before != nil {
			v.After, v.Ranks, v.Categories, v.Conflicts = nil, nil, nil, nil
			out.Cvars = append(out.Cvars, v)
		}
	}
	return out
}

// CachedCatalog returns what settingsOf kept of a library; nil if the library was never read.
func CachedCatalog(env *machine.Env, m machine.MPI) *catalog.Catalog {
	path := cachePath(env, m, "settings")
	if path == "" {
		return nil
	}
	c, err := catalog.Load(path)
	if err != nil {
		return nil
	}
	return c
}

// DescribedItem is the name that the description of a control variable gives a number; "" if there is none.
func DescribedItem(c *catalog.Catalog, cvar, value string) string {
	number, err := strconv.Atoi(value)
	if err != nil || c == nil {
		return ""
	}
	v := c.Cvar(cvar)
	if v == nil || v.Enum != "" {
		return ""
	}
	if e := c.EnumOf(v); e != nil {
		for _, item := range e.Items {
			if item.Value == number {
				return item.Name
			}
		}
	}
	return ""
}

// namesMark is the start of the first line of a file with these names.
func namesMark(c *catalog.Catalog) string {
	h := fnv.New64a()
	for v := range WithoutVirtual(c).Variables() {
		h.Write([]byte(v.Name))
		h.Write([]byte{0, byte(v.Class)})
	}
	for k, e := range c.Entries(catalog.EventKinds) {
		h.Write([]byte(k.One + e.ID() + "\x00"))
	}
	return fmt.Sprintf("\t5-%016x", h.Sum64()) // 5: the version of the lines
}

// cached reports whether a file has the names of a mark, and which control variables have no default in it.
func cached(path, mark string) (set []string, same bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	first, _ := bufio.NewReader(f).ReadString('\n')
	words := strings.Split(strings.TrimSuffix(first, "\n"), ",")
	return words[1:], words[0] == mark
}

// cacheLines are the lines for a catalog.
func cacheLines(m machine.MPI, c *catalog.Catalog) string {
	var b strings.Builder
	for v := range WithoutVirtual(c).Variables() {
		b.WriteString(NameLine(v.ID(), v.Description))
		for _, value := range valuesOf(m, c, v) {
			b.WriteString("\t" + text.Safe(value))
		}
		b.WriteByte('\n')
	}
	for _, category := range c.Categories {
		b.WriteString("\t" + NameLine(category.Name, category.Description) + "\n")
	}
	for i := range c.Events {
		b.WriteString("\t\tevent\t" + NameLine(c.Events[i].Name, c.Events[i].Description) + "\n")
	}
	for i := range c.Sources {
		b.WriteString("\t\tsource\t" + NameLine(c.Sources[i].Name, c.Sources[i].Description) + "\n")
	}
	return b.String()
}

// NameLine is a name with the first words of its description.
func NameLine(name, description string) string {
	words := strings.Join(strings.Fields(description), " ")
	return text.Safe(name) + "\t" + export.Terminal{UTF8: true}.Cut(text.Safe(words), 60)
}

// valuesOf are the values that a control variable takes by name.
func valuesOf(m machine.MPI, c *catalog.Catalog, v *catalog.Variable) (values []string) {
	if v.Kind != catalog.Cvars {
		return nil
	}
	if e := settings.Enum(m.Impl, v, c.Enum(v.Enum), 1); e != nil {
		for _, item := range e.Items {
			values = append(values, item.Name)
		}
	} else if v.Type.Form() == catalog.FormBool {
		values = []string{"false", "true"}
	}
	return values
}

// CachedNames are the names of a library's variables; of performance variables both with and without their class.
func CachedNames(env *machine.Env, m machine.MPI) (names []string) {
	for v := range CachedVariables(env, m) {
		names = append(names, v.ID)
		if bare, class := catalog.SplitClass(v.ID); class != 0 {
			names = append(names, bare)
		}
	}
	return names
}

// CachedVariables are the variables in a library's file.
func CachedVariables(env *machine.Env, m machine.MPI) iter.Seq[known] {
	return func(yield func(known) bool) {
		for fields := range cachedLines(env, m) {
			if fields[0] != "" && !yield(known{fields[0], fields[1], fields[2:]}) {
				return
			}
		}
	}
}

// CachedCategories are the categories in a library's file.
func CachedCategories(env *machine.Env, m machine.MPI) iter.Seq[known] {
	return func(yield func(known) bool) {
		for fields := range cachedLines(env, m) {
			if fields[0] == "" && len(fields) == 3 && !yield(known{ID: fields[1], Text: fields[2]}) {
				return
			}
		}
	}
}

// CachedEvents are the events and event sources in a library's file.
func CachedEvents(env *machine.Env, m machine.MPI, kinds catalog.Kind) iter.Seq[known] {
	return func(yield func(known) bool) {
		for fields := range cachedLines(env, m) {
			if len(fields) != 5 || fields[0]+fields[1] != "" {
				continue
			}
			if k, ok := catalog.ParseKind(fields[2]); ok && kinds.Has(k) && !yield(known{ID: fields[3], Text: fields[4]}) {
				return
			}
		}
	}
}

// cachedLines are the fields of each line of a library's file.
func cachedLines(env *machine.Env, m machine.MPI) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		f, err := os.Open(cachePath(env, m, "names"))
		if err != nil {
			return
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			if fields := strings.Split(sc.Text(), "\t"); len(fields) > 1 && !yield(fields) {
				return
			}
		}
	}
}

// WithoutVirtual is a catalog without virtual variables, for programs that want the library's variables only.
func WithoutVirtual(c *catalog.Catalog) *catalog.Catalog {
	own := *c
	own.Virtual = nil
	return &own
}

// Names reads a library for the names of its entries of a kind, performance variables with and without their class, and keeps them
// for later.
func Names(env *machine.Env, o Options, kind catalog.Kind) (names []string, err error) {
	j, err := Collect(o)
	if err != nil {
		return nil, err
	}
	CacheNames(env, o.MPI, j.Catalog)
	for _, e := range j.Catalog.Entries(kind) {
		names = append(names, e.ID())
		if bare, class := catalog.SplitClass(e.ID()); class != 0 {
			names = append(names, bare)
		}
	}
	j.Finish(0)
	return names, nil
}
