// Package browserbridge speaks the browser bridge protocol v4: a runtime in the place
// of the browser extension. It dials a backend over WebSocket, sends hello, waits for
// ack, executes the requests of thirteen actions and reports five kinds of events. It
// touches no page itself: primitives of the dictionary do.
// The verb connect of cmd/outrider calls it.
//
// It keeps the protocol's own books (sessions, element uids, the domain blocklist)
// and classifies obstacles. docs/reference/browser-bridge.md lists what is chosen
// where the protocol's text leaves something open.
package browserbridge
