package browser_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// A browser that says nothing while it is busy is ended, and who waits for it is told why. One that
// answers, or waits for a processor itself, goes on.
func TestStuckBrowserIsEnded(t *testing.T) {
	const silence = 200 * time.Millisecond
	uses := func(atOnce, most time.Duration) func() (time.Duration, bool) {
		var looks atomic.Int64
		return func() (time.Duration, bool) { return min(time.Duration(looks.Add(1))*atOnce, most), true }
	}
	for _, c := range []struct {
		name    string
		answers bool
		spent   func() (time.Duration, bool)
		ended   bool
	}{
		{"silent and busy", false, uses(silence, time.Hour), true},
		{"silent, and waiting for a processor", false, uses(silence/50, silence/4), false},
		{"busy and answering", true, uses(silence, time.Hour), false},
		{"unknown", false, func() (time.Duration, bool) { return 0, false }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPeer(t)
			b, tab := scripted(t, p, nil)
			var asked atomic.Int32
			counted := make(chan struct{}, 1)
			spent := func() (time.Duration, bool) {
				if asked.Add(1) == 40 {
					counted <- struct{}{}
				}
				return c.spent()
			}
			if !c.answers {
				p.silent("Browser.getVersion")
				p.silent(libraryCall)
			}
			b.WatchStuck(silence, spent, func() { _ = p.Close() })
			if !c.ended {
				if _, known := c.spent(); known {
					<-counted // it was looked at again and again
				}
				if err := b.Err(); err != nil || b.Stuck() {
					t.Errorf("the browser was ended: %v", err)
				}
				return
			}
			err := tab.Call(within(t, patience), "", "f", nil, nil)
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != fault.BrowserLost || f.NextStep == "" {
				t.Errorf("the call ended with %v", err)
			}
			<-b.Done()
			if !b.Stuck() {
				t.Error("nobody is told that it was stuck")
			}
		})
	}
}
