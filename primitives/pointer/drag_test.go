package pointer_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// dragPad is a Page that records pointer events and fails at one of them.
type dragPad struct {
	primitives.Page
	events []primitives.MouseEvent
	failAt int
	cancel func()
}

func (d *dragPad) Call(_ context.Context, _ primitives.FrameID, _ string, _, out any) error {
	return json.Unmarshal([]byte(`{"viewport":{"width":800,"height":600,"scroll_x":0,"scroll_y":0}}`), out)
}

func (d *dragPad) Dialog() (primitives.Dialog, bool) { return primitives.Dialog{}, false }

func (d *dragPad) Mouse(ctx context.Context, events ...primitives.MouseEvent) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.events = append(d.events, events...)
	if len(d.events) == d.failAt {
		if d.cancel != nil {
			d.cancel()
			return ctx.Err()
		}
		return fault.New(fault.Internal, "no more")
	}
	return nil
}

// A button that stays down changes the meaning of everything after it, and one
// that is released on the way drops there.
func TestDragReleasesWhereItBeganAfterAFailure(t *testing.T) {
	for _, c := range []struct {
		name   string
		failAt int
		cancel bool
	}{{"the press fails", 2, false}, {"a movement fails", 9, false}, {"the call is cancelled", 9, true}} {
		t.Run(c.name, func(t *testing.T) {
			pad := &dragPad{failAt: c.failAt}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.cancel {
				pad.cancel = cancel
			}
			r := catalog.Standard().Invoke(
				ctx, pad, "pointer.drag", json.RawMessage(`{"from":{"x":10,"y":20},"to":{"x":300,"y":400}}`),
			)
			if r.Err == nil || c.cancel && !errors.Is(r.Err, fault.Cancelled) {
				t.Fatalf("got %v", r.Err)
			}
			last := pad.events[len(pad.events)-1]
			if last.Type != primitives.MouseReleased || last.X != 10 || last.Y != 20 || last.Buttons != 0 {
				t.Errorf("the last event is %+v, want a release at 10,20", last)
			}
		})
	}
}

func TestDragCourse(t *testing.T) {
	for _, c := range []struct {
		args   string
		points int
	}{
		{``, 10}, {`,"steps":4`, 10}, {`,"steps":40`, 40}, {`,"points":3`, 12}, {`,"points":500`, 200},
		{`,"trusted":true,"move_delay_ms":4`, 60}, {`,"trusted":true,"steps":5,"move_delay_ms":4`, 12},
	} {
		pad := &dragPad{}
		r := catalog.Standard().Invoke(
			t.Context(), pad, "pointer.drag",
			json.RawMessage(`{"from":{"x":790,"y":590},"to":{"x":0,"y":0}`+c.args+`}`),
		)
		var out struct{ Points int }
		if r.Err != nil || json.Unmarshal(r.Payload, &out) != nil || out.Points != c.points {
			t.Errorf("%s: got %s %v, want %d points", c.args, r.Payload, r.Err, c.points)
			continue
		}
		// Arrival, press, four to pick up, the points, the end, a small movement there and back, the release.
		if want := c.points + 10; len(pad.events) != want {
			t.Errorf("%s: %d events, want %d", c.args, len(pad.events), want)
		}
		for i, e := range pad.events {
			if e.X < 0 || e.Y < 0 || e.X >= 800 || e.Y >= 600 {
				t.Errorf("%s: event %d lies outside the viewport: %+v", c.args, i, e)
			}
		}
	}
}
