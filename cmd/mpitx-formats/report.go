package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"mpitx/export/html"
	"mpitx/export/pprof"
	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/recording/sites"
)

// report writes the profile of a run. mpitx has read it already, and said what is wrong with it.
func report(w io.Writer, r *recording.Run, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	format, name := args[0], args[1]
	var cut profile.Cut
	if err := json.NewDecoder(os.Stdin).Decode(&cut); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	p, err := profile.Read(r, cut)
	if err != nil {
		return err
	}
	sites.Resolve(p)
	switch format {
	case "html":
		return html.Write(w, p, sites.Triggers(r), name)
	case "pprof":
		return pprof.Write(w, p)
	}
	return errUsage
}
