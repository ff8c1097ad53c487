package tune

import (
	"testing"

	"mpitx/cmd/mpitx/cli"
)

// Why a run failed is the program's last line, and not what launchers and mpitx say of it.
func TestLastLine(t *testing.T) {
	const openmpi = "--------------------------------------------------------------------------\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code.\n--------------------------------------------------------------------------\n"
	const mpich = "\n===================================================================================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n===================================================================================\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Hangup (signal 1)\n"
	for _, c := range []struct{ said, want string }{
		{"start\ncrash: dying\n" + openmpi + "mpitx: rank 1: the process died\nmpitx: --set btl_vader_eager_limit=65536: ok\n", "exit status 3: crash: dying"},
		{"mpitx: --set a=1: ok\ncrash: dying\n" + mpich, "exit status 3: crash: dying"},
		{"mpitx: start ./gone: there is no such file\nmpitx: --set a=1: ok\n", "exit status 3: mpitx: start ./gone: there is no such file"},
		{openmpi, "exit status 3"},
	} {
		if got := lastLine(&cli.RunFailed{How: "exit status 3", Said: c.said}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
