package browser

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/session"
)

type browserScreenshotIn struct {
	Format           string `json:"format"`
	Quality          int    `json:"quality"`
	DelayMS          int    `json:"delay_ms"`
	CaptureTimeoutMS int    `json:"capture_timeout_ms"`
	MaxWidth         int    `json:"max_width"`
	MaxHeight        int    `json:"max_height"`
	MaxKilobytes     int    `json:"max_kilobytes"`
	// MaxKB is the deprecated name of MaxKilobytes.
	MaxKB int `json:"max_kb"`
	// Scale "css" makes one image pixel one CSS pixel, so that positions in the
	// image are click coordinates; "device" keeps the pixels of the screen.
	Scale string `json:"scale"`
	// FullPage captures the whole page without scrolling it, down to
	// longestPage.
	FullPage bool `json:"full_page"`
	// Clip cuts the image to a part of the viewport, or with FullPage of the page.
	Clip *primitives.Rect `json:"clip"`
	// Stable waits until the page stands still: see still.js.
	Stable bool     `json:"stable"`
	Mask   []string `json:"mask"`
	// The element to cut the image to; none is the viewport.
	actionability.ElementTarget
}

// browserScreenshotOut has the members of both upstream forms: the page-side
// one that workflow steps read and the background one of direct calls.
type browserScreenshotOut struct {
	OK              bool               `json:"ok"`
	DataURL         string             `json:"data_url"`
	MimeType        string             `json:"mime_type"`
	ImageBytes      int                `json:"image_bytes"`
	Encoded         encodedImage       `json:"encoded"`
	Viewport        screenshotViewport `json:"viewport"`
	URL             string             `json:"url"`
	CapturedAt      string             `json:"captured_at"`
	SurfaceIdentity string             `json:"surface_identity"`
	// Freshness is always unverified: pixels that changed prove a change, pixels
	// that did not prove nothing.
	Freshness        string          `json:"freshness"`
	DelayMSApplied   int             `json:"delay_ms_applied"`
	IgnoredArguments []string        `json:"ignored_arguments"`
	Compaction       imageCompaction `json:"screenshot_compaction"`
	Note             string          `json:"note"`
	Transport        string          `json:"transport"`
	// Clip is the part of the viewport that the image of a locator or ref shows.
	Clip *primitives.Rect `json:"clip,omitempty"`
	// Cut is the size of a page of which the image shows a part only.
	Cut *pageSize `json:"cut,omitempty"`
}

type pageSize struct {
	Width  float64 `json:"page_width"`
	Height float64 `json:"page_height"`
}

type encodedImage struct {
	Width   int  `json:"width"`
	Height  int  `json:"height"`
	Quality *int `json:"quality"` // of a JPEG; null when the browser chose it, and for PNG
	Resized bool `json:"resized"`
}

type screenshotViewport struct {
	Width            float64 `json:"width"`
	Height           float64 `json:"height"`
	DevicePixelRatio float64 `json:"device_pixel_ratio"`
	ScrollX          float64 `json:"scroll_x"`
	ScrollY          float64 `json:"scroll_y"`
}

type imageCompaction struct {
	Compacted    bool   `json:"compacted"`
	SourceWidth  int    `json:"source_width"`
	SourceHeight int    `json:"source_height"`
	OutputWidth  int    `json:"output_width"`
	OutputHeight int    `json:"output_height"`
	OutputBytes  int    `json:"output_bytes"`
	MaxKilobytes *int   `json:"max_kilobytes"`
	Warning      string `json:"warning,omitempty"`
}

const (
	screenshotNote = "positive visual evidence only: unchanged pixels do not prove an unchanged page; " +
		"image positions are device pixels unless encoded.resized or scale is css"
	// surfaceActive is upstream's only value; a tab in the background is
	// captured here too, without bringing it to the front, and says so.
	surfaceActive = "verified_active_tab"
	surfaceTarget = "verified_target_tab"

	defaultCaptureTimeout = 10 * time.Second

	// longestPage is in CSS pixels, of either side; the browser draws no more.
	longestPage = 16384
)

