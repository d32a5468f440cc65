// Package network holds the primitives network.* and console.list: what the browser recorded of a tab's requests
// and messages. It records nothing itself: primitives.ObservedPage does. The catalog lists it.
package network

import "github.com/outrider-run/outrider/primitives"

// Primitives lists the primitives of this family. One that is not listed does not exist.
func Primitives() []*primitives.Primitive {
	return []*primitives.Primitive{
		consoleList,
		networkList,
		networkGet,
	}
}
