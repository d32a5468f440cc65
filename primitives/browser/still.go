package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// stillWait bounds how long fonts and pictures are waited for.
	stillWait = 3 * time.Second
	// stillEnd bounds letting the page go on.
	stillEnd = 2 * time.Second
	// stillOpen is how long a frame may take that is no part of the first picture.
	stillOpen = time.Second
)

// covered is what is painted over masks.
var covered = color.NRGBA{R: 0xff, G: 0x00, B: 0xff, A: 0xff}

// covers is what is to be painted over, and where the picture is of the page, in CSS pixels.
type covers struct {
	Boxes            []struct{ Left, Top, Right, Bottom float64 }
	Width, Left, Top float64
	ScrollX          float64 `json:"scroll_x"`
	ScrollY          float64 `json:"scroll_y"`
}

// captureStill is capture of a page that stands still: two pictures one after the other are equal. What mask finds is
// painted over in both.
func captureStill(
	ctx context.Context, p primitives.Page, in browserScreenshotIn, opts primitives.CaptureOptions,
) (primitives.Image, error) {
	opts.Format, opts.Quality = "png", 0
	opts.Fast = true
	limit := defaultCaptureTimeout
	if in.CaptureTimeoutMS > 0 {
		limit = time.Duration(in.CaptureTimeoutMS) * time.Millisecond
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer goOn(ctx, p)
	arguments := map[string]any{"timeout_ms": min(stillWait, limit/2).Milliseconds()}
	if err := p.Call(bounded, "", "still_begin", arguments, nil); err != nil {
		return nil, err
	}
	for _, f := range p.Frames() {
		if f.Parent != "" {
			short, stop := context.WithTimeout(bounded, stillOpen)
			_ = p.Call(short, f.ID, "still_begin", map[string]any{"timeout_ms": 0}, nil) // one that is late may move
			stop()
		}
	}
	var before []byte
	for {
		var over covers
		if err := p.Call(bounded, "", "still_again", map[string]any{"mask": in.Mask}, &over); err != nil {
			return nil, stillMoving(bounded, ctx, err, before != nil, limit)
		}
		taken, err := capture(bounded, p, in, opts)
		if err != nil {
			return nil, stillMoving(bounded, ctx, err, before != nil, limit)
		}
		picture, err := taken.Bytes()
		if err == nil {
			picture, err = painted(picture, over, opts)
		}
		if err != nil {
			return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "painting over masks")
		}
		if bytes.Equal(before, picture) {
			return base64.StdEncoding.AppendEncode(nil, picture), nil
		}
		before = picture
	}
}

// stillMoving is the failure of a page of which no two pictures were equal in time.
func stillMoving(bounded, ctx context.Context, err error, moved bool, limit time.Duration) error {
	if !moved || bounded.Err() == nil || ctx.Err() != nil {
		return err
	}
	return fault.New(
		fault.ScreenshotCaptureFailed, "the page moves: no two pictures in %s were equal; mask what moves", limit,
	).With("capture_timeout_ms", limit.Milliseconds())
}

// goOn lets the page go on, also when the call has no time left.
func goOn(ctx context.Context, p primitives.Page) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stillEnd)
	defer cancel()
	for _, f := range p.Frames() {
		frame := f.ID
		if f.Parent == "" {
			frame = ""
		}
		_ = p.Call(ctx, frame, "still_end", nil, nil) // a document that is gone needs none
	}
}

// painted is a picture with boxes painted over.
func painted(file []byte, over covers, opts primitives.CaptureOptions) ([]byte, error) {
	if len(over.Boxes) == 0 {
		return file, nil
	}
	in, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	canvas := image.NewNRGBA(image.Rect(0, 0, in.Bounds().Dx(), in.Bounds().Dy()))
	draw.Draw(canvas, canvas.Bounds(), in, in.Bounds().Min, draw.Src)
	x, y := -over.Left, -over.Top
	width := over.Width
	if opts.Beyond {
		x, y = over.ScrollX, over.ScrollY
	}
	if c := opts.Clip; c != nil {
		x, y = x-c.X, y-c.Y
		width = c.Width
	}
	scale := float64(canvas.Bounds().Dx()) / width
	for _, b := range over.Boxes {
		at := image.Rect(
			int(math.Floor((b.Left+x)*scale)), int(math.Floor((b.Top+y)*scale)),
			int(math.Ceil((b.Right+x)*scale)), int(math.Ceil((b.Bottom+y)*scale)),
		)
		draw.Draw(canvas, at.Intersect(canvas.Bounds()), image.NewUniform(covered), image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, canvas)
	return out.Bytes(), err
}
