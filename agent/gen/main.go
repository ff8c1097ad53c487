// Gen writes the agent's wrappers for the MPI of one compiler wrapper:
//
//	gen [-table prototypes.txt] [-o wrappers.c] MPICC…
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"mpitx/agent/wrapgen"
)

func main() {
	table := flag.String("table", "prototypes.txt", "the table of prototypes")
	output := flag.String("o", "wrappers.c", "the file to write")
	flag.Parse()
	if err := run(*table, *output, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(tableFile, output string, mpicc []string) error {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		return err
	}
	table, err := wrapgen.ParseTable(string(text))
	if err != nil {
		return err
	}
	if len(mpicc) == 0 {
		return fmt.Errorf("no compiler wrapper; usage: gen [-table prototypes.txt] [-o wrappers.c] MPICC…")
	}
	header, err := preprocess(mpicc, "-P")
	if err != nil {
		return err
	}
	macros, err := preprocess(mpicc, "-dM")
	if err != nil {
		return err
	}
	wrappers := wrapgen.Merge(table, header, macros)
	for _, left := range wrappers.Left {
		fmt.Fprintln(os.Stderr, "gen: skipped:", left)
	}
	return os.WriteFile(output, []byte(wrappers.Write()), 0o666)
}

// preprocess returns mpi.h as preprocessed with an option.
func preprocess(mpicc []string, option string) (string, error) {
	compiler := exec.Command(mpicc[0], append(mpicc[1:len(mpicc):len(mpicc)], "-E", option, "-x", "c", "-")...)
	compiler.Stdin = strings.NewReader("#include <mpi.h>\n")
	compiler.Stderr = os.Stderr
	text, err := compiler.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(mpicc, " "), err)
	}
	return string(text), nil
}
