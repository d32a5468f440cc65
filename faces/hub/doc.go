// Package hub is a bridge good enough to run alone on one machine: runtimes connect to
// /extension, agents call tools over HTTP or through the Go API. It decides nothing but
// the runtime of a call: which actions a page offers, and whether arguments are valid,
// is answered there. The verbs hub and demo of cmd/outrider run it.
//
// It routes every call to exactly one runtime. A selector that matches two is
// an error, never a guess.
//
// # Calls
//
// A call ends with the runtime's answer or at its deadline. A lost connection
// does not end it: an answer that arrives in time over any later connection of
// the same runtime counts, and to a runtime that promises not to execute a
// repeated call twice the call is sent again. The first answer wins; later ones
// are dropped.
//
// # Who may talk to it
//
// It listens on the loopback interface, answers only requests whose Host is a
// loopback name, and refuses browser pages of other origins, so that a web page
// cannot drive the user's tabs. Listening elsewhere needs a token.
package hub
