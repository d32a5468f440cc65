//go:build unix

package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

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