// browserScreenshot captures what the viewport shows. It neither activates the
// tab nor moves the focus (but see quirks.ScreenshotActivates).
var browserScreenshot = primitives.Define("browser.screenshot", func(
	ctx context.Context, p primitives.Page, in browserScreenshotIn,
) (json.RawMessage, error) {
	l, named, err := actionability.OneTarget(in.Locator, in.Ref, in.FullPage, "full_page")
	if err != nil {
		return nil, err
	}
	if err := primitives.Sleep(ctx, time.Duration(in.DelayMS)*time.Millisecond); err != nil {
		return nil, err
	}
	if s, ok := p.(session.Page); ok && primitives.QuirksOf(p).Has(quirks.ScreenshotActivates) {
		if _, err := s.Session().ActivateTab(ctx, p.Tab().ID); err != nil {
			return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "activating the tab")
		}
	}
	var clip *primitives.Rect
	if named {
		h, err := actionability.Resolve(
			ctx, p, l, actionability.Requirements{Until: "drawn"}, actionability.Timeout(ctx, in.TimeoutMS), false,
		)
		if err != nil {
			return nil, err
		}
		clip = h.Seen
	}
	var page pageShown
	// Nothing of the picture depends on the page: it is described while it is drawn.
	alone := !in.FullPage && in.Scale != "css" && in.MaxWidth == 0 && in.MaxHeight == 0
	if !alone {
		if err := p.Call(ctx, "", "viewport_info", nil, &page); err != nil {
			return nil, err
		}
	}
	if in.FullPage {
		clip = &primitives.Rect{Width: min(page.Page.Width, longestPage), Height: min(page.Page.Height, longestPage)}
	}
	if in.Clip != nil {
		if named {
			return nil, fault.New(fault.InvalidInput, "clip does not go with an element")
		}
		clip = in.Clip
	}
	format := in.Format
	if format == "" {
		format = "png"
	}
	limits := imageLimits{Format: format, MaxWidth: in.MaxWidth, MaxHeight: in.MaxHeight, Quality: in.Quality}
	kilobytes := in.MaxKilobytes
	if kilobytes == 0 {
		kilobytes = in.MaxKB
	}
	limits.MaxBytes = kilobytes << 10
	shown := page.Viewport
	if clip != nil {
		shown.Width, shown.Height = clip.Width, clip.Height
	}
	if in.Scale == "css" {
		limits.MaxWidth = least(limits.MaxWidth, int(math.Round(shown.Width)))
		limits.MaxHeight = least(limits.MaxHeight, int(math.Round(shown.Height)))
	}
	opts := captureOptions(limits, shown)
	opts.Clip, opts.Beyond = clip, in.FullPage
	if in.FullPage && opts.Format == "png" && limits.MaxBytes == 0 {
		opts.Fast = true // of a page so large, encoding is most of the time
	}
	var picture primitives.Image
	if in.Stable || len(in.Mask) > 0 {
		picture, err = captureStill(ctx, p, in, opts)
		if err == nil && alone {
			err = p.Call(ctx, "", "viewport_info", nil, &page)
		}
	} else if alone {
		picture, err = captureDescribed(ctx, p, in, opts, &page)
	} else {
		picture, err = capture(ctx, p, in, opts)
	}
	if err != nil {
		return nil, err
	}
	captured := time.Now()
	fitted, err := fitCapture(ctx, picture, limits)
	if err != nil {
		return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "fitting the image")
	}
	out := describeScreenshot(p.Tab(), in, page.URL, page.Viewport, captured, kilobytes, fitted)
	out.Clip = clip
	if in.FullPage && max(page.Page.Width, page.Page.Height) > longestPage {
		out.Cut = &pageSize{Width: page.Page.Width, Height: page.Page.Height}
	}
	if fitted.Data != nil {
		picture = base64.StdEncoding.AppendEncode(nil, fitted.Data)
	} else {
		out.ImageBytes, out.Compaction.OutputBytes = picture.Size(), picture.Size()
	}
	return out.with(picture)
})

// with is the answer as JSON with the picture in it, which is copied once.
func (out browserScreenshotOut) with(picture primitives.Image) (json.RawMessage, error) {
	out.DataURL = "data:" + out.MimeType + ";base64,"
	b, err := json.Marshal(out)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "encoding the answer")
	}
	head := []byte(`{"ok":true,"data_url":"` + out.DataURL)
	if !bytes.HasPrefix(b, head) {
		return nil, fault.New(fault.Internal, "the answer does not begin with the address of the image")
	}
	all := make([]byte, 0, len(b)+len(picture))
	all = append(append(all, head...), picture...)
	return append(all, b[len(head):]...), nil
}

