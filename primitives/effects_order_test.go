package primitives_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// unansweredPage gets the watch of effects at once and answers it when answer is closed.
type unansweredPage struct {
	primitives.Page
	frames []primitives.FrameInfo
	answer chan struct{}
}

func (p *unansweredPage) Frames() []primitives.FrameInfo { return p.frames }

func (p *unansweredPage) Watch(context.Context) (primitives.PageWatch, error) {
	return nil, fault.New(fault.TabClosed, "this page has no events")
}

func (p *unansweredPage) Call(ctx context.Context, _ primitives.FrameID, _ string, _, _ any) error {
	primitives.Sent(ctx)
	select {
	case <-p.answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An action that finds its element first does not wait for the answer of its watch, which comes before that of the
// page call that finds it. Input waits for it always, and so does what has no such page call or another process.
func TestAnActionFollowsItsWatch(t *testing.T) {
	here, other := primitives.FrameInfo{ID: "a"}, primitives.FrameInfo{ID: "b", Parent: "a", Remote: true}
	for _, c := range []struct {
		name, args string
		frames     []primitives.FrameInfo
		waits      bool
	}{
		{"of an element", `{"locator":{"role":"button"}}`, []primitives.FrameInfo{here}, false},
		{"of a ref", `{"ref":"e1"}`, []primitives.FrameInfo{here, {ID: "c", Parent: "a"}}, false},
		{"of a key", `{"key":"Enter","locator":null}`, []primitives.FrameInfo{here}, true},
		{"beside a frame of another process", `{"ref":"e1"}`, []primitives.FrameInfo{here, other}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &unansweredPage{frames: c.frames, answer: make(chan struct{})}
				acts, sends := make(chan struct{}), make(chan struct{})
				go func() {
					ctx, end := primitives.WatchEffects(t.Context(), p, []byte(c.args))
					defer end()
					close(acts)
					primitives.BeforeInput(ctx)
					close(sends)
				}()
				synctest.Wait()
				if waits := !closed(acts); waits != c.waits {
					t.Errorf("the action waits: %t, want %t", waits, c.waits)
				}
				if closed(sends) {
					t.Error("input is sent before the watch has begun")
				}
				close(p.answer)
				synctest.Wait()
				if !closed(sends) {
					t.Error("input is not sent when the watch has begun")
				}
			})
		})
	}
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
