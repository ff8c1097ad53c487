// Mpitx-parquet writes the samples of a run to standard output as Parquet: mpitx-parquet RUN TRANSFORM long|wide
// [chosen]. `mpitx export -o parquet` starts it, with the selected variables on standard input. It is a separate
// program because the Parquet library takes milliseconds to initialise.
package main

import (
	"bufio"
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
		fmt.Fprintln(os.Stderr, "mpitx: parquet:", err)
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

func run(args []string) ([]error, error) {
	write := map[string]func(io.Writer, *recording.Run, recording.Options) error{"long": parquet.Samples, "wide": parquet.WideSamples}
	chosen := len(args) == 4 && args[3] == "chosen"
	if len(args) != 3 && !chosen || write[args[2]] == nil {
		return nil, fmt.Errorf("this command is internal; use mpitx export RUN -o parquet")
	}
	as, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	var only columns.Set
	if chosen {
		if only, err = columns.Read(os.Stdin); err != nil {
			return nil, err
		}
	}
	r, err := recording.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	bar := progress.New("exporting")
	err = write[args[2]](w, r, recording.Options{As: recording.Transform(as), Column: only.Column(), Progress: bar.Update})
	bar.Clear()
	if err != nil {
		return nil, err
	}
	return r.Damage(), w.Flush()
}
