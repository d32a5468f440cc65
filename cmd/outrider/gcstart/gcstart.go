// Package gcstart says how a process of the command starts: what is decided before the other
// packages initialise. It knows nothing of what the command does. Its main imports it, for
// that effect alone.
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
)

const (
	usual = 100 // GOGC
	first = 200 // the first collection is at 8 MB
)

func init() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(first)
	runtime.AddCleanup(new([16]byte), func(int) { debug.SetGCPercent(usual) }, 0)
}
