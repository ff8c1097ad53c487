//go:build linux

package launch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"mpitx/fixtures/need"
	"mpitx/machine"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

// A resumed job goes on without a message; SIGTERM after SIGCONT is a launcher that ends its job.
func TestSuperviseSignals(t *testing.T) {
	if os.Getenv("MPITX_TEST_SUPERVISE") != "" {
		app := `trap 'echo continued' CONT; trap 'echo terminated; exit 3' TERM; echo ready; while :; do sleep 0.02; done`
		e, err := supervise(exec.Command("sh", "-c", app), true, func() { fmt.Println("warned") }, nil)
		fmt.Println("ended", e.code, err)
		os.Exit(0)
	}
	for _, c := range []struct {
		signals []syscall.Signal
		want    string
	}{
		{[]syscall.Signal{syscall.SIGCONT, syscall.SIGCONT, syscall.SIGTERM}, "ready continued continued warned terminated ended 3 <nil>"},
		{[]syscall.Signal{syscall.SIGTERM}, "ready terminated ended 3 <nil>"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSuperviseSignals$")
		cmd.Env = append(os.Environ(), "MPITX_TEST_SUPERVISE=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		signals := c.signals
		for lines := bufio.NewScanner(out); lines.Scan(); {
			got = append(got, lines.Text())
			if line := lines.Text(); len(signals) > 0 && (line == "ready" || line == "continued") { // the signal before has arrived
				cmd.Process.Signal(signals[0])
				signals = signals[1:]
			}
		}
		cmd.Wait()
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: %q, want %q", c.signals, got, c.want)
		}
	}
}

func TestMain(m *testing.M) {
	need.DefaultSignals()
	os.Exit(m.Run())
}

// A program in the group of mpitx gets each signal once, whether it is sent to mpitx or to the group.
func TestSuperviseGroup(t *testing.T) {
	switch os.Getenv("MPITX_TEST_SUPERVISE") {
	case "mpitx":
		cmd := exec.Command(os.Args[0], "-test.run=^TestSuperviseGroup$")
		cmd.Env = append(os.Environ(), "MPITX_TEST_SUPERVISE=program")
		e, err := supervise(cmd, false, nil, nil)
		fmt.Println("ended", e.code, err)
		os.Exit(0)
	case "program":
		signals := make(chan os.Signal, 9)
		signal.Notify(signals, passed...)
		fmt.Println("ready")
		for s := range signals {
			if fmt.Println(s); s == syscall.SIGUSR1 {
				os.Exit(3)
			}
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestSuperviseGroup$")
	cmd.Env = append(os.Environ(), "MPITX_TEST_SUPERVISE=mpitx")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	steps := []func(){
		func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) },
		func() { cmd.Process.Signal(syscall.SIGHUP) },
		func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) },
		func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGQUIT) },
		func() { cmd.Process.Signal(syscall.SIGUSR2) },
		func() { cmd.Process.Signal(syscall.SIGUSR1) },
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if got = append(got, lines.Text()); len(steps) > 0 {
			steps[0]()
			steps = steps[1:]
		}
	}
	cmd.Wait()
	if want := "ready terminated hangup interrupt quit user defined signal 2 user defined signal 1 ended 3 <nil>"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The exit code of a process is known until its parent has waited for it. Of a run it is then known whether all ranks finalized.
func TestExitCodeOf(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exit 3")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	waitFor(fd, unix.POLLIN, -1)
	if end, known := endingOfPID(&machine.Env{}, cmd.Process.Pid); end.code != 3 || !known {
		t.Errorf("%v %v", end, known)
	}
	cmd.Wait()
	if end, known := endingOfPID(&machine.Env{}, cmd.Process.Pid); end.code != 1 || known {
		t.Errorf("after the parent has waited: %v %v", end, known)
	}
	well := &recording.Rank{State: recording.StateEnded, End: recording.EndFinalize}
	died := &recording.Rank{State: recording.StateDied}
	if !finalized(&recording.Run{Ranks: []*recording.Rank{well, well}}) || finalized(&recording.Run{Ranks: []*recording.Rank{well, died}}) {
		t.Error("finalized")
	}
}

// A process whose exit code is not known any more has not failed if its run says that all ranks called MPI_Finalize.
func TestEndedWell(t *testing.T) {
	save := func(end bool) string {
		s := recordingtest.NewStream(1, 0)
		s.Header(recordingtest.Header{Size: 1, Clock: 1, NsPerTick: 1, Host: "node1"})
		s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
		if end {
			s.End(uint32(recording.EndFinalize))
		}
		s.Seal()
		dir := filepath.Join(t.TempDir(), "run")
		if err := recordingtest.Save(dir, "node1", s.Out); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	if well := save(true); !endedWell(well, 1) || endedWell(well, 2) || endedWell(save(false), 1) || endedWell(t.TempDir(), 1) {
		t.Error("wrong")
	}
}
