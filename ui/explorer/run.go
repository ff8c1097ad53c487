package explorer

import (
	"context"
	"fmt"
	"os"

	"mpitx/ui/screen/program"
)

// Run shows the explorer on the terminal until the user quits or the context ends. It restores the terminal whatever
// happens, and ends the back end. Its error says why it ended before the user quit.
func Run(ctx context.Context, o Options) error {
	m := New(o)
	err := program.Run(ctx, m, o.Term, os.Stdin, os.Stdout)
	m.finish()
	if m.backend != nil {
		m.backend.Close()
	}
	if err != nil {
		return fmt.Errorf("explorer: %w", err)
	}
	return nil
}
