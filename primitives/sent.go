package primitives

import "context"

type sentKey struct{}

// WhenSent returns a context under which a Page calls sent when the page call has been
// written to the document's process. It may be called more than once, as a call that
// finds its document replaced is sent anew. Calls to one document are answered in
// the order in which they were sent, so whoever waits for this comes after it.
func WhenSent(ctx context.Context, sent func()) context.Context {
	return context.WithValue(ctx, sentKey{}, sent)
}

// Sent is for implementations of Page.
func Sent(ctx context.Context) {
	if sent, ok := ctx.Value(sentKey{}).(func()); ok {
		sent()
	}
}
