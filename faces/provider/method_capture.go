package provider

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/draw"
	"image/png"
	"math"
	"strings"
)

type rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

type captureIn struct {
	FullPage bool   `json:"full_page"`
	Ref      string `json:"element_ref"`
	Clip     *rect  `json:"clip"`
}

// captured is an encoded image of a page; width and height are its own pixels.
type captured struct {
	base64, mediaType string
	width, height     int
	url               string
}

// screenshot answers an image inline. clip is in CSS pixels of the viewport.
func screenshot(ctx context.Context, r *request) (any, *Failure) {
	var in captureIn
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	shot, failure := r.capture(ctx, in)
	if failure != nil {
		return nil, failure
	}
	return map[string]any{
		"page_id":    pageID(r.page),
		"image":      shot.base64,
		"media_type": shot.mediaType,
		"width":      shot.width,
		"height":     shot.height,
		"url":        shot.url,
	}, nil
}

func (r *request) capture(ctx context.Context, in captureIn) (captured, *Failure) {
	args := targetIn{Ref: in.Ref}.put(map[string]any{})
	if in.FullPage {
		if in.Clip != nil || in.Ref != "" {
			return captured{}, invalidRequest("/full_page", "give one of full_page, clip and element_ref")
		}
		if !r.server.argumentOf("browser.screenshot", "full_page") {
			return captured{}, newFailure(UnsupportedTarget, "this provider captures the viewport, not the full page").
				with("member", "full_page")
		}
		args["full_page"] = true
	}
	if in.Clip != nil && in.Ref != "" {
		return captured{}, invalidRequest("/clip", "give one of full_page, clip and element_ref")
	}
	var shot struct {
		DataURL  string `json:"data_url"`
		MimeType string `json:"mime_type"`
		Encoded  struct {
			Width  int `json:"width"`
			Height int `json:"height"`
		} `json:"encoded"`
		Viewport struct {
			Width float64 `json:"width"`
		} `json:"viewport"`
		URL string `json:"url"`
	}
	if _, err := r.do(ctx, "browser.screenshot", args, &shot); err != nil {
		return captured{}, r.failed(err)
	}
	_, encoded, _ := strings.Cut(shot.DataURL, ",")
	out := captured{encoded, shot.MimeType, shot.Encoded.Width, shot.Encoded.Height, shot.URL}
	if in.Clip == nil && out.width > 0 {
		return out, nil
	}
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return captured{}, newFailure(InternalError, "the image cannot be read")
	}
	if in.Clip == nil {
		size, _, err := image.DecodeConfig(bytes.NewReader(raw))
		if err != nil {
			return captured{}, newFailure(InternalError, "the image cannot be read")
		}
		out.width, out.height = size.Width, size.Height
		return out, nil
	}
	return out.cut(raw, *in.Clip, shot.Viewport.Width)
}

// cut keeps a part of a picture. viewport is the width that the picture shows,
// in CSS pixels.
func (p captured) cut(raw []byte, part rect, viewport float64) (captured, *Failure) {
	whole, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return captured{}, newFailure(InternalError, "the image cannot be read")
	}
	ratio := 1.0
	if viewport > 0 {
		ratio = float64(whole.Bounds().Dx()) / viewport
	}
	from := image.Pt(int(math.Round(part.X*ratio)), int(math.Round(part.Y*ratio)))
	to := image.Pt(int(math.Round((part.X+part.Width)*ratio)), int(math.Round((part.Y+part.Height)*ratio)))
	area := image.Rectangle{from, to}.Intersect(whole.Bounds())
	if area.Empty() {
		return captured{}, invalidRequest("/clip", "clip is outside the viewport")
	}
	kept := image.NewRGBA(image.Rectangle{Max: area.Size()})
	draw.Draw(kept, kept.Bounds(), whole, area.Min, draw.Src)
	var b bytes.Buffer
	if err := png.Encode(&b, kept); err != nil {
		return captured{}, newFailure(InternalError, "the image cannot be encoded")
	}
	p.base64, p.mediaType = base64.StdEncoding.EncodeToString(b.Bytes()), "image/png"
	p.width, p.height = area.Dx(), area.Dy()
	return p, nil
}
