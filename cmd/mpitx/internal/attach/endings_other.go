//go:build !linux

package attach

type endings struct{}

func followEndings(string, int) *endings { return nil }

func (e *endings) write() bool { return false }
