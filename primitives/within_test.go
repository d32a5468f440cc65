package primitives_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// latePage answers its first call after a time of its own, and every other one with
// it: its thread was busy until then.
type latePage struct {
	primitives.Page
	ready time.Time
}

func (p *latePage) Call(ctx context.Context, _ primitives.FrameID, _ string, _, _ any) error {
	select {
	case <-time.After(time.Until(p.ready)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A short time of a call says nothing of how fast the machine is: a page that works
// and answers late is not one that is stuck.
func TestAShortTimeIsNotASilentPage(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers time.Duration
		within  time.Duration
		want    fault.Code
	}{
		{"at once", 0, 50 * time.Millisecond, ""},
		{"on a busy machine", 2500 * time.Millisecond, 50 * time.Millisecond, ""},
		{"on a busy machine, with no time at all", 2500 * time.Millisecond, 0, ""},
		{"never", time.Hour, 50 * time.Millisecond, fault.PageUnresponsive},
		{"never, within five seconds", time.Hour, 5 * time.Second, fault.PageUnresponsive},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				page := &latePage{ready: began.Add(c.answers)}

				err := primitives.CallWithin(t.Context(), page, "", "any", nil, nil, c.within)

				if c.want == "" && err != nil || c.want != "" && !errors.Is(err, c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				if took := time.Since(began); c.want != "" && took > c.within+4*time.Second {
					t.Errorf("a thread that is stuck was found after %s", took)
				}
			})
		})
	}
}
