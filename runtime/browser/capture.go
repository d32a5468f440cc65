package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Capture implements primitives.Page.
func (t *Tab) Capture(ctx context.Context, opts primitives.CaptureOptions) ([]byte, error) {
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
	if c := opts.Clip; c != nil {
		req.Clip = &proto.PageViewport{X: c.X, Y: c.Y, Width: c.Width, Height: c.Height, Scale: 1}
	}
	params, err := json.Marshal(req)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the capture")
	}
	p, err := t.locate(ctx, "")
	if err != nil {
		return nil, t.b.explain(err, "capturing the page")
	}
	calls, err := t.b.c.start(ctx, command{session: t.s.id, method: req.ProtoReq(), params: params})
	if err != nil {
		return nil, t.b.explain(err, "capturing the page")
	}
	result, err := t.awaitPage(ctx, place{s: p.s, doc: newDocument(), life: p.life, dialogs: p.dialogs}, calls[0])
	if err != nil {
		f := fault.From(t.b.explain(err, "capturing the page"))
		if f.Code == fault.Internal {
			f.Code = fault.ScreenshotCaptureFailed
		}
		return nil, f
	}
	data := plainString(member(result, "data"))
	image := make([]byte, base64.StdEncoding.DecodedLen(len(data)))
	n, err := base64.StdEncoding.Decode(image, data)
	if err != nil || n == 0 {
		return nil, &fault.Error{Code: fault.ScreenshotCaptureFailed, Message: "the browser gave no image", Err: err}
	}
	return image[:n], nil
}