// captureOptions asks for the wanted format, unless the image will be resized:
// then it is taken without loss, because encoding as JPEG twice shows.
func captureOptions(limits imageLimits, v screenshotViewport) primitives.CaptureOptions {
	opts := primitives.CaptureOptions{Format: limits.Format}
	if opts.Format != "jpeg" {
		return opts
	}
	opts.Quality = limits.Quality
	w, h := int(math.Round(v.Width*v.DevicePixelRatio)), int(math.Round(v.Height*v.DevicePixelRatio))
	if fw, fh := fitSize(w, h, limits.MaxWidth, limits.MaxHeight); fw != w || fh != h {
		return primitives.CaptureOptions{Format: "png", Fast: true}
	}
	return opts
}

// pageShown is the answer of viewport_info.
type pageShown struct {
	URL      string             `json:"url"`
	Viewport screenshotViewport `json:"viewport"`
	Page     struct{ Width, Height float64 }
}

// captureDescribed is capture, with what viewport_info answers at the same time.
func captureDescribed(
	ctx context.Context, p primitives.Page, in browserScreenshotIn, opts primitives.CaptureOptions, page *pageShown,
) (primitives.Image, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	described := make(chan error, 1)
	go func() {
		err := p.Call(ctx, "", "viewport_info", nil, page)
		if err != nil {
			cancel()
		}
		described <- err
	}()
	picture, err := capture(ctx, p, in, opts)
	if err != nil {
		cancel()
	}
	unknown := <-described
	switch {
	case unknown != nil && fault.CodeOf(unknown) != fault.Cancelled:
		return nil, unknown
	case err != nil:
		return nil, err
	}
	return picture, unknown
}

func capture(
	ctx context.Context, p primitives.Page, in browserScreenshotIn, opts primitives.CaptureOptions,
) (primitives.Image, error) {
	timeout := defaultCaptureTimeout
	if in.CaptureTimeoutMS > 0 {
		timeout = time.Duration(in.CaptureTimeoutMS) * time.Millisecond
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	data, err := p.Capture(bounded, opts)
	switch {
	case err == nil && len(data) == 0:
		return nil, fault.New(fault.ScreenshotCaptureFailed, "the browser gave an empty image")
	case err == nil:
		return data, nil
	case bounded.Err() != nil && ctx.Err() == nil:
		return nil, &fault.Error{
			Code: fault.ScreenshotCaptureFailed, Message: "the browser did not capture the page in time", Err: err,
			Evidence: map[string]any{"capture_timeout_ms": timeout.Milliseconds()},
		}
	}
	return nil, fault.Wrap(fault.ScreenshotCaptureFailed, err, "capturing the page")
}

func describeScreenshot(
	tab primitives.TabInfo, in browserScreenshotIn, url string,
	v screenshotViewport, at time.Time, kilobytes int, m fittedImage,
) browserScreenshotOut {
	mime := "image/" + m.Format
	out := browserScreenshotOut{
		OK:               true,
		MimeType:         mime,
		ImageBytes:       len(m.Data),
		Encoded:          encodedImage{Width: m.Width, Height: m.Height, Resized: m.Resized},
		Viewport:         v,
		URL:              url,
		CapturedAt:       jsonout.Time(at),
		SurfaceIdentity:  surfaceTarget,
		Freshness:        "unverified",
		DelayMSApplied:   in.DelayMS,
		IgnoredArguments: []string{},
		Compaction: imageCompaction{
			Compacted:    m.Reencoded,
			SourceWidth:  m.SourceWidth,
			SourceHeight: m.SourceHeight,
			OutputWidth:  m.Width,
			OutputHeight: m.Height,
			OutputBytes:  len(m.Data),
		},
		Note:      screenshotNote,
		Transport: "background_capture",
	}
	if tab.Active {
		out.SurfaceIdentity = surfaceActive
	}
	quality := m.Quality
	if m.Format == "jpeg" && !m.Reencoded {
		quality = in.Quality
	}
	if quality > 0 {
		out.Encoded.Quality = &quality
	}
	if in.Quality > 0 && m.Format == "png" {
		out.IgnoredArguments = append(out.IgnoredArguments, "quality")
	}
	if in.MaxKB > 0 && in.MaxKilobytes > 0 {
		out.IgnoredArguments = append(out.IgnoredArguments, "max_kb")
	}
	if kilobytes > 0 {
		out.Compaction.MaxKilobytes = &kilobytes
	}
	if m.OverBudget {
		out.Compaction.Warning = fmt.Sprintf("the image still has %d bytes after %d attempts", len(m.Data), fitAttempts)
	}
	return out
}

// least is the smaller limit; 0 is none.
func least(a, b int) int {
	if a == 0 {
		return b
	}
	return min(a, b)
}
