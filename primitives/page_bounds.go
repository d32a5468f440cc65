package primitives

import "context"

// Bounds are the origins whose documents a call may read and act on. What a map of somebody
// else does has them; what an agent does has none.
type Bounds interface {
	// Refuses says why a document of an origin may not be touched, nil when it may. An origin
	// is as the browser writes it: https://example.com:8443, file://, or null for a
	// document that nobody else shares an origin with.
	Refuses(origin string) error
}

type boundsKey struct{}

// WithBounds returns a context whose page calls keep to the bounds. A Page checks them in the
// document that a call runs in, so that no navigation comes between the check and the call.
func WithBounds(ctx context.Context, b Bounds) context.Context {
	return context.WithValue(ctx, boundsKey{}, b)
}

// BoundsOf returns the bounds of a context, nil for none.
func BoundsOf(ctx context.Context) Bounds {
	b, _ := ctx.Value(boundsKey{}).(Bounds)
	return b
}

// WithoutBounds is for what the host itself does on behalf of a call: it records, and
// reports where a navigation has led.
func WithoutBounds(ctx context.Context) context.Context {
	if BoundsOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, boundsKey{}, nil)
}

type leavingKey struct{}

// Leaving returns a context in which a navigation leaves the page also when the page asks
// whether to: its question (beforeunload) is answered with yes.
func Leaving(ctx context.Context) context.Context {
	return context.WithValue(ctx, leavingKey{}, true)
}

// IsLeaving reports whether a context is one of Leaving.
func IsLeaving(ctx context.Context) bool {
	leaving, _ := ctx.Value(leavingKey{}).(bool)
	return leaving
}
