// Package browserbridge speaks the browser bridge protocol v4: a runtime in the
// place of the browser extension. It dials a backend over WebSocket, says
// hello, waits for ack, executes the requests of thirteen actions and reports
// five kinds of events.
//
// Whatever touches a page is a primitive of the dictionary; this package
// translates, keeps the protocol's own books (sessions, element uids, the
// domain blocklist) and classifies obstacles. What the protocol's text leaves
// open is decided in one place each; docs/reference/browser-bridge.md lists the choices.
package browserbridge
