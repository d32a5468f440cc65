package wire

import (
	"errors"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// TestFitting: what does not fit is made smaller, down to a bound, through errors that say
// more; other errors end it.
func TestFitting(t *testing.T) {
	full := unusable(
		&jetstream.APIError{ErrorCode: insufficientStorage, Description: "insufficient storage"}, "the stream X",
	)
	var asked []int64
	room := int64(100)
	try := func(bytes int64) error {
		asked = append(asked, bytes)
		if bytes > room {
			return full
		}
		return nil
	}
	if err := fitting(1000, 10, try); err != nil || !slices.Equal(asked, []int64{1000, 250, 62}) {
		t.Errorf("got %v after %v", err, asked)
	}
	room, asked = 5, nil
	if err := fitting(40, 10, try); !errors.Is(err, full) || !slices.Equal(asked, []int64{40, 10}) {
		t.Errorf("got %v after %v", err, asked)
	}
	other := errors.New("other")
	if err := fitting(40, 10, func(int64) error { return other }); !errors.Is(err, other) {
		t.Errorf("got %v", err)
	}
}
