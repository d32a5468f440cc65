package expr

import (
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Names of the engines.
const (
	Native = "native"
	Blues  = "blues"
)

// Default is the engine that New chooses for the empty name.
const Default = Native

const timeLimit = time.Second

// Options tunes an engine. The zero value, and nil, mean the defaults.
type Options struct {
	// Workers is how many evaluations the blues engine runs at the same time,
	// each in a process of its own. Default: GOMAXPROCS.
	Workers int
	// Memory bounds what one evaluation may allocate, in bytes. Default: 256
	// MiB for blues, where it is a limit on the worker's address space.
	Memory int64
}

// New returns the engine of that name. The blues engine starts its workers
// when they are first needed; whoever uses it calls MaybeWorker first in main.
func New(name string, opts *Options) (Engine, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if name == "" {
		name = Default
	}
	switch name {
	case Native:
		return newNative(o), nil
	case Blues:
		return newBlues(o)
	}
	return nil, fault.New(fault.InvalidInput, "no expression engine is called %q; there are native and blues", name)
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = defaultTime
	}
	if l.OutputBytes <= 0 {
		l.OutputBytes = defaultOutputBytes
	}
	return l
}
