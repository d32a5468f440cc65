// Package gcstart says how a process of the command starts: what is decided before the other
// packages initialise. It knows nothing of what the command does, but whether it lasts.
//
// Initialising some 300 packages allocates 5 MB, for which the collector would run twice,
// at the price of a fifth of the start of a short verb. Go initialises packages in the
// order of their paths as soon as what they import is ready, so one that imports little
// comes before nearly all others.
package gcstart

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

const (
	usual   = 100 // GOGC
	first   = 200 // the first collection is at 8 MB
	lasting = 50  // three quarters of the memory, for a sixth more of the processor
)

var (
	mu        sync.Mutex
	collected bool
	percent   = usual
)

func init() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([16]byte), func(int) {
		mu.Lock()
		defer mu.Unlock()
		collected = true
		debug.SetGCPercent(percent)
	}, 0)
}

// Lasting is for a process that serves until it is interrupted. It waits most of the time, beside a browser that takes
// what memory there is, so it keeps less.
func Lasting() {
	mu.Lock()
	defer mu.Unlock()
	percent = lasting
	if collected {
		debug.SetGCPercent(percent)
	}
}
