package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"mpitx/machine"
)

// Standard is a command's standard output and standard error. Both go to the pager if there is one.
type Standard struct {
	mu    sync.Mutex
	page  string // the pager's command line; "" if there is none
	pager *pager // nil until something is written to standard output
}

// answers writes to standard output. Its errors name the cause.
type answers struct{ *Standard }

func (s answers) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.page != "" && s.pager == nil {
		s.pager = startPager(s.page)
		s.page = ""
	}
	n, err := s.pager.output(os.Stdout).Write(p)
	if errors.Is(err, syscall.EBADF) { // see binding/stdout.c
		err = errors.New("standard output is closed: redirect it to a file or a terminal")
	}
	if err != nil {
		err = fmt.Errorf("cannot write the answer: %w", machine.Cause(err))
	}
	return n, err
}

// messages writes to standard error.
type messages struct{ *Standard }

func (s messages) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isTerminal(os.Stderr) { // the terminal that the pager uses
		if n, err := s.pager.output(os.Stderr).Write(p); err == nil {
			return n, nil
		}
	}
	return os.Stderr.Write(p)
}

// Stderr is the standard error for a process that prints messages instead of mpitx.
func (s *Standard) Stderr() io.Writer {
	if s.page == "" {
		return os.Stderr
	}
	return messages{s}
}

// flush writes the buffered answer. After an error, later output is dropped.
func (a *App) flush() error {
	err := a.Out.Flush()
	if err != nil {
		a.Out.Reset(io.Discard)
	}
	return err
}
