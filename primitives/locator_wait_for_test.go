package primitives_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

func TestWaitGoesOnInTheNewDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		page := &scripted{answer: func(c scriptedCall) (any, error) {
			if n++; n < 3 {
				time.Sleep(300 * time.Millisecond)
				return nil, fault.New(fault.PageNavigated, "the document was replaced")
			}
			return map[string]any{}, nil
		}}
		res := catalog.Standard().Invoke(
			t.Context(), page, "locator.wait_for", json.RawMessage(`{"locator":{"selector":"a"}}`),
		)
		if res.Err != nil || string(res.Payload) != `{"matched":true,"state":"visible","elapsed_ms":600}` {
			t.Fatalf("got %s, %v", res.Payload, res.Err)
		}
		for i, want := range []float64{1000, 700, 400} {
			if got := page.calls[i].args["timeout_ms"]; got != want {
				t.Errorf("call %d: timeout_ms is %v, want %v", i, got, want)
			}
		}
	})
}

func TestWaitEndsWhenNavigationsUseUpTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := &scripted{answer: func(c scriptedCall) (any, error) {
			time.Sleep(400 * time.Millisecond)
			return nil, fault.New(fault.PageNavigated, "the document was replaced")
		}}
		res := catalog.Standard().Invoke(
			t.Context(), page, "locator.wait_for", json.RawMessage(`{"locator":{"selector":"a"}}`),
		)
		if fault.CodeOf(asError(res.Err)) != fault.Timeout || len(page.calls) != 3 {
			t.Errorf("got %v after %d calls, want timeout after 3", res.Err, len(page.calls))
		}
	})
}

func TestWaitForAFrame(t *testing.T) {
	frameFault := fault.New(fault.FrameNotFound, "no frame")
	for _, c := range []struct {
		name, state string
		want        fault.Code
	}{
		{"visible", "visible", fault.Timeout},
		{"attached", "attached", fault.Timeout},
		{"hidden", "hidden", ""},
		{"detached", "detached", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				page := &scripted{answer: func(sc scriptedCall) (any, error) {
					if ms, ok := sc.args["timeout_ms"].(float64); ok {
						time.Sleep(time.Duration(ms) * time.Millisecond)
					}
					return nil, frameFault
				}}
				start := time.Now()
				res := catalog.Standard().Invoke(
					t.Context(), page, "locator.wait_for",
					json.RawMessage(`{"locator":{"frame":"#f"},"timeout_ms":500,"state":"`+c.state+`"}`),
				)
				if got := fault.CodeOf(asError(res.Err)); got != c.want {
					t.Fatalf("got %v, want %q", res.Err, c.want)
				}
				d := time.Since(start)
				if c.want == fault.Timeout && (d < 500*time.Millisecond || d > 600*time.Millisecond) {
					t.Errorf("took %s, want about 500ms", d)
				}
			})
		})
	}
}
