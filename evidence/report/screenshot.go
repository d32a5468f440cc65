package report

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"strings"
)

// maxScreenshots is how many pictures of a run are saved as files.
const maxScreenshots = 200

// outlineColour and outlineWidth are those of an outline in a saved picture.
var outlineColour = color.RGBA{R: 0xd6, G: 0x1f, B: 0x3a, A: 0xff}

const outlineWidth = 3

// SaveScreenshots writes the pictures of tests and steps that are not well into a folder, with their
// outlines drawn, and notes each where it belongs. A picture that has a file already keeps it.
func (r *Run) SaveScreenshots(to Folder, dir string) error {
	n, made := 0, false
	var failed []error
	r.Walk(func(_ []string, t *Test) {
		if t.Screenshot == nil || !t.Outcome.shows() || t.PictureFile != "" || n == maxScreenshots {
			return
		}
		n++
		content, ext, err := t.Screenshot.Outlined()
		if err == nil && !made {
			err = to.MkdirAll(dir, 0o755)
			made = err == nil
		}
		path := filepath.Join(dir, fmt.Sprintf("%03d-%s%s", n, FileName(t.Name), ext))
		if err == nil {
			err = to.WriteFile(path, content, 0o644)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("the picture of %s could not be written: %w", line(t.Name), err))
			return
		}
		t.PictureFile = path
	})
	return errors.Join(failed...)
}

// Outlined is the picture as a file, with its outlines drawn.
func (p *Screenshot) Outlined() (content []byte, ext string, err error) {
	head, text, _ := strings.Cut(p.DataURL, ",")
	content, err = base64.StdEncoding.DecodeString(text)
	ext = ".png"
	if strings.HasPrefix(head, "data:image/jpeg") {
		ext = ".jpg"
	}
	if err != nil || len(p.Outlines) == 0 {
		return content, ext, err
	}
	decoded, _, err := image.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, ext, err
	}
	canvas := image.NewRGBA(decoded.Bounds())
	draw.Draw(canvas, canvas.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	scale := 1.0
	if p.Width > 0 {
		scale = float64(canvas.Bounds().Dx()) / p.Width
	}
	for _, b := range p.Outlines {
		at := func(x, y float64) image.Point { return image.Pt(int(x*scale), int(y*scale)).Add(canvas.Bounds().Min) }
		inner := image.Rectangle{Min: at(b.X, b.Y), Max: at(b.X+b.Width, b.Y+b.Height)}
		outer := inner.Inset(-outlineWidth)
		for _, side := range []image.Rectangle{
			{outer.Min, image.Pt(outer.Max.X, inner.Min.Y)}, {image.Pt(outer.Min.X, inner.Max.Y), outer.Max},
			{outer.Min, image.Pt(inner.Min.X, outer.Max.Y)}, {image.Pt(inner.Max.X, outer.Min.Y), outer.Max},
		} {
			draw.Draw(canvas, side, image.NewUniform(outlineColour), image.Point{}, draw.Src)
		}
	}
	var out bytes.Buffer
	if ext == ".jpg" {
		err = jpeg.Encode(&out, canvas, &jpeg.Options{Quality: 80})
	} else {
		err = png.Encode(&out, canvas)
	}
	return out.Bytes(), ext, err
}

// FileName makes the name of a test or of a step safe for a file.
func FileName(name string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	return strings.TrimLeft(out[:min(len(out), 60)], ".")
}
