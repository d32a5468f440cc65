//go:build unix

package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// hangUps end a program like an interrupt: its terminal is closed, or somebody wants it to quit.
var hangUps = []os.Signal{syscall.SIGHUP, syscall.SIGQUIT}

// brokenPipe comes when nobody reads what is written.
var brokenPipe = []os.Signal{syscall.SIGPIPE}

// onStopSignal calls stop on each SIGUSR1: the global stop of a person who has no
// popup to press it in. The result ends that, and waits for a stop that runs.
func onStopSignal(stop func()) (end func()) {
	signals, quit := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGUSR1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-signals:
				stop()
			case <-quit:
				return
			}
		}
	})
	return func() {
		signal.Stop(signals)
		close(quit)
		running.Wait()
	}
}
