//go:build !linux

package main

import (
	"errors"
	"os/exec"

	"mpitx/cmd/mpitx/internal/locate"
)

var errLinux = errors.New("applications are observed on Linux only; what was recorded there can be exported and summed up here")

type ending struct{ code int }

func (ending) follow() {}

func become(string, []string, []string) error { return errLinux }

func supervise(*exec.Cmd, bool, func()) (ending, error) { return ending{}, errLinux }

type standInPipe struct{}

func (*standInPipe) say(byte) {}

func (*standInPipe) done() {}

func (o *sampleOptions) standIn() {}

func (o *sampleOptions) takeOver(string, []string) error { return errLinux }

func apart(*exec.Cmd) {}

func endJob(*locate.Env, int) {}
