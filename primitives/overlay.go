package primitives

import "context"

// This host draws no overlay. Maps for the Chrome extension call these around
// every mutation, often without on_error, so they succeed with the shapes of a
// host that has one and do nothing; geometry is null.

const overlayMenuID = "actions-json-menu"

type overlayHidden struct {
	OK        bool   `json:"ok"`
	OverlayID string `json:"overlay_id"`
	Hidden    bool   `json:"hidden"`
}

type overlayShown struct {
	overlayHidden
	Geometry *Rect `json:"geometry"`
}

type overlayCollapsed struct {
	OK        bool   `json:"ok"`
	OverlayID string `json:"overlay_id"`
	Collapsed bool   `json:"collapsed"`
	Geometry  *Rect  `json:"geometry"`
}

type overlayMoveIn struct {
	Corner string   `json:"corner"`
	Left   *float64 `json:"left"`
	Top    *float64 `json:"top"`
}

type overlayMoved struct {
	OK        bool   `json:"ok"`
	OverlayID string `json:"overlay_id"`
	Geometry  *Rect  `json:"geometry"`
}

type overlayClosed struct {
	OK bool `json:"ok"`
}

var (
	overlayMenuHide = Define("overlay.menu.hide", func(context.Context, Page, struct{}) (overlayHidden, error) {
		return overlayHidden{OK: true, OverlayID: overlayMenuID, Hidden: true}, nil
	})
	overlayMenuShow = Define("overlay.menu.show", func(context.Context, Page, struct{}) (overlayShown, error) {
		return overlayShown{overlayHidden: overlayHidden{OK: true, OverlayID: overlayMenuID}}, nil
	})
	overlayMenuCollapse = Define("overlay.menu.collapse", func(context.Context, Page, struct{}) (overlayCollapsed, error) {
		return overlayCollapsed{OK: true, OverlayID: overlayMenuID, Collapsed: true}, nil
	})
	overlayMenuExpand = Define("overlay.menu.expand", func(context.Context, Page, struct{}) (overlayCollapsed, error) {
		return overlayCollapsed{OK: true, OverlayID: overlayMenuID}, nil
	})
	overlayMenuMove = Define("overlay.menu.move", func(context.Context, Page, overlayMoveIn) (overlayMoved, error) {
		return overlayMoved{OK: true, OverlayID: overlayMenuID}, nil
	})
	overlayClose = Define("overlay.close", func(context.Context, Page, struct{}) (overlayClosed, error) {
		return overlayClosed{OK: true}, nil
	})
)
