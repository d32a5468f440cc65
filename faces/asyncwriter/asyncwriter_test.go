package asyncwriter_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/outrider-run/outrider/faces/asyncwriter"
)

// A write that nobody takes ends once the outlet drains, and so does every later one.
func TestAnEndIsNotWaitedForByABlockedWrite(t *testing.T) {
	in, out := io.Pipe() // nobody reads it
	defer func() { _ = in.Close() }()
	o := asyncwriter.New(out)
	ended := make(chan error, 1)
	go func() {
		_, err := o.Write([]byte("blocked"))
		ended <- err
	}()
	o.Drain(time.Millisecond)
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write that nobody takes: %v, want that it is closed", err)
	}
	if _, err := o.Write([]byte("later")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a later write: %v, want that it is closed", err)
	}
}

// What is read arrives in order, also while the outlet drains.
func TestWhatIsReadArrives(t *testing.T) {
	var b bytes.Buffer
	o := asyncwriter.New(&b)
	for _, part := range []string{"one ", "two ", "three"} {
		if n, err := o.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("%q: %d bytes, %v", part, n, err)
		}
		o.Drain(time.Minute)
	}
	if b.String() != "one two three" {
		t.Errorf("arrived: %q", b.String())
	}
}
