// Package browser is the facade of Chromium: it launches a browser or attaches to one,
// follows its targets, and puts a Tab together from the rooms below, which implements
// primitives.Page. It decides nothing about actions or maps, and does not say what a
// command of the protocol looks like where a room does. Package runtime calls it, and
// nothing else below it but the tests' browsertest.
//
// Rod supplies the WebSocket of lib/cdp for attaching and the protocol's types; its
// Browser, Page and Element are not used: they decide in the page's own world, and they
// end the process when a frame does not parse.
//
// # One reader
//
// All frames of a connection are read by one goroutine, the reader, which also keeps
// the picture of tabs, frames and dialogs. Whatever it does is short and never waits:
// commands it needs are sent without waiting, and their answers come back to it as
// callbacks. So events need no queue and cannot overtake answers. Callers wait for their
// own answer, their context, and the end of the tab, whichever comes first.
//
// # Lifetimes
//
// A launched browser never outlives this process, however this process ends: the
// DevTools pipe closes with it, and a small supervisor process (see
// launch.MaybeSupervise) kills what is left and removes the profile folder.
package browser
