package browser

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// drawnPage describes itself only while its picture is taken.
type drawnPage struct {
	primitives.Page
	capturing chan struct{}
	refuses   error
}

func (p *drawnPage) Call(ctx context.Context, _ primitives.FrameID, _ string, _, out any) error {
	select {
	case <-p.capturing:
	case <-ctx.Done():
		return ctx.Err()
	}
	if p.refuses != nil {
		return p.refuses
	}
	return json.Unmarshal([]byte(`{"url":"http://example.test/","viewport":{"width":8}}`), out)
}

func (p *drawnPage) Capture(ctx context.Context, _ primitives.CaptureOptions) (primitives.Image, error) {
	close(p.capturing)
	if p.refuses != nil {
		<-ctx.Done() // the picture of a page that cannot be described is not waited for
		return nil, ctx.Err()
	}
	return primitives.Image("AAAA"), nil
}

func TestScreenshotIsTakenAndDescribedAtOnce(t *testing.T) {
	for _, refuses := range []error{nil, fault.New(fault.DialogOpen, "a dialog is open")} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p := &drawnPage{capturing: make(chan struct{}), refuses: refuses}
		var page pageShown
		_, err := captureDescribed(ctx, p, browserScreenshotIn{}, primitives.CaptureOptions{}, &page)
		if !errors.Is(err, refuses) || err != nil && fault.CodeOf(err) != fault.DialogOpen {
			t.Errorf("got %v, want %v", err, refuses)
		}
		if refuses == nil && page.Viewport.Width != 8 {
			t.Errorf("got %+v", page)
		}
	}
}
