// Package provider speaks the browser provider protocol 0.1: one JSON object a line,
// requests with a string id, answers that carry it, events without one. It runs nothing
// itself: every method is a translation to primitives of the dictionary or to site
// actions. The verb provider of cmd/outrider serves it.
//
// What the draft leaves open is decided here and listed in docs/reference/provider.md.
// A session is a workspace of its own unless isolation says shared. Requests on one
// page run in the order in which they came, and every request gets exactly one
// answer. provider.describe names only what works.
package provider
