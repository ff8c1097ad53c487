// Mpitx-formats writes formats whose libraries take milliseconds to initialise, and is a separate program for that reason. mpitx starts
// it:
//
//	mpitx-formats samples RUN TRANSFORM long|wide all|chosen FROM TO RANKS [PHASE…]   Parquet of the samples; chosen: standard input names the variables
//	mpitx-formats trace RUN FROM TO RANKS [GLOB…]                       Parquet of the trace, with derived events that match
//	mpitx-formats report RUN FORMAT NAME                                the profile; what it is restricted to is JSON on standard input
//	mpitx-formats rows RUN                                              Parquet of a table on standard input
package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"mpitx/export"
	"mpitx/export/parquet"
	"mpitx/recording"
	"mpitx/recording/columns"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/progress"
)

func main() {
	damage, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mpitx:", err)
		os.Exit(1)
	}
	if len(damage) > 0 {
		fmt.Fprintln(os.Stderr, "mpitx:", recording.DamageText(damage))
	}
	if len(damage) > 0 || unread {
		os.Exit(3)
	}
}

var unread bool // a program or its debug information cannot be read, and was reported

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
	case "trace":
		err = traced(w, r, args[2:])
	case "report":
		if err = report(w, r, args[2:]); err == nil {
			return nil, w.Flush() // mpitx names what is damaged
		}
	case "rows":
		var rows *export.Rows
		if rows, err = export.DecodeRows(os.Stdin); err != nil {
			return nil, fmt.Errorf("%w: %w", errUsage, err)
		}
		return nil, cmp.Or(parquet.Report(w, r, rows), w.Flush())
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
	if len(args) < 6 || write[args[1]] == nil {
		return errUsage
	}
	as, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	o := recording.Options{As: recording.Transform(as)}
	if err = part(args[3:6], &o); err != nil {
		return err
	}
	if phases := args[6:]; len(phases) > 0 {
		if o.During, err = profile.During(r, phases); err != nil {
			return err
		}
	}
	if args[2] == "chosen" {
		var only columns.Set
		if only, err = columns.Read(os.Stdin); err != nil {
			return err
		}
		o.Column = only.Column()
	}
	bar := progress.New("exporting")
	defer bar.Clear()
	o.Progress = bar.Update
	return write[args[1]](w, r, o)
}

// part reads FROM, TO and RANKS.
func part(args []string, o *recording.Options) (err error) {
	if o.From, err = time.ParseDuration(args[0]); err != nil {
		return err
	}
	if o.To, err = time.ParseDuration(args[1]); err != nil {
		return err
	}
	ranks, err := text.ParseRanks(args[2])
	if len(ranks) > 0 {
		o.Rank = func(r *recording.Rank) bool { return slices.Contains(ranks, r.Rank) }
	}
	return err
}

func traced(w io.Writer, r *recording.Run, args []string) error {
	var o recording.Options
	if len(args) < 3 {
		return errUsage
	}
	if err := part(args, &o); err != nil {
		return err
	}
	find, done := sites.Places(r)
	err := parquet.Trace(w, r, export.TraceOptions{Options: trace.Options{From: o.From, To: o.To, Rank: o.Rank, Derive: trace.Derivable(r, args[3:]...)}, Site: find})
	for _, problem := range done() {
		if problem.Unreadable && err == nil {
			fmt.Fprintln(os.Stderr, "mpitx:", problem)
			unread = true
		}
	}
	return err
}
