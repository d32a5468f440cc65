package siteaction

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// watched is a page whose waits for a change end as the test says.
type watched struct {
	primitives.Page
	over func(ctx context.Context) (changed bool, err error)
}

// shows is a tab with one page.
type shows struct {
	Tab
	page primitives.Page
}

func (s shows) LivePage(context.Context) (primitives.Page, error) { return s.page, nil }

func (w *watched) Call(ctx context.Context, _ primitives.FrameID, function string, _, out any) error {
	if function != "await_change" {
		return nil
	}
	changed, err := w.over(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(
		map[bool][]byte{true: []byte(`{"changed":true}`), false: []byte(`{"changed":false}`)}[changed], out,
	)
}

func TestAttemptsWakeOnChanges(t *testing.T) {
	const never = time.Hour // far beyond the time of a test
	for _, tt := range []struct {
		name   string
		over   func(context.Context) (bool, error)
		pause  time.Duration
		waited bool // the whole pause
	}{
		{"a change", func(context.Context) (bool, error) { return true, nil }, never, false},
		{"another document", func(context.Context) (bool, error) {
			return false, fault.New(fault.PageNavigated, "gone")
		}, never, false},
		{"no change", func(ctx context.Context) (bool, error) {
			<-ctx.Done()
			return false, ctx.Err()
		}, 30 * time.Millisecond, true},
		{"a wait that fails", func(context.Context) (bool, error) {
			return false, fault.New(fault.Internal, "broken")
		}, 30 * time.Millisecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := &watched{over: tt.over}
			a := &Actions{Tab: shows{page: page}}
			begin := time.Now()
			if err := a.changed(t.Context(), tt.pause); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); tt.waited && took < tt.pause {
				t.Errorf("took %s of a pause of %s", took, tt.pause)
			}
		})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	page := &watched{over: func(ctx context.Context) (bool, error) { <-ctx.Done(); return false, ctx.Err() }}
	if err := (&Actions{Tab: shows{page: page}}).changed(ended, never); err == nil {
		t.Error("a call that has ended goes on")
	}
}
