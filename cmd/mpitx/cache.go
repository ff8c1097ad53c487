package main

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
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/locate"
	"mpitx/cmd/mpitx/internal/virtual"
	"mpitx/export"
)

// The names of a library's variables are kept for completion: one file for each library, told apart by path and build
// identifier, with a line "ID<tab>first words of the description" for each variable, and before them a line that tells
// whether the names are still the same. It is only a convenience: where it cannot be written or read, nothing is said.

func cachePath(env *locate.Env, m locate.MPI) string {
	dir := env.CacheDir()
	if dir == "" {
		return ""
	}
	id := sha256.Sum256([]byte(m.Family + "\x00" + m.Lib + "\x00" + m.BuildID))
	return filepath.Join(dir, "names-"+hex.EncodeToString(id[:8]))
}

// cacheNames keeps the names of a catalog, unless they are there already.
func cacheNames(env *locate.Env, m locate.MPI, c *catalog.Catalog) {
	path := cachePath(env, m)
	if path == "" || !c.Before.Read || !c.After.Read {
		return
	}
	mark := namesMark(c)
	if cached(path, mark) || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".names-*")
	if err != nil {
		return
	}
	_, err = tmp.WriteString(mark + nameLines(c))
	if closeErr := tmp.Close(); err != nil || closeErr != nil || os.Rename(tmp.Name(), path) != nil {
		os.Remove(tmp.Name())
	}
}

// namesMark is the first line of a file with these names.
func namesMark(c *catalog.Catalog) string {
	h := fnv.New64a()
	for v := range withoutVirtual(c).Variables() {
		h.Write([]byte(v.Name))
		h.Write([]byte{0, byte(v.Class)})
	}
	return fmt.Sprintf("\t%x\n", h.Sum64())
}

func cached(path, mark string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	have := make([]byte, len(mark))
	_, err = io.ReadFull(f, have)
	return err == nil && string(have) == mark
}

func nameLines(c *catalog.Catalog) string {
	var b strings.Builder
	for v := range withoutVirtual(c).Variables() {
		b.WriteString(nameLine(v) + "\n")
	}
	return b.String()
}

// nameLine is a variable's ID with the first words of its description.
func nameLine(v *catalog.Variable) string {
	desc := strings.Join(strings.Fields(v.Description), " ")
	return export.Safe(v.ID()) + "\t" + export.Terminal{UTF8: true}.Cut(export.Safe(desc), 60)
}

// cachedNames are those of a library's variables; of a performance variable with its class and without.
func cachedNames(env *locate.Env, m locate.MPI) (names []string) {
	for line := range cachedLines(env, m) {
		name, _, _ := strings.Cut(line, "\t")
		names = append(names, name)
		if bare, class := catalog.SplitClass(name); class != 0 {
			names = append(names, bare)
		}
	}
	return names
}

// cachedLines are the lines of a library's file, without the first.
func cachedLines(env *locate.Env, m locate.MPI) iter.Seq[string] {
	return func(yield func(string) bool) {
		f, err := os.Open(cachePath(env, m))
		if err != nil {
			return
		}
		defer f.Close()
		for sc := bufio.NewScanner(f); sc.Scan(); {
			if !strings.HasPrefix(sc.Text(), "\t") && !yield(sc.Text()) {
				return
			}
		}
	}
}

// completeWrites completes the names of NAME=VALUE.
func (a *app) completeWrites(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names, directive := a.completeNames()(cmd, nil, prefix)
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, virtual.Prefix) })
	for k, n := range names {
		name, desc, _ := strings.Cut(n, "\t")
		names[k] = name + "=\t" + desc
	}
	return names, directive | cobra.ShellCompDirectiveNoSpace
}

// completeNames completes arguments from the cache, without starting MPI. Words come first.
func (a *app) completeNames(words ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		var out []string
		for _, w := range words {
			if strings.HasPrefix(w, prefix) && !slices.Contains(args, w) {
				out = append(out, w)
			}
		}
		for _, v := range virtual.Matching(prefix + "*") {
			if strings.HasPrefix(v.Name, prefix) && !slices.Contains(args, v.Name) {
				out = append(out, nameLine(&v))
			}
		}
		want, _ := cmd.Flags().GetString("mpi")
		m, err := a.env.Choose(want)
		if err != nil {
			return out, directive
		}
		for line := range cachedLines(a.env, m) {
			if name, _, _ := strings.Cut(line, "\t"); strings.HasPrefix(line, prefix) && !slices.Contains(args, name) {
				out = append(out, line)
			}
		}
		return out, directive
	}
}
