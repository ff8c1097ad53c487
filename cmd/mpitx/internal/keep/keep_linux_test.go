package keep

import (
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

func TestStopWithoutStart(t *testing.T) {
	keeper := Catch(Options{})
	if err := keeper.Start(exec.Command("/nonexistent")); err == nil {
		t.Fatal("started")
	}
	if got := keeper.Stop(); got != 0 {
		t.Errorf("passed %v", got)
	}
}
