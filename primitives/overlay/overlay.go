package overlay

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/session"
)

// The overlay is drawn by the page library and ends with its document. Maps for
// the Chrome extension hide and show it around every mutation, often without
// on_error, so that succeeds also where no overlay is open.

const (
	overlayMenuID = "actions-json-menu"
	overlayID     = "actions-json-overlay"
)

// watchOverlay has the runtime behind p listen to the overlay.
func watchOverlay(p primitives.Page) {
	if s, ok := p.(session.Page); ok {
		s.Session().WatchOverlay()
	}
}

// overlayState is the page library's answer about the overlay.
type overlayState struct {
	Shown     bool         `json:"shown"`
	Hidden    bool         `json:"hidden"`
	Collapsed bool         `json:"collapsed"`
	Geometry  *overlayRect `json:"geometry"`
}

// overlayRect is where the panel is, in CSS pixels of the viewport.
type overlayRect struct {
	primitives.Rect
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

type overlayHidden struct {
	OK        bool   `json:"ok"`
	OverlayID string `json:"overlay_id"`
	Hidden    bool   `json:"hidden"`
}

type overlayShown struct {
	overlayHidden
	// Geometry is nil where no overlay is open.
	Geometry *overlayRect `json:"geometry"`
}

type overlayCollapsed struct {
	OK        bool         `json:"ok"`
	OverlayID string       `json:"overlay_id"`
	Collapsed bool         `json:"collapsed"`
	Geometry  *overlayRect `json:"geometry"`
}

type overlayMoveIn struct {
	Corner string   `json:"corner"`
	Left   *float64 `json:"left"`
	Top    *float64 `json:"top"`
}

type overlayMoved struct {
	OK        bool         `json:"ok"`
	OverlayID string       `json:"overlay_id"`
	Geometry  *overlayRect `json:"geometry"`
}

type overlayClosed struct {
	OK bool `json:"ok"`
}

// overlayMenu calls the page library for op.
func overlayMenu(ctx context.Context, p primitives.Page, op string, args map[string]any) (overlayState, error) {
	if args == nil {
		args = map[string]any{}
	}
	args["op"] = op
	var out overlayState
	if primitives.QuirksOf(p).Has(quirks.OverlayMenuThrows) {
		return out, fault.New(fault.HandlerFailed, "the menu overlay of the extension is not open")
	}
	err := p.Call(ctx, "", "overlay_menu", args, &out)
	return out, err
}

var (
	overlayMenuHide = primitives.Define("overlay.menu.hide", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (overlayHidden, error) {
		_, err := overlayMenu(ctx, p, "hide", nil)
		return overlayHidden{OK: true, OverlayID: overlayMenuID, Hidden: true}, err
	})
	overlayMenuShow = primitives.Define("overlay.menu.show", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (overlayShown, error) {
		s, err := overlayMenu(ctx, p, "show", nil)
		return overlayShown{overlayHidden{OK: true, OverlayID: overlayMenuID}, s.Geometry}, err
	})
	overlayMenuCollapse = primitives.Define("overlay.menu.collapse", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (overlayCollapsed, error) {
		s, err := overlayMenu(ctx, p, "collapse", nil)
		return overlayCollapsed{true, overlayMenuID, true, s.Geometry}, err
	})
	overlayMenuExpand = primitives.Define("overlay.menu.expand", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (overlayCollapsed, error) {
		s, err := overlayMenu(ctx, p, "expand", nil)
		return overlayCollapsed{true, overlayMenuID, false, s.Geometry}, err
	})
	overlayMenuMove = primitives.Define("overlay.menu.move", func(
		ctx context.Context, p primitives.Page, in overlayMoveIn,
	) (overlayMoved, error) {
		args := map[string]any{}
		if in.Corner != "" {
			args["corner"] = in.Corner
		}
		if in.Left != nil {
			args["left"] = *in.Left
		}
		if in.Top != nil {
			args["top"] = *in.Top
		}
		s, err := overlayMenu(ctx, p, "move", args)
		return overlayMoved{true, overlayMenuID, s.Geometry}, err
	})
	overlayClose = primitives.Define("overlay.close", func(
		ctx context.Context, p primitives.Page, _ struct{},
	) (overlayClosed, error) {
		var was overlayState
		if err := p.Call(ctx, "", "overlay_close", nil, &was); err != nil {
			return overlayClosed{}, err
		}
		return overlayClosed{OK: true}, nil
	})
)
