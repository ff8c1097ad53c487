package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// answerWriter is standard output, where answers go. Its errors say what could not be written.
type answerWriter struct{}

func (answerWriter) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	if errors.Is(err, syscall.EBADF) { // see binding/stdout.c
		err = errors.New("standard output is closed: redirect it to a file or a terminal")
	}
	if err != nil {
		err = fmt.Errorf("cannot write the answer: %w", causeOf(err))
	}
	return n, err
}

// flush writes what is left of the answer. It fails once: what comes later is dropped.
func (a *app) flush() error {
	err := a.out.Flush()
	if err != nil {
		a.out.Reset(io.Discard)
	}
	return err
}
