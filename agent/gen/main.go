// Gen writes the agent's wrappers for the MPI of one compiler wrapper:
//
//	gen [-table prototypes.txt] [-o wrappers.c] MPICC…
//
// With -qmpi it writes qmpi.h from a template, and functions.txt:
//
//	gen [-table prototypes.txt] -qmpi qmpi.h.in -o qmpi.h -functions functions.txt
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
	template := flag.String("qmpi", "", "the template of qmpi.h")
	functions := flag.String("functions", "functions.txt", "with -qmpi: the file to write the names of functions to")
	flag.Parse()
	err := error(nil)
	if *template != "" {
		err = header(*table, *template, *output, *functions)
	} else {
		err = run(*table, *output, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func parse(file string) (*wrapgen.Table, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return wrapgen.ParseTable(string(text))
}

func header(tableFile, template, output, functions string) error {
	table, err := parse(tableFile)
	if err != nil {
		return err
	}
	head, err := os.ReadFile(template)
	if err != nil {
		return err
	}
	if err := os.WriteFile(output, []byte(table.Header(string(head))), 0o666); err != nil {
		return err
	}
	return os.WriteFile(functions, []byte(table.Names()), 0o666)
}

func run(tableFile, output string, mpicc []string) error {
	table, err := parse(tableFile)
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
