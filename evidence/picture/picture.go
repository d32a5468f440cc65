// Package picture compares screenshots with those that were kept, and knows where they are kept. It takes no
// screenshot itself: the expectations of plans and package outridertest do, with browser.screenshot.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
)

// Tolerance says in a word what may differ.
type Tolerance string

// The tolerances.
const (
	// Exact: no pixel may differ.
	Exact Tolerance = "exact"
	// Perceptual, the default: what nobody sees may differ, which is shades that are almost the same and
	// the blend of a pixel on an edge.
	Perceptual Tolerance = "perceptual"
	// Loose: beyond that one pixel of two hundred may differ.
	Loose Tolerance = "loose"
)

// Known reports whether the word is a tolerance; "" is Perceptual.
func (t Tolerance) Known() bool { return t == "" || t == Exact || t == Perceptual || t == Loose }

// loosePart is the part of the pixels that Loose lets differ.
const loosePart = 0.005

// Difference is what is different in two pictures.
type Difference struct {
	Pixels int             // that differ beyond the tolerance
	Of     int             // all of them
	Box    image.Rectangle // around those
	Sizes  [2]image.Point  // of the pictures
	marked *image.NRGBA
	allows int
}

// Equal reports whether the pictures are the same within the tolerance.
func (d Difference) Equal() bool { return d.Sizes[0] == d.Sizes[1] && d.Pixels <= d.allows }

// String says in a line what differs.
func (d Difference) String() string {
	if d.Sizes[0] != d.Sizes[1] {
		return fmt.Sprintf(
			"the size is %d×%d, expected %d×%d", d.Sizes[1].X, d.Sizes[1].Y, d.Sizes[0].X, d.Sizes[0].Y,
		)
	}
	noun := "pixels differ"
	if d.Pixels == 1 {
		noun = "pixel differs"
	}
	return fmt.Sprintf(
		"%d of %d %s, within %d×%d at %d,%d",
		d.Pixels, d.Of, noun, d.Box.Dx(), d.Box.Dy(), d.Box.Min.X, d.Box.Min.Y,
	)
}

// PNG is the second picture, faded, with what differs in red; nil when the sizes differ.
func (d Difference) PNG() []byte {
	if d.marked == nil {
		return nil
	}
	var out bytes.Buffer
	if png.Encode(&out, d.marked) != nil {
		return nil
	}
	return out.Bytes()
}

// largest bounds a picture: 16384 by 16384 would be a gigabyte.
const largest = 64 << 20

// Compare compares two PNG files.
func Compare(want, got []byte, t Tolerance) (Difference, error) {
	if bytes.Equal(want, got) {
		return Difference{}, nil
	}
	a, err := decoded(want)
	if err != nil {
		return Difference{}, fmt.Errorf("reading the picture that was kept: %w", err)
	}
	b, err := decoded(got)
	if err != nil {
		return Difference{}, fmt.Errorf("reading the picture: %w", err)
	}
	return compare(a, b, t), nil
}

func decoded(file []byte) (*image.NRGBA, error) {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if config.Width*config.Height > largest {
		return nil, errors.New("the picture is too large")
	}
	in, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if same, ok := in.(*image.NRGBA); ok && in.Bounds().Min == (image.Point{}) {
		return same, nil
	}
	out := image.NewNRGBA(image.Rect(0, 0, in.Bounds().Dx(), in.Bounds().Dy()))
	draw.Draw(out, out.Bounds(), in, in.Bounds().Min, draw.Src)
	return out, nil
}

