// Package bridgeclient keeps one connection to a bridge open, answers the calls that
// arrive on it and delivers what the runtime reports. It does not know what a primitive
// is, and speaks exactly one Dialect: calls go to the Host it was given. The packages of
// the single protocols bring the dialects, and cmd/outrider runs the client.
//
// # One answer per call
//
// A call that was accepted is answered once, whatever happens to the connection
// in between. The protocols have no acknowledgement, so the client makes one: a
// WebSocket pong to a ping that was sent after an answer proves that the peer
// has read the answer. An answer without that proof is kept for
// Options.KeepAnswers and sent again on the next connection. A peer may
// therefore see the same answer twice, byte for byte; bridges take the first.
//
// A call_id that arrives again while its call is running, or within
// Options.KeepAnswers after it was answered, is not executed again: the stored
// answer is sent again. The same call_id with other contents is refused.
//
// # Bounds
//
// Nothing the peer or the page does makes the client grow without end: status
// items replace older ones, page events are counted and dropped beyond a limit,
// and while too many answers wait for a peer that does not read, the client
// stops reading as well.
package bridgeclient
