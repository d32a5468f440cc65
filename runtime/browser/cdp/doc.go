// Package cdp carries commands to a browser and its answers and events back: over a
// pipe or a WebSocket, for many sessions at once, with the codes of package fault for
// what goes wrong. It knows the form of the Chrome DevTools Protocol, but no tab, no
// frame and no document. The other packages of runtime/browser call it; the client
// calls back only what it was given.
//
// All frames of a connection are read by one goroutine, here called the reader. It
// runs the callbacks of commands and the handler of events, which must not wait for
// anything: an event cannot overtake an answer then. Frames are taken apart without a
// general decoder, because most events need only their name and because answers can
// be megabytes long.
package cdp
