// Package screenshot captures what a page shows and paints over what it shows of secrets:
// fields that hold one, password fields, and texts. It does not decide what is secret
// and asks nothing of a page when nothing is. The host calls it for every picture that
// a primitive takes.
package screenshot

import (
	"context"
	"encoding/base64"
	"errors"
	"image"
	"math"

	"github.com/outrider-run/outrider/internal/mask"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// Capture is page.Capture without the secrets.
func Capture(
	ctx context.Context, page primitives.Page, secrets *mask.Set, opts primitives.CaptureOptions,
) (primitives.Image, error) {
	values := secrets.Shown()
	if len(values) == 0 {
		return page.Capture(ctx, opts)
	}
	before, err := private(ctx, page, values)
	if err != nil {
		return nil, err
	}
	taken, err := page.Capture(ctx, opts)
	if err != nil {
		return nil, err
	}
	after, err := private(ctx, page, values) // what moved meanwhile is covered at both places
	if err != nil {
		return nil, err
	}
	boxes := append(before.inPicture(opts), after.inPicture(opts)...)
	if len(boxes) == 0 {
		return taken, nil
	}
	data, err := taken.Bytes()
	if err != nil {
		return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "decoding the picture")
	}
	config, _, err := image.DecodeConfig(taken.Reader())
	if err != nil {
		return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "reading the picture")
	}
	width := after.Width
	if opts.Clip != nil {
		width = opts.Clip.Width
	}
	pixels := make([]image.Rectangle, len(boxes))
	for i, b := range boxes {
		pixels[i] = scaled(b, float64(config.Width)/width)
	}
	painted, err := mask.Paint(data, opts.Format, opts.Quality, pixels)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, painted), nil
}

type box struct{ Left, Top, Right, Bottom float64 }

// margin is what is painted around a box: glyphs may reach out of it.
const margin = 2

func scaled(b box, by float64) image.Rectangle {
	return image.Rect(
		int(math.Floor((b.Left-margin)*by)), int(math.Floor((b.Top-margin)*by)),
		int(math.Ceil((b.Right+margin)*by)), int(math.Ceil((b.Bottom+margin)*by)),
	)
}

// found is what the documents of a tab say, in pixels of its viewport.
type found struct {
	Boxes            []box
	Width, Left, Top float64
	ScrollX          float64 `json:"scroll_x"`
	ScrollY          float64 `json:"scroll_y"`
}

// inPicture converts the boxes to CSS pixels of the picture.
func (f found) inPicture(opts primitives.CaptureOptions) []box {
	x, y := -f.Left, -f.Top
	if opts.Beyond {
		x, y = f.ScrollX, f.ScrollY
	}
	if c := opts.Clip; c != nil {
		x, y = x-c.X, y-c.Y
	}
	out := make([]box, len(f.Boxes))
	for i, b := range f.Boxes {
		out[i] = box{b.Left + x, b.Top + y, b.Right + x, b.Bottom + y}
	}
	return out
}

// attempts bounds how often the documents are asked again because one was replaced.
const attempts = 5

// private finds what is to be covered, in all frames. A picture of which that cannot be
// known is not taken.
func private(ctx context.Context, page primitives.Page, values []string) (all found, err error) {
	for range attempts {
		all, err = inFrames(ctx, page, values)
		if err == nil || !errors.Is(err, fault.PageNavigated) && !errors.Is(err, fault.FrameNotFound) {
			return all, err
		}
	}
	return all, err
}

func inFrames(ctx context.Context, page primitives.Page, values []string) (found, error) {
	var all found
	if err := page.Call(ctx, "", "private_boxes", map[string]any{"secrets": values}, &all); err != nil {
		return all, err
	}
	for _, f := range page.Frames() {
		if f.Parent == "" {
			continue
		}
		var in found
		at, err := locator.PlaceOfFrame(ctx, page, f.ID)
		if err == nil {
			err = page.Call(ctx, f.ID, "private_boxes", map[string]any{"secrets": values, "view": at.View}, &in)
		}
		if err != nil {
			return all, err
		}
		all.Boxes = append(all.Boxes, in.Boxes...)
	}
	return all, nil
}
