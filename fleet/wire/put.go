package wire

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrLost means that somebody else wrote first.
var ErrLost = errors.New("another writer was first")

// Put writes value under key if its revision is still the expected one, 0 for a key that is not
// there, and returns the new revision. A write whose answer was lost may be stored, so each
// failure is followed by a read of the stored value: mine reports whether it is this write. Put
// gives up when ctx ends.
func Put(
	ctx context.Context, b jetstream.KeyValue, key string, value []byte, revision uint64, mine func([]byte) bool,
) (uint64, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		got, err := put(ctx, b, key, value, revision)
		if err == nil {
			return got, nil
		}
		if errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed) {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, errors.Join(context.Cause(ctx), err)
		}
		e, stored := b.Get(ctx, key)
		switch {
		case stored == nil && mine(e.Value()):
			return e.Revision(), nil
		case stored == nil && e.Revision() != revision, revision != 0 && errors.Is(stored, jetstream.ErrKeyNotFound):
			return 0, ErrLost
		}
		if gone := Sleep(ctx, wait); gone != nil {
			return 0, errors.Join(gone, err)
		}
	}
}

func put(ctx context.Context, b jetstream.KeyValue, key string, value []byte, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	if revision == 0 {
		return b.Create(ctx, key, value)
	}
	return b.Update(ctx, key, value, revision)
}

// Sleep waits for a time or for the end of ctx, whose cause it then returns.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Again calls do until it succeeds, fails for good, or ctx ends: a server that is
// started again, or whose leader moves, is there after a moment. do gets a context
// that bounds one attempt.
func Again(ctx context.Context, do func(ctx context.Context) error) error {
	return AgainEach(ctx, RequestTimeout, do)
}

// AgainEach is Again for attempts that may take as long as each.
func AgainEach(ctx context.Context, each time.Duration, do func(ctx context.Context) error) error {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		one, cancel := context.WithTimeout(ctx, each)
		err := do(one)
		cancel()
		if err == nil || !passing(err) {
			return err
		}
		if gone := Sleep(ctx, wait); gone != nil {
			return errors.Join(gone, err)
		}
	}
}

// passing reports whether an error may be gone after a moment.
func passing(err error) bool {
	for _, e := range []error{
		nats.ErrReconnectBufExceeded, nats.ErrTimeout, context.DeadlineExceeded, nats.ErrNoResponders,
		nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrStaleConnection,
		jetstream.ErrNoStreamResponse,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503
}
