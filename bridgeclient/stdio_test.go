package bridgeclient

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// A line that is too long is skipped, and those after it are read.
func TestALineThatIsTooLongIsSkipped(t *testing.T) {
	in := "short\n" + strings.Repeat("x", 200_000) + "\r\n\nafter\n" + strings.Repeat("y", 200_000)
	s := newStdio(strings.NewReader(in), io.Discard, 100_000)
	defer s.Abort()
	for _, want := range []struct {
		line string
		err  error
	}{{"short", nil}, {"", errLineTooLong}, {"after", nil}, {"", errLineTooLong}, {"", io.EOF}} {
		line, err := s.Read(t.Context())
		if string(line) != want.line || !errors.Is(err, want.err) {
			t.Errorf("read %d bytes, %v: expected %q, %v", len(line), err, want.line, want.err)
		}
	}
}

// The calls that wait have a bound together; one alone may be longer.
func TestCallsThatWaitAreBoundedTogether(t *testing.T) {
	l := newLedger(0)
	call := func(id string, size int) *Call { return &Call{ID: id, frame: make([]byte, size)} }
	first, how := l.arrive(call("1", maxHeld+1), 10)
	if how != isNew {
		t.Fatalf("the first call is told as %d", how)
	}
	if _, how := l.arrive(call("2", 1), 10); how != isTooMany {
		t.Errorf("a call beside it is told as %d: expected %d", how, isTooMany)
	}
	l.answer(first, []byte("{}"))
	if _, how := l.arrive(call("3", 1), 10); how != isNew || l.held != 1 {
		t.Errorf("a call after it is told as %d, with %d bytes held", how, l.held)
	}
}