func compare(want, got *image.NRGBA, t Tolerance) Difference {
	size := want.Bounds().Size()
	d := Difference{Of: size.X * size.Y, Sizes: [2]image.Point{size, got.Bounds().Size()}}
	if d.Sizes[0] != d.Sizes[1] {
		return d
	}
	if t == Loose {
		d.allows = int(float64(d.Of) * loosePart)
	}
	for y := range size.Y {
		a, b := want.Pix[y*want.Stride:][:4*size.X], got.Pix[y*got.Stride:][:4*size.X]
		if bytes.Equal(a, b) {
			continue
		}
		for x := range size.X {
			if bytes.Equal(a[4*x:4*x+4], b[4*x:4*x+4]) || t != Exact && !seen(want, got, x, y) {
				continue
			}
			if d.marked == nil {
				d.marked = faded(got)
			}
			d.marked.SetNRGBA(x, y, color.NRGBA{R: 0xe0, A: 0xff})
			d.Pixels++
			d.Box = d.Box.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	return d
}

func faded(in *image.NRGBA) *image.NRGBA {
	out := image.NewNRGBA(in.Bounds())
	for i := 0; i < len(in.Pix); i += 4 {
		grey := uint8(255 - (255-luma(in.Pix[i:]))*0.2)
		copy(out.Pix[i:], []byte{grey, grey, grey, 0xff})
	}
	return out
}

// Shades that are almost the same, and edges. Distances of colours are squares in YIQ, where black and white are
// 35215 apart: the least that counts is 12 of 255 shades of grey.
const (
	leastSeen     = 73
	leastEdge     = 40.0 // contrast around a pixel of an edge
	blendOfAnEdge = 0.25 // of that contrast
)

// seen reports whether somebody could see that a pixel is another one.
func seen(want, got *image.NRGBA, x, y int) bool {
	a, b := want.Pix[y*want.Stride+4*x:][:4], got.Pix[y*got.Stride+4*x:][:4]
	if distance(a, b) < leastSeen {
		return false
	}
	// The blend of a pixel on an edge depends on where a glyph begins, to the quarter of a pixel. Such a pixel lies
	// between its neighbours in both pictures, and changes by a part of what they are apart.
	low, high := around(want, x, y)
	l, h := around(got, x, y)
	low, high = min(low, l), max(high, h)
	was, is := luma(a), luma(b)
	contrast := high - low
	between := min(was, is) >= low && max(was, is) <= high
	return contrast < leastEdge || !between || math.Abs(was-is) > blendOfAnEdge*contrast
}

// around is the darkest and the lightest neighbour of a pixel.
func around(in *image.NRGBA, x, y int) (low, high float64) {
	low, high = 255, 0
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			at := image.Pt(x+dx, y+dy)
			if dx == 0 && dy == 0 || !at.In(in.Bounds()) {
				continue
			}
			l := luma(in.Pix[at.Y*in.Stride+4*at.X:])
			low, high = min(low, l), max(high, l)
		}
	}
	return low, high
}

func luma(p []byte) float64 { return 0.299*float64(p[0]) + 0.587*float64(p[1]) + 0.114*float64(p[2]) }

func distance(a, b []byte) float64 {
	r := float64(a[0]) - float64(b[0])
	g := float64(a[1]) - float64(b[1])
	u := float64(a[2]) - float64(b[2])
	y := 0.299*r + 0.587*g + 0.114*u
	i := 0.596*r - 0.274*g - 0.322*u
	q := 0.211*r - 0.523*g + 0.312*u
	alpha := float64(a[3]) - float64(b[3])
	return 0.5053*y*y + 0.299*i*i + 0.1957*q*q + alpha*alpha
}

// Tiles are the parts of so many pixels a side in which pixels differ, by their column and row.
func (d Difference) Tiles(side int) []image.Point {
	var out []image.Point
	seen := map[image.Point]bool{}
	for y := d.Box.Min.Y; y < d.Box.Max.Y && d.marked != nil; y++ {
		for x := d.Box.Min.X; x < d.Box.Max.X; x++ {
			p := d.marked.NRGBAAt(x, y)
			at := image.Pt(x/side, y/side)
			if p.R != p.G && !seen[at] {
				seen[at] = true
				out = append(out, at)
			}
		}
	}
	return out
}
