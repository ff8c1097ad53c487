// Mpitx-parquet writes the samples of a run to standard output as Parquet: mpitx-parquet RUN TRANSFORM long|wide. It is what
// `mpitx export -o parquet` starts: the Parquet library takes milliseconds to initialise, which no other command is to
// pay for.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"

	"mpitx/export/parquet"
	"mpitx/recording"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mpitx: parquet:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	write := map[string]func(io.Writer, *recording.Run, recording.Options) error{"long": parquet.Samples, "wide": parquet.WideSamples}
	if len(args) != 3 || write[args[2]] == nil {
		return fmt.Errorf("this command is mpitx's own: use mpitx export RUN -o parquet")
	}
	as, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	r, err := recording.Open(args[0])
	if err != nil {
		return err
	}
	defer r.Close()
	w := bufio.NewWriterSize(os.Stdout, 1<<20)
	if err := write[args[2]](w, r, recording.Options{As: recording.Transform(as)}); err != nil {
		return err
	}
	return w.Flush()
}
