package tune

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"mpitx/cmd/mpitx/cli"
	"mpitx/machine"
)

const (
	inputFile = "stdin" // in the campaign's directory: what each run reads from its standard input
	mostInput = 64 << 20
)

// keepInput keeps a file that is the standard input, for all runs. Pipes and terminals may never end: they are not read.
func (c *campaigning) keepInput() error {
	st, err := os.Stdin.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	if st.Size() > mostInput {
		return cli.Usagef("the standard input has %d bytes; mpitx tune gives at most %d of it to each run: let the application read a file", st.Size(), mostInput)
	}
	text, err := io.ReadAll(io.LimitReader(os.Stdin, mostInput))
	if err == nil && len(text) > 0 {
		err = os.WriteFile(filepath.Join(c.dir, inputFile), text, 0o600)
	}
	if err != nil {
		return cli.Failf("the standard input: %v", machine.Cause(err))
	}
	return nil
}

// giveInput gives a run the standard input that was kept.
func (c *campaigning) giveInput(cmd *exec.Cmd) (closes func()) {
	in, err := os.Open(filepath.Join(c.dir, inputFile))
	if err != nil {
		return func() {}
	}
	cmd.Stdin = in
	return func() { in.Close() }
}

// unread says that the application could not read a pipe.
func unread() string {
	if st, err := os.Stdin.Stat(); err == nil && st.Mode()&os.ModeNamedPipe != 0 {
		return " (mpitx tune gives no pipe to its runs: give them a file with < FILE)"
	}
	return ""
}
