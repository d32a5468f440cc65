package overlay

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
)

// Size of an overlay in CSS pixels, when none is given.
const (
	overlayWidth, overlayHeight = 980, 760
	maxOverlayBytes             = 2 << 20
)

type storedRef struct {
	Scope string `json:"scope,omitempty"`
	Path  string `json:"path"`
}

type overlayLauncher struct {
	ID           string   `json:"id,omitempty"`
	Label        string   `json:"label,omitempty"`
	Title        string   `json:"title,omitempty"`
	Selector     string   `json:"selector,omitempty"`
	Selectors    []string `json:"selectors,omitempty"`
	TextContains string   `json:"text_contains,omitempty"`
	TextEquals   string   `json:"text_equals,omitempty"`
	URLContains  string   `json:"url_contains,omitempty"`
	URLMatches   string   `json:"url_matches,omitempty"`
	Placement    string   `json:"placement,omitempty"`
	MaxInstances int      `json:"max_instances,omitempty"`
}

type overlayOpenIn struct {
	HTML      string            `json:"html"`
	Source    string            `json:"html_source"`
	Template  *storedRef        `json:"template"`
	Data      *storedRef        `json:"data"`
	Title     string            `json:"title"`
	Width     int               `json:"width"`
	Height    int               `json:"height"`
	Launchers []overlayLauncher `json:"launchers"`
}

type overlayLaunchers struct {
	ID        string `json:"id"`
	Label     string `json:"label"`
	Installed int    `json:"installed"`
	Reason    string `json:"reason,omitempty"` // other_url, no_anchor
}

type overlayOpenOut struct {
	OK        bool               `json:"ok"`
	OverlayID string             `json:"overlay_id"`
	Launchers []overlayLaunchers `json:"launchers"`
	Geometry  *overlayRect       `json:"geometry"`
	// Template and Data are the stored files that are shown; null without a template.
	Template *storedRef `json:"template"`
	Data     *storedRef `json:"data"`
}

type overlayRegisterOut struct {
	OK        bool               `json:"ok"`
	OverlayID string             `json:"overlay_id"`
	Launchers []overlayLaunchers `json:"launchers"`
}

// overlayOpen draws a document over the page, in place of the one before.
var overlayOpen = primitives.Define("overlay.open", func(
	ctx context.Context, p primitives.Page, in overlayOpenIn,
) (overlayOpenOut, error) {
	args, err := in.content(p, "overlay.open")
	if err != nil {
		return overlayOpenOut{}, err
	}
	var s struct {
		overlayState
		Launchers []overlayLaunchers `json:"launchers"`
	}
	err = p.Call(ctx, "", "overlay_open", args, &s)
	watchOverlay(p) // also of one that failed
	if err != nil {
		return overlayOpenOut{}, err
	}
	out := overlayOpenOut{OK: true, OverlayID: overlayID, Launchers: s.Launchers, Geometry: s.Geometry}
	if in.Template != nil {
		out.Template, out.Data = in.Template, in.Data
	}
	return out, nil
})

// overlayRegisterLauncher puts buttons on the page that open the overlay. What
// they open is fixed here: a click is answered in the page, without the runtime.
var overlayRegisterLauncher = primitives.Define("overlay.register_launcher", func(
	ctx context.Context, p primitives.Page, in overlayOpenIn,
) (overlayRegisterOut, error) {
	args, err := in.content(p, "overlay.register_launcher")
	if err != nil {
		return overlayRegisterOut{}, err
	}
	out := overlayRegisterOut{OK: true, OverlayID: overlayID}
	err = p.Call(ctx, "", "overlay_launchers", args, &out)
	if err == nil {
		watchOverlay(p)
	}
	return out, err
})

// content is the content that the page library shows.
func (in overlayOpenIn) content(p primitives.Page, primitive string) (map[string]any, error) {
	html, err := in.document(p, primitive)
	if err != nil {
		return nil, err
	}
	if len(html) > maxOverlayBytes {
		return nil, fault.New(fault.PayloadTooLarge, "the overlay has %d bytes", len(html)).
			With("limit_bytes", maxOverlayBytes)
	}
	args := map[string]any{
		"html":   html,
		"title":  in.Title,
		"width":  overlayWidth,
		"height": overlayHeight,
	}
	if in.Title == "" {
		args["title"] = "Report"
	}
	if in.Width > 0 {
		args["width"] = in.Width
	}
	if in.Height > 0 {
		args["height"] = in.Height
	}
	launchers := append([]overlayLauncher{}, in.Launchers...)
	for i := range launchers {
		launchers[i].URLContains = address.Part(launchers[i].URLContains)
		launchers[i].URLMatches = address.Part(launchers[i].URLMatches)
	}
	args["launchers"] = launchers
	return args, nil
}

func (in overlayOpenIn) document(p primitives.Page, primitive string) (string, error) {
	given := 0
	for _, there := range []bool{in.HTML != "", in.Source != "", in.Template != nil} {
		if there {
			given++
		}
	}
	if given != 1 {
		return "", fault.New(fault.InvalidInput, "exactly one of html, html_source and template says what to show")
	}
	if in.HTML != "" && in.Data == nil {
		return in.HTML, nil
	}
	s, err := session.Of(p, primitive, "overlay.template_data")
	if err != nil {
		return "", err
	}
	html := in.HTML
	if in.Source != "" {
		text, err := s.StoredSource(in.Source)
		if err != nil {
			return "", err
		}
		html = string(text)
	}
	if in.Template != nil {
		text, err := s.StoredAsset(in.Template.Scope, in.Template.Path)
		if err != nil {
			return "", err
		}
		html = string(text)
	}
	if in.Data == nil {
		return html, nil
	}
	data, f := s.StoredAsset(in.Data.Scope, in.Data.Path)
	if f != nil {
		return "", f
	}
	var compact bytes.Buffer
	if json.Compact(&compact, data) != nil {
		return "", fault.New(fault.InvalidJSON, "the stored data is not JSON").With("path", in.Data.Path)
	}
	return withData(html, compact.String()), nil
}

// documentStart matches the start of a document before its first content.
var documentStart = lazyregexp.New(`(?is)^\s*(<!doctype[^>]*>)?\s*(<html[^>]*>)?\s*(<head[^>]*>)?`)

// withData puts data where scripts of the template find it, as the first thing
// of the document and in a form that cannot end its element.
func withData(html, data string) string {
	at := len(documentStart().FindString(html))
	element := `<script type="application/json" data-actions-json-overlay-data>` +
		strings.ReplaceAll(data, "<", `\u003c`) + `</script>`
	return html[:at] + element + html[at:]
}
