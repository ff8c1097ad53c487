//go:build !linux

package launch

type endings struct{}

func followEndings(string, int) *endings { return nil }

func (e *endings) write() bool { return false }
