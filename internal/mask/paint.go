package mask

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"

	"github.com/outrider-run/outrider/primitives/fault"
)

// cover is the colour of what is painted over.
var cover = image.NewUniform(color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff})

// Paint covers rectangles of a picture, in its own pixels. quality is that of a JPEG,
// 0 for a good one.
func Paint(picture []byte, format string, quality int, boxes []image.Rectangle) ([]byte, error) {
	if len(boxes) == 0 {
		return picture, nil
	}
	source, _, err := image.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "reading the picture to paint over secrets")
	}
	canvas, ok := source.(draw.Image)
	if !ok { // JPEG
		rgba := image.NewRGBA(source.Bounds())
		draw.Draw(rgba, rgba.Bounds(), source, source.Bounds().Min, draw.Src)
		canvas = rgba
	}
	for _, b := range boxes {
		draw.Draw(canvas, b.Intersect(canvas.Bounds()), cover, image.Point{}, draw.Src)
	}
	var out bytes.Buffer
	if format == "jpeg" {
		if quality <= 0 {
			quality = 90
		}
		err = jpeg.Encode(&out, canvas, &jpeg.Options{Quality: quality})
	} else {
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, canvas)
	}
	if err != nil {
		return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "writing the picture")
	}
	return out.Bytes(), nil
}
