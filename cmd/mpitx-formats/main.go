// Mpitx-formats writes formats whose libraries take milliseconds to initialise, and is a separate program for that reason. mpitx starts
// it:
//
//	mpitx-formats samples RUN TRANSFORM long|wide [chosen]   Parquet of the samples; with chosen, variables are on standard input
//	mpitx-formats report RUN FORMAT TABLE NAME               the profile; what it is restricted to is JSON on standard input
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"mpitx/cmd/internal/columns"
	"mpitx/cmd/internal/progress"
	"mpitx/export/parquet"
	"mpitx/recording"
)

func main() {
	damage, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpitx:", err)
		os.Exit(1)
	}
	for k, d := range damage {
		if k == 10 {
			fmt.Fprintf(os.Stderr, "mpitx: and %d more\n", len(damage)-k)
			break
		}
		fmt.Fprintf(os.Stderr, "mpitx: %v: left out\n", d)
	}
	if len(damage) > 0 {
		os.Exit(3)
	}
}

var errUsage = errors.New("this command is internal; use mpitx export or mpitx report")

func run(args []string) ([]error, error) {
	if len(args) < 2 {
		return nil, errUsage
	}
	r, err := recording.Open(args[1])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	switch args[0] {
	case "samples":
		err = samples(w, r, args[2:])
	case "report":
		if err = report(w, r, args[2:]); err == nil {
			return nil, w.Flush() // mpitx names what is damaged
		}
	default:
		err = errUsage
	}
	if err != nil {
		return nil, err
	}
	return r.Damage(), w.Flush()
}

func samples(w io.Writer, r *recording.Run, args []string) error {
	write := map[string]func(io.Writer, *recording.Run, recording.Options) error{"long": parquet.Samples, "wide": parquet.WideSamples}
	chosen := len(args) == 3 && args[2] == "chosen"
	if len(args) != 2 && !chosen || write[args[1]] == nil {
		return errUsage
	}
	as, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var only columns.Set
	if chosen {
		if only, err = columns.Read(os.Stdin); err != nil {
			return err
		}
	}
	bar := progress.New("exporting")
	defer bar.Clear()
	return write[args[1]](w, r, recording.Options{As: recording.Transform(as), Column: only.Column(), Progress: bar.Update})
}
