package browser

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"

	"golang.org/x/image/draw"

	"github.com/outrider-run/outrider/primitives"
)

// imageLimits says how small an image must become. Zero members do not limit.
type imageLimits struct {
	Format              string // "png" or "jpeg"; "" keeps the format of the image
	MaxWidth, MaxHeight int    // pixels of the image
	MaxBytes            int
	Quality             int // JPEG, 1..100; 0 is defaultJPEGQuality
}

// fittedImage is the outcome of fitImage.
type fittedImage struct {
	Data          []byte
	Format        string // "png" or "jpeg"; a byte budget can turn one into the other
	Width, Height int
	SourceWidth   int
	SourceHeight  int
	Quality       int  // of the JPEG encoding done here; 0 when none was
	Resized       bool // the pixel size changed
	Reencoded     bool
	OverBudget    bool // all attempts were used and MaxBytes is still exceeded
}

const (
	defaultJPEGQuality = 80
	// The ladder of the reference: from PNG to JPEG of at most this quality,
	// then down in steps while above the floor, then smaller pixel sizes.
	firstJPEGQuality = 76
	qualityStep      = 12
	qualityFloor     = 42
	fitAttempts      = 12
	leastScale       = 0.35
	scaleMargin      = 0.92
)

// fitCapture is fitImage for what the browser gave: a picture that fits is not
// decoded, and Data stays nil.
func fitCapture(ctx context.Context, p primitives.Image, limits imageLimits) (fittedImage, error) {
	config, format, err := image.DecodeConfig(p.Reader())
	if err != nil {
		return fittedImage{}, fmt.Errorf("reading the image header: %w", err)
	}
	if limits.fits(config, format, p.Size()) {
		return fittedImage{
			Format:       format,
			Width:        config.Width,
			Height:       config.Height,
			SourceWidth:  config.Width,
			SourceHeight: config.Height,
		}, nil
	}
	data, err := p.Bytes()
	if err != nil {
		return fittedImage{}, fmt.Errorf("decoding the image: %w", err)
	}
	return fitImage(ctx, data, limits)
}

// fits reports whether an image of size bytes can stay as it is.
func (l imageLimits) fits(config image.Config, format string, size int) bool {
	w, h := fitSize(config.Width, config.Height, l.MaxWidth, l.MaxHeight)
	if w != config.Width || h != config.Height {
		return false
	}
	return (l.Format == "" || l.Format == format) && (l.MaxBytes <= 0 || size <= l.MaxBytes)
}

// fitImage makes an encoded image fit limits. It returns the bytes unchanged
// when they fit already; it never enlarges. After fitAttempts it returns the
// smallest result with OverBudget set: a picture that is too large is still
// evidence, and the caller can tell.
func fitImage(ctx context.Context, data []byte, limits imageLimits) (fittedImage, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fittedImage{}, fmt.Errorf("reading the image header: %w", err)
	}
	out := fittedImage{
		Data:         data,
		Format:       format,
		Width:        config.Width,
		Height:       config.Height,
		SourceWidth:  config.Width,
		SourceHeight: config.Height,
	}
	width, height := fitSize(config.Width, config.Height, limits.MaxWidth, limits.MaxHeight)
	within := func(n int) bool { return limits.MaxBytes <= 0 || n <= limits.MaxBytes }
	if limits.fits(config, format, len(data)) {
		return out, nil
	}
	convert := limits.Format != "" && limits.Format != format
	if convert {
		format = limits.Format
	}
	source, err := decodeRGBA(data)
	if err != nil {
		return fittedImage{}, fmt.Errorf("decoding the image: %w", err)
	}
	quality := limits.Quality
	if quality <= 0 {
		quality = defaultJPEGQuality
	}
	scaled := source
	resize := func(w, h int) {
		width, height = w, h
		if w == config.Width && h == config.Height {
			scaled = source
			return
		}
		scaled = image.NewRGBA(image.Rect(0, 0, w, h))
		draw.CatmullRom.Scale(scaled, scaled.Bounds(), source, source.Bounds(), draw.Src, nil)
	}
	encode := func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var b bytes.Buffer
		if format == "png" {
			err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, scaled)
		} else {
			err = jpeg.Encode(&b, scaled, &jpeg.Options{Quality: quality})
		}
		if err != nil {
			return fmt.Errorf("encoding the image: %w", err)
		}
		out.Data = b.Bytes()
		out.Format = format
		out.Width = width
		out.Height = height
		out.Reencoded = true
		out.Quality = 0
		if format == "jpeg" {
			out.Quality = quality
		}
		return nil
	}
	if convert || width != config.Width || height != config.Height {
		resize(width, height)
		if err := encode(); err != nil {
			return fittedImage{}, err
		}
	}
	for range fitAttempts {
		if within(len(out.Data)) {
			break
		}
		switch {
		case format == "png":
			format, quality = "jpeg", min(quality, firstJPEGQuality)
		case quality > qualityFloor:
			quality = max(quality-qualityStep, qualityFloor)
		case width > 1 || height > 1:
			s := max(leastScale, scaleMargin*math.Sqrt(float64(limits.MaxBytes)/float64(len(out.Data))))
			resize(max(1, int(float64(width)*s)), max(1, int(float64(height)*s)))
		}
		if err := encode(); err != nil {
			return fittedImage{}, err
		}
	}
	out.Resized = out.Width != config.Width || out.Height != config.Height
	out.OverBudget = !within(len(out.Data))
	return out, nil
}

// fitSize scales w×h down, keeping its shape, until it is inside the limits.
func fitSize(w, h, maxWidth, maxHeight int) (int, int) {
	s := 1.0
	if maxWidth > 0 && w > maxWidth {
		s = float64(maxWidth) / float64(w)
	}
	if maxHeight > 0 && h > maxHeight {
		s = min(s, float64(maxHeight)/float64(h))
	}
	if s == 1 {
		return w, h
	}
	return max(1, int(math.Round(float64(w)*s))), max(1, int(math.Round(float64(h)*s)))
}

// decodeRGBA decodes to the one pixel format for which scaling and JPEG
// encoding have fast paths.
func decodeRGBA(data []byte) (*image.RGBA, error) {
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if rgba, ok := m.(*image.RGBA); ok {
		return rgba, nil
	}
	out := image.NewRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Src)
	return out, nil
}
