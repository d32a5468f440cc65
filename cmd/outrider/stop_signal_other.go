//go:build !unix

package main

// onStopSignal does nothing: there is no such signal here.
func onStopSignal(func()) (end func()) { return func() {} }
