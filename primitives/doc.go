// Package primitives has the ground that every primitive stands on: the interface Page, the records of the
// dictionary, Define, which binds a handler to its record, and Registry, which runs one by name and checks what goes
// in and out. It holds no handler: each family is a folder below, with its handlers and their records side by side.
// Handlers, the runtime, workflows and projections call it.
package primitives
