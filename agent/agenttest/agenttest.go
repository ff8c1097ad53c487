// Package agenttest builds agents for tests. A build takes half a minute, so agents are kept in the user's cache until their sources
// change. An agent with more sources has the objects of the one without.
package agenttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// sourceDir returns the folder agent, relative to the folder that a test runs in, as -trimpath removes all other hints.
func sourceDir() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "agent"), nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("build the agent: no go.mod above %s", dir)
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Build builds the agent for the MPI of a compiler wrapper ("mpicc.openmpi") and returns its path. more are additional sources.
// They may define a tool, named by tool, which is added to the agent's table; "" is none.
func Build(mpicc, tool string, more ...string) (string, error) {
	show, err := exec.Command(mpicc, "-show").Output()
	if err != nil {
		return "", err
	}
	return build(mpicc, strings.TrimPrefix(filepath.Base(mpicc), "mpicc."), string(show), tool, more)
}

// BuildQMPI builds libmpitx-qmpi.so and returns its path.
func BuildQMPI() (string, error) {
	dir, err := sourceDir()
	if err != nil {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(dir, "qmpi", "*"))
	key, err := fingerprint("", files)
	if err != nil {
		return "", err
	}
	library := filepath.Join(cacheDir(), "qmpi-"+key, "libmpitx-qmpi.so")
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	if err := os.MkdirAll(filepath.Dir(library), 0o700); err != nil {
		return "", err
	}
	if output, err := exec.Command("sh", filepath.Join(dir, "qmpi", "build.sh"), library).CombinedOutput(); err != nil {
		return "", fmt.Errorf("qmpi/build.sh: %w\n%s", err, output)
	}
	return library, nil
}

func cacheDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("mpitx-test-%d", os.Getuid()))
	}
	return filepath.Join(cache, "mpitx-test")
}

// ARM returns the compiler command for 64-bit ARM with the include path of that MPI's mpi.h, which is the same for all processors.
func ARM(mpicc string) ([]string, error) {
	show, err := exec.Command(mpicc, "-show").Output()
	command := []string{"aarch64-linux-gnu-gcc"}
	for _, word := range strings.Fields(string(show)) {
		if strings.HasPrefix(word, "-I") {
			command = append(command, word)
		}
	}
	return command, err
}

// BuildARM builds the agent for 64-bit ARM, without optimisation, which takes a third of the time.
func BuildARM(mpicc string) (string, error) {
	command, err := ARM(mpicc)
	if err != nil {
		return "", err
	}
	line := strings.Join(command, " ")
	return build(line, "arm-"+strings.TrimPrefix(filepath.Base(mpicc), "mpicc."), line, "", nil, "CC="+command[0], "CFLAGS=-O0")
}

func build(mpicc, name, how, tool string, more []string, environ ...string) (string, error) {
	dir, err := sourceDir()
	if err != nil {
		return "", err
	}
	sources := []string{"*.txt", "*.sh", "qmpi/*", "wrapgen/*.go", "gen/*.go", "../binding/shim/*.[ch]", "../binding/*.[ch]"}
	for _, layer := range []string{"base", "mpi", "chain", "include", "run", "node", "pvar", "tools", "tools/*", "life"} {
		sources = append(sources, layer+"/*.[ch]")
	}
	var files []string
	for _, pattern := range sources {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		files = append(files, names...)
	}
	how += os.Getenv("CFLAGS")
	key, err := fingerprint(how, files)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cacheDir(), 0o700); err != nil {
		return "", err
	}
	plain := filepath.Join(cacheDir(), "mpitx-agent-"+name+"-"+key+".so")
	objects := plain + ".objects"
	if err := makeAgent(dir, mpicc, plain, append(environ, "TEST_TOOL=", "KEEP="+objects, "OBJECTS="+made(name, how)), objects); err != nil || tool == "" && len(more) == 0 {
		return plain, err
	}
	added := make([]string, len(more))
	for i, name := range more {
		if added[i], err = filepath.Abs(name); err != nil {
			return "", err
		}
	}
	if key, err = fingerprint(how+tool+key, added); err != nil {
		return "", err
	}
	agent := filepath.Join(cacheDir(), "mpitx-agent-"+name+"-"+key+".so")
	kept, err := os.MkdirTemp("", "mpitx-agent-objects")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(kept)
	return agent, makeAgent(dir, mpicc, agent, append(environ, "TEST_TOOL="+tool, "KEEP="+kept, "OBJECTS="+objects), kept, added...)
}

// made returns the folder with the objects that `make test` has just built in the same way; "" if there is none.
func made(name, how string) string {
	objects := filepath.Join(os.Getenv("MPITX_TEST_BIN"), ".objects-"+name)
	if text, err := os.ReadFile(filepath.Join(objects, "how")); err != nil || string(text) != how || !filepath.IsAbs(objects) {
		return ""
	}
	return objects
}

// makeAgent runs build.sh, unless the agent is there, and writes its symbols. Other tests that need the same agent wait for it.
func makeAgent(dir, mpicc, agent string, environ []string, objects string, more ...string) error {
	lock, err := os.OpenFile(agent+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if _, err := os.Stat(Symbols(agent)); err == nil {
		return nil
	}
	build := exec.Command(filepath.Join(dir, "build.sh"), append([]string{mpicc, agent}, more...)...)
	build.Env = append(os.Environ(), environ...)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build.sh: %w\n%s", err, output)
	}
	return writeSymbols(objects, Symbols(agent))
}

// Symbols returns the file with the output of nm -A for the objects of an agent built by Build: the symbols that each object defines
// and needs.
func Symbols(agent string) string { return agent + ".symbols" }

func writeSymbols(objects, file string) error {
	names, _ := filepath.Glob(filepath.Join(objects, "*.o"))
	nm := exec.Command("nm", "-A")
	for _, name := range names {
		nm.Args = append(nm.Args, filepath.Base(name))
	}
	nm.Dir = objects
	text, err := nm.Output()
	if err != nil {
		return fmt.Errorf("nm: %w", err)
	}
	return os.WriteFile(file, text, 0o600)
}

func fingerprint(how string, files []string) (string, error) {
	hash := sha256.New()
	hash.Write([]byte(how))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, filepath.Base(name), len(text))
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:6]), nil
}
