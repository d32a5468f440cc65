package page

import (
	"context"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// Capture implements primitives.Page.
//
// A tab that is not in front draws nothing, and a capture of it may wait for a
// frame for ever. A screencast makes it draw without activating it, so a tiny one
// runs while the capture does.
func (p *Page) Capture(ctx context.Context, opts primitives.CaptureOptions) (primitives.Image, error) {
	if err := p.admitAll(ctx); err != nil {
		return nil, err
	}
	picture, err := p.capture(ctx, opts)
	if err == nil { // it shows what was there when it was taken
		err = p.admitAll(ctx)
	}
	return picture, err
}

func (p *Page) capture(ctx context.Context, opts primitives.CaptureOptions) (primitives.Image, error) {
	req := proto.PageCaptureScreenshot{
		Format:                proto.PageCaptureScreenshotFormatPng,
		FromSurface:           true,
		CaptureBeyondViewport: false,
		OptimizeForSpeed:      opts.Fast,
	}
	if opts.Format == "jpeg" {
		req.Format = proto.PageCaptureScreenshotFormatJpeg
		if opts.Quality > 0 {
			req.Quality = &opts.Quality
		}
	}
	at, err := p.resolveFrame(ctx, "")
	if err != nil {
		return nil, cdp.Explain(err, "capturing the page")
	}
	at.document = world.NewDocument() // a navigation does not end a capture
	if c := opts.Clip; c != nil {
		// The protocol counts from the document's corner.
		x, y := 0.0, 0.0
		if !opts.Beyond {
			x, y, err = p.visualOrigin(ctx, at)
			if err != nil {
				return nil, cdp.Explain(err, "capturing the page")
			}
		}
		req.CaptureBeyondViewport = opts.Beyond
		req.Clip = &proto.PageViewport{X: x + c.X, Y: y + c.Y, Width: c.Width, Height: c.Height, Scale: 1}
	}
	params, err := json.Marshal(req)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the capture")
	}
	commands := []cdp.Command{{Session: p.session.ID, Method: req.ProtoReq(), Params: params}}
	if !p.cast {
		commands = append([]cdp.Command{{
			Session: p.session.ID,
			Method:  "Page.startScreencast",
			Params:  []byte(smallestScreencast),
			OnReply: p.client.LogFailure("Page.startScreencast"),
		}}, commands...)
	}
	calls, err := p.client.Start(ctx, commands...)
	if err != nil {
		return nil, cdp.Explain(err, "capturing the page")
	}
	if !p.cast {
		p.captures.Add(1)
		defer func() {
			if p.captures.Add(-1) == 0 {
				p.client.Post(cdp.Command{Session: p.session.ID, Method: "Page.stopScreencast"})
			}
		}()
	}
	result, err := p.awaitPage(ctx, at, calls[len(calls)-1])
	if err != nil {
		f := fault.From(cdp.Explain(err, "capturing the page"))
		if f.Code == fault.Internal {
			f.Code = fault.ScreenshotCaptureFailed
		}
		return nil, f
	}
	data := cdp.PlainString(cdp.Member(result, "data"))
	if len(data) == 0 {
		return nil, fault.New(fault.ScreenshotCaptureFailed, "the browser gave no image")
	}
	return data, nil
}

// KeepsCast says, before the session begins, that a screencast runs as long as the page is open: captures
// neither need one nor end it.
func (p *Page) KeepsCast() { p.cast = true }

const smallestScreencast = `{"format":"jpeg","quality":1,"maxWidth":8,"maxHeight":8,"everyNthFrame":1000000}`

// visualOrigin returns where in the document the viewport begins, in CSS pixels.
func (p *Page) visualOrigin(ctx context.Context, at resolvedFrame) (x, y float64, err error) {
	calls, err := p.client.Start(ctx, cdp.Command{Session: p.session.ID, Method: "Page.getLayoutMetrics"})
	if err != nil {
		return 0, 0, err
	}
	result, err := p.awaitPage(ctx, at, calls[0])
	if err != nil {
		return 0, 0, err
	}
	var m proto.PageGetLayoutMetricsResult
	if err := json.Unmarshal(result, &m); err != nil || m.CSSVisualViewport == nil {
		return 0, 0, &fault.Error{
			Code:    fault.ScreenshotCaptureFailed,
			Message: "the browser does not say where the viewport is",
			Err:     err,
		}
	}
	return m.CSSVisualViewport.PageX, m.CSSVisualViewport.PageY, nil
}
