package primitives_test

import (
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestRefsGoOnWhereADocumentEnded(t *testing.T) {
	var r primitives.Refs
	begin := func(frame primitives.FrameID, prefix string, from int) {
		t.Helper()
		if p, n := r.Begin(frame); p != prefix || n != from {
			t.Errorf("frame %q begins with %q and %d, want %q and %d", frame, p, n, prefix, from)
		}
	}
	begin("", "", 1)
	begin("A", "f1", 1)
	begin("B", "f2", 1)
	r.Given("", 40)
	r.Given("B", 3)
	r.Given("", 12) // an answer that was overtaken
	begin("", "", 40)
	begin("A", "f1", 1)
	begin("B", "f2", 3)
}

func TestARefNamesItsFrame(t *testing.T) {
	var r primitives.Refs
	if _, err := r.Frame("f1e1"); fault.CodeOf(err) != fault.ElementStale {
		t.Errorf("a frame that never was: got %v", err)
	}
	r.Begin("A")
	r.Begin("B")
	for _, c := range []struct {
		ref   string
		frame primitives.FrameID
		ok    bool
	}{
		{"e1", "", true},
		{"e999999", "", true}, // the page library knows whether it was given
		{"f1e1", "A", true},
		{"f2e30", "B", true},
		{"f3e1", "", false},
		{"f0e1", "", false},
		{"f01e1", "", false},
		{"e0", "", false},
		{"e", "", false},
		{"", "", false},
		{"E1", "", false},
		{"e1 ", "", false},
		{"f99999999999999999999e1", "", false},
	} {
		frame, err := r.Frame(c.ref)
		if (err == nil) != c.ok || frame != c.frame {
			t.Errorf("%q: got frame %q and %v, want %q", c.ref, frame, err, c.frame)
		}
		if !c.ok && fault.CodeOf(err) != fault.ElementStale {
			t.Errorf("%q: got code %q", c.ref, fault.CodeOf(err))
		}
	}
}
