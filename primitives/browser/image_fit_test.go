package browser

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// noise is an image that does not compress, so that every rung of the ladder
// is needed.
func noise(w, h int) *image.RGBA {
	r := rand.New(rand.NewPCG(1, 2))
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

func asPNG(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t testing.TB, m image.Image, q int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: q}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFitImage(t *testing.T) {
	big := noise(640, 480)
	for _, c := range []struct {
		name       string
		data       []byte
		limits     imageLimits
		format     string
		w, h       int // 0: only smaller than the source
		reencoded  bool
		overBudget bool
	}{
		{"no limits", asPNG(t, big), imageLimits{}, "png", 640, 480, false, false},
		{
			"limits that hold already", asJPEG(t, big, 80),
			imageLimits{MaxWidth: 640, MaxHeight: 480, MaxBytes: 1 << 20}, "jpeg", 640, 480, false, false,
		},
		{"never enlarges", asPNG(t, big), imageLimits{MaxWidth: 4096, MaxHeight: 4096}, "png", 640, 480, false, false},
		{"width", asPNG(t, big), imageLimits{MaxWidth: 320}, "png", 320, 240, true, false},
		{"height", asPNG(t, big), imageLimits{MaxHeight: 120}, "png", 160, 120, true, false},
		{
			"the narrower limit wins", asJPEG(t, big, 80),
			imageLimits{MaxWidth: 320, MaxHeight: 120}, "jpeg", 160, 120, true, false,
		},
		{"budget turns png into jpeg", asPNG(t, big), imageLimits{MaxBytes: 300 << 10}, "jpeg", 640, 480, true, false},
		{"budget lowers the size at last", asPNG(t, big), imageLimits{MaxBytes: 20 << 10}, "jpeg", 0, 0, true, false},
		{"budget and width", asPNG(t, big), imageLimits{MaxBytes: 30 << 10, MaxWidth: 600}, "jpeg", 0, 0, true, false},
		{"budget nobody can meet", asPNG(t, big), imageLimits{MaxBytes: 10}, "jpeg", 0, 0, true, true},
		{"converted", asPNG(t, big), imageLimits{Format: "jpeg", Quality: 60}, "jpeg", 640, 480, true, false},
		{
			"converted and scaled", asPNG(t, big),
			imageLimits{Format: "jpeg", MaxWidth: 320}, "jpeg", 320, 240, true, false,
		},
		{"one pixel limit", asPNG(t, big), imageLimits{MaxWidth: 1, MaxHeight: 1}, "png", 1, 1, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := fitImage(t.Context(), c.data, c.limits)
			if err != nil {
				t.Fatal(err)
			}
			cfg, format, err := image.DecodeConfig(bytes.NewReader(got.Data))
			if err != nil {
				t.Fatalf("the result does not decode: %v", err)
			}
			if format != c.format || got.Format != c.format || cfg.Width != got.Width || cfg.Height != got.Height {
				t.Errorf(
					"got %s %dx%d, really %s %dx%d, want %s",
					got.Format, got.Width, got.Height, format, cfg.Width, cfg.Height, c.format,
				)
			}
			if c.w != 0 && (got.Width != c.w || got.Height != c.h) || c.w == 0 && got.Width >= 640 {
				t.Errorf("size %dx%d, want %dx%d", got.Width, got.Height, c.w, c.h)
			}
			if got.Reencoded != c.reencoded || got.OverBudget != c.overBudget || got.Resized != (got.Width != 640) {
				t.Errorf("reencoded %v over %v resized %v", got.Reencoded, got.OverBudget, got.Resized)
			}
			if !c.reencoded && !bytes.Equal(got.Data, c.data) {
				t.Error("bytes changed although nothing had to")
			}
			if b := c.limits.MaxBytes; b > 0 && !c.overBudget && len(got.Data) > b {
				t.Errorf("%d bytes, want at most %d", len(got.Data), b)
			}
			if got.SourceWidth != 640 || got.SourceHeight != 480 {
				t.Errorf("source %dx%d", got.SourceWidth, got.SourceHeight)
			}
		})
	}
}

func TestFitImageKeepsThePicture(t *testing.T) {
	// Left half red, right half blue: still so after scaling and JPEG.
	m := image.NewRGBA(image.Rect(0, 0, 400, 200))
	for y := range 200 {
		for x := range 400 {
			c := color.RGBA{R: 220, A: 255}
			if x >= 200 {
				c = color.RGBA{B: 220, A: 255}
			}
			m.Set(x, y, c)
		}
	}
	got, err := fitImage(t.Context(), asPNG(t, m), imageLimits{MaxWidth: 100, MaxBytes: 1500})
	if err != nil {
		t.Fatal(err)
	}
	out, err := decodeRGBA(got.Data)
	if err != nil {
		t.Fatal(err)
	}
	l, r := out.RGBAAt(out.Rect.Dx()/4, out.Rect.Dy()/2), out.RGBAAt(out.Rect.Dx()*3/4, out.Rect.Dy()/2)
	if l.R < 180 || l.B > 60 || r.B < 180 || r.R > 60 {
		t.Errorf("left %v, right %v, want red and blue", l, r)
	}
}

func TestFitImageRefusesWhatIsNoImage(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("<html>"), asPNG(t, noise(4, 4))[:20]} {
		if _, err := fitImage(t.Context(), data, imageLimits{MaxWidth: 1}); err == nil {
			t.Errorf("%d bytes accepted", len(data))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fitImage(ctx, asPNG(t, noise(64, 64)), imageLimits{MaxWidth: 8}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func BenchmarkFitViewport(b *testing.B) {
	data := asPNG(b, noise(1280, 720))
	for b.Loop() {
		if _, err := fitImage(b.Context(), data, imageLimits{MaxWidth: 960, MaxHeight: 960, Quality: 60}); err != nil {
			b.Fatal(err)
		}
	}
}
