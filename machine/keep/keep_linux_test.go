package keep

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A signal that comes before the launcher has started ends the launcher.
func TestSignalBeforeStart(t *testing.T) {
	keeper := Catch(Options{})
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); len(keeper.signals) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the signal did not arrive")
		}
	}
	cmd := exec.Command("sleep", "600")
	if err := keeper.Start(cmd); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := keeper.Stop(); got != syscall.SIGTERM {
		t.Errorf("passed %v", got)
	}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGTERM {
		t.Errorf("the launcher ended with %v", cmd.ProcessState)
	}
	if got := keeper.Stop(); got != 0 {
		t.Errorf("stopped twice: %v", got)
	}
}

// A launcher that hangs when a signal has ended its processes is killed; one that waits for them is left alone.
func TestHangingLauncher(t *testing.T) {
	gone := make(chan bool, 1)
	gone <- false
	keeper := Catch(Options{Pass: []os.Signal{syscall.SIGTERM}, Launcher: true, patience: 50 * time.Millisecond, Gone: func() bool {
		is := <-gone
		gone <- true // from the next look on
		return is
	}})
	cmd := exec.Command("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := keeper.Start(cmd); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	keeper.End()
	cmd.Wait()
	keeper.Stop()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL || !<-gone {
		t.Errorf("the launcher ended with %v", cmd.ProcessState)
	}
}

func TestStopWithoutStart(t *testing.T) {
	keeper := Catch(Options{})
	if err := keeper.Start(exec.Command("/nonexistent")); err == nil {
		t.Fatal("started")
	}
	if got := keeper.Stop(); got != 0 {
		t.Errorf("passed %v", got)
	}
}
