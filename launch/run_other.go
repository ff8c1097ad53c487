//go:build !linux

package launch

import (
	"errors"
	"os"
	"os/exec"

	"mpitx/machine"
)

var errLinux = errors.New("applications can be observed on Linux only; runs recorded there can be exported and summarized here")

type ending struct{ code int }

func (ending) follow() {}

func (ending) how() string { return "" }

func become(string, []string, []string) error { return errLinux }

func supervise(*exec.Cmd, bool, func(), func(func()) func() (int, bool)) (ending, error) {
	return ending{}, errLinux
}

func keepLauncher(*exec.Cmd, bool, func() bool, func(func()) func() (int, bool)) (ending, error) {
	return ending{}, errLinux
}

func (*Job) endRanks() {}

func (*Job) ranksGone() bool { return false }

const standInVariable = "MPITX_STAND_IN"

const saidPromise, saidTold, saidEmpty, saidOver = 'p', 't', 'e', 'o'

type standIn struct{}

func (*standIn) say(byte) {}

func (*standIn) done() {}

func startStandIn(*Job) *standIn { return nil }

func (*Job) becomesApplication() bool { return false }

func startCollector(*Job) func() { return nil }

func (*Job) enterAgain() error { return errLinux }

func (*Job) takeOver() error { return errLinux }

// EndJob does nothing here.
func EndJob(*machine.Env, int) {}

func reserve(*os.File, int64) {}
