package sites

import (
	"fmt"
	"path/filepath"

	"mpitx/recording"
	"mpitx/recording/profile"
	"mpitx/symbols"
)

// Places returns a function that says where a return address of a run's process is in the source, as "function file:line", or as
// "library+0x123" if that is not known; "" if the address is in no module. done releases the symbols, and returns the same as [Resolve].
func Places(run *recording.Run) (find func(r *recording.Rank, address uint64) string, done func() ([]symbols.Problem, error)) {
	all := symbols.New(symbols.Options{Recorded: run.Start})
	before, err := kept(run.Dir)
	find = func(r *recording.Rank, address uint64) string {
		m := r.Module(address - 1) // the call is before the return address
		if m == nil {
			return ""
		}
		for _, f := range frames(all, before, profile.Address{Path: m.Path, BuildID: m.BuildID, Offset: address - m.Bias}) {
			switch {
			case f.File != "" && f.Function != "":
				return fmt.Sprintf("%s %s:%d", f.Function, filepath.Base(f.File), f.Line)
			case f.Function != "":
				return f.Function
			}
		}
		return fmt.Sprintf("%s+0x%x", filepath.Base(m.Path), address-m.Bias)
	}
	return find, func() ([]symbols.Problem, error) {
		defer all.Close()
		return all.Problems(), err
	}
}
