// Package change wakes those who wait for a state to change. It does not know the
// state: who waits takes the channel first and reads the state then. The packages of
// runtime/browser that keep a picture of the browser call it.
package change
