package locator

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// PlaceOfRef is the document in which ref was given, with its place in the
// viewport of the tab. Whether the element is still there is for the page
// library to say: see elementOfRef in inject/locator/refs.js. A detached frame is
// element_stale.
func PlaceOfRef(ctx context.Context, p primitives.Page, ref string) (Place, error) {
	frame, err := p.Refs().Frame(ref)
	if err != nil || frame == "" {
		return Place{}, err
	}
	at, err := PlaceOfFrame(ctx, p, frame)
	if err != nil {
		return Place{}, GoneWithFrame(ref, err)
	}
	return at, nil
}

func GoneWithFrame(ref string, err error) error {
	switch fault.CodeOf(err) {
	case fault.FrameNotFound, fault.TargetNotFound, fault.FrameCrossOrigin:
		return primitives.StaleRef(ref, "frame_removed", "the frame in which the ref was given is detached")
	}
	return err
}
