// Package provider speaks the browser provider protocol 0.1: one JSON object a
// line, requests with a string id, answers that carry it, events without one.
//
// Every method is a translation to primitives of the dictionary or to the site
// actions of the runtime. What the draft leaves open is decided here and said in
// docs/reference/provider.md: a session is a workspace of its own unless isolation says
// shared, requests on one page run in the order in which they came, every request
// gets exactly one answer, and provider.describe names only what works.
package provider
