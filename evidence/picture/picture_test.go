package picture_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/evidence/picture"
)

// drawn is a picture of an upright stroke that begins at a part of a pixel, with pixels of its own.
func drawn(t *testing.T, at float64, more map[image.Point]uint8) []byte {
	t.Helper()
	in := image.NewNRGBA(image.Rect(0, 0, 40, 30))
	for y := range 30 {
		for x := range 40 {
			shade := 255.0
			if y >= 5 && y < 25 {
				covered := max(0, min(1, float64(x)+1-(10+at))-max(0, float64(x)+1-(14+at)))
				shade = 255 * (1 - covered)
			}
			g := uint8(shade)
			if own, ok := more[image.Pt(x, y)]; ok {
				g = own
			}
			in.SetNRGBA(x, y, color.NRGBA{g, g, g, 255})
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, in); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestCompare(t *testing.T) {
	plain := drawn(t, 0, nil)
	one := map[image.Point]uint8{{X: 20, Y: 10}: 0}
	beside := map[image.Point]uint8{{X: 14, Y: 10}: 0} // a pixel more of the stroke, as of another digit
	gap := map[image.Point]uint8{{X: 10, Y: 12}: 255}
	shade := map[image.Point]uint8{{X: 20, Y: 10}: 250}
	for _, c := range []struct {
		name      string
		got       []byte
		tolerance picture.Tolerance
		pixels    int
		equal     bool
	}{
		{"the same", plain, picture.Exact, 0, true},
		{"one pixel", drawn(t, 0, one), "", 1, false},
		{"one pixel, loose", drawn(t, 0, one), picture.Loose, 1, true},
		{"one pixel at an edge", drawn(t, 0, beside), picture.Perceptual, 1, false},
		{"one pixel gone", drawn(t, 0, gap), picture.Perceptual, 1, false},
		{"a shade", drawn(t, 0, shade), picture.Perceptual, 0, true},
		{"a shade, exact", drawn(t, 0, shade), picture.Exact, 1, false},
		{"a quarter of a pixel", drawn(t, 0.24, nil), picture.Perceptual, 0, true},
		{"half a pixel", drawn(t, 0.5, nil), picture.Perceptual, 40, false},
	} {
		d, err := picture.Compare(plain, c.got, c.tolerance)
		if err != nil || d.Pixels != c.pixels || d.Equal() != c.equal {
			t.Errorf("%s: %d pixels, equal %t (%v)", c.name, d.Pixels, d.Equal(), err)
		}
		if d.Pixels > 0 && d.PNG() == nil {
			t.Errorf("%s: no picture of the difference", c.name)
		}
	}
	if _, err := picture.Compare(plain, []byte("no picture"), ""); err == nil {
		t.Error("what is no picture is compared")
	}
}

func TestKept(t *testing.T) {
	k := picture.Kept{Folder: t.TempDir(), Name: "cart", Key: picture.Key("HeadlessChrome/156.0.1.2", true)}
	if !strings.HasPrefix(k.Key, "shell-156.") {
		t.Error(k.Key)
	}
	other := k
	other.Key = "chromium-155.linux-amd64"
	if err := other.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_, err := k.Read("--flag")
	if err == nil || !strings.Contains(err.Error(), "only of chromium-155.linux-amd64: run with --flag") {
		t.Error(err)
	}
	if err := k.Write([]byte("y")); err != nil {
		t.Fatal(err)
	}
	if file, err := k.Read(""); err != nil || string(file) != "y" {
		t.Error(err)
	}
}
