//go:build !linux

package inspect

// Live is empty on this system.
type Live struct{}

type front struct{}

// Collect fails: MPI libraries can be read on Linux only.
func Collect(Options) (*Job, error) {
	return nil, &Error{Text: "read the MPI library: mpitx reads live MPI libraries on Linux only; read a snapshot with --from FILE"}
}

// LostText is empty here.
func (j *Job) LostText() []string { return nil }

// Finish returns the code to exit with.
func (j *Job) Finish(code int) int { return code }

// Settle does nothing here.
func (j *Job) Settle(int, ...byte) {}
