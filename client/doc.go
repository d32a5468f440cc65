// Package client has every primitive of Outrider as a function with arguments and a result of its own types. It
// sends calls through a [Caller] and decides nothing: an outrider.Tab is one. Go programs that need more than the
// methods of a tab call it, and so does the root package.
//
//	r, err := client.PageSnapshot(ctx, tab, client.PageSnapshotArgs{})
//
// An argument whose zero value means something else than its absence is a pointer: new(5000), new(true).
package client

import "context"

// Caller runs one primitive by its name and decodes its value into result, which may be nil.
type Caller interface {
	CallInto(ctx context.Context, primitive string, arguments, result any) error
}
