//go:build !unix

package main

import "os"

// There are no such signals here.
var (
	hangUps    = []os.Signal{}
	brokenPipe = []os.Signal{}
)

// onStopSignal does nothing: there is no such signal here.
func onStopSignal(func()) (end func()) { return func() {} }
