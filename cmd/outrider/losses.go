package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/outrider-run/outrider/evidence/outfile"
)

// losses are outputs that could not be written, beside the result: the verb has done what it
// was asked for, and what was to be kept of it is not there. Jobs of a worker share them.
type losses struct {
	mu     sync.Mutex
	errors []error
	cdp    *kept // of --cdp-log, once it is open
}

// add notes what could not be written.
func (l *losses) add(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errors = append(l.errors, err)
}

// all are the losses until here.
func (l *losses) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.errors
}

// kept is a file that is written while the verb runs, and its first error. It is safe for
// concurrent use.
type kept struct {
	mu   sync.Mutex
	to   io.WriteCloser
	err  error
	name string
}

func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.to.Write(p)
	k.err = err
	return n, err
}

// close closes the file and returns the first error of writing it.
func (k *kept) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := errors.Join(k.err, k.to.Close()); err != nil {
		return fmt.Errorf("%s is not whole: %w", k.name, err)
	}
	return nil
}

// cdpLog opens the file of --cdp-log, nil without it. Every browser of the process writes to it.
func (a *app) cdpLog() (io.Writer, error) {
	path := a.browser.cdpLog
	if path == "" {
		return nil, nil
	}
	a.lost.mu.Lock()
	defer a.lost.mu.Unlock()
	if a.lost.cdp != nil {
		return a.lost.cdp, nil
	}
	_ = os.MkdirAll(filepath.Dir(path), 0o755) // opening the file says why it cannot be there
	f, err := outfile.Claim(path, 0o600)
	if errors.Is(err, outfile.ErrHeld) {
		return nil, &exit{exitEnvironment, fmt.Errorf("--cdp-log: %w", err)}
	}
	if err != nil {
		return nil, usage("--cdp-log: %w", err)
	}
	a.lost.cdp = &kept{to: f, name: "the log of --cdp-log, " + path + ","}
	return a.lost.cdp, nil
}

// end closes what is still open and returns every loss.
func (l *losses) end() []error {
	l.mu.Lock()
	cdp := l.cdp
	l.cdp = nil
	l.mu.Unlock()
	if cdp != nil {
		l.add(cdp.close())
	}
	return l.all()
}

// output is standard output with its first error. A reader that has gone, such as grep -q, or that
// does not read at the end, had enough: that is no loss.
type output struct {
	to   io.Writer
	lost *losses
	gone func() // is called when the reader has gone
	once sync.Once
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if err == nil {
		return n, nil
	}
	o.once.Do(func() {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) { // the second at the end, from outlet
			o.gone()
			return
		}
		o.lost.add(fmt.Errorf("standard output could not be written: %w", err))
	})
	return n, err
}

// Unwrap is the writer below.
func (o *output) Unwrap() io.Writer { return o.to }
