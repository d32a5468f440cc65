package primitives

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
)

// placeOfRef is the document in which ref was given, with its place in the
// viewport of the tab. Whether the element is still there is for the page
// library to say: see elementOfRef in inject/refs.js. A frame that is gone is
// element_stale.
func placeOfRef(ctx context.Context, p Page, ref string) (place, error) {
	frame, err := p.Refs().Frame(ref)
	if err != nil || frame == "" {
		return place{}, err
	}
	at, err := placeOf(ctx, p, frame)
	if err != nil {
		return place{}, goneWithFrame(ref, err)
	}
	return at, nil
}

func goneWithFrame(ref string, err error) error {
	switch fault.CodeOf(err) {
	case fault.FrameNotFound, fault.TargetNotFound, fault.FrameCrossOrigin:
		return staleRef(ref, "frame_removed", "the frame in which the ref was given is gone")
	}
	return err
}
