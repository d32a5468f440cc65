// Package browser is the only door to Rod and to the Chrome DevTools Protocol.
// It launches Chromium or attaches to it, follows its tabs and frames, and
// implements primitives.Page on them.
//
// Rod supplies the WebSocket of lib/cdp for attaching and the protocol's types;
// its Browser, Page and Element are not used: they decide in the page's own
// world, and they end the process when a frame does not parse.
//
// # One reader
//
// All frames of a connection are read by one goroutine, which also keeps the
// picture of tabs, frames and dialogs. Whatever it does is short and never
// waits: commands it needs are sent without waiting, and their answers come
// back to it as callbacks. So events need no queue and cannot overtake answers.
// Callers wait for their own answer, their context, and the end of the tab,
// whichever comes first.
//
// # Lifetimes
//
// A launched browser never outlives this process, however this process ends: the
// DevTools pipe closes with it, and a small supervisor process (see
// MaybeSupervise) kills what is left and removes the profile directory.
package browser
