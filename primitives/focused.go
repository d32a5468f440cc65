package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// callFocused asks fn in the frame that has the focus, beginning with the main
// frame. A frame whose focused element is itself a frame answers with
// {"descend": handle} and has changed nothing.
func callFocused(ctx context.Context, p Page, fn string, args, out any) error {
	return callFocusedFrom(ctx, p, "", fn, args, out)
}

// callFocusedFrom is callFocused beginning with another frame.
func callFocusedFrom(ctx context.Context, p Page, frame FrameID, fn string, args, out any) error {
	for range maxFrameDepth {
		var raw json.RawMessage
		if err := p.Call(ctx, frame, fn, args, &raw); err != nil {
			return err
		}
		var next struct {
			Descend string `json:"descend"`
		}
		if err := json.Unmarshal(raw, &next); err != nil {
			return fault.Translate(fault.Internal, err, "the page library gave no object")
		}
		if next.Descend == "" {
			if out == nil {
				return nil
			}
			if err := json.Unmarshal(raw, out); err != nil {
				return fault.Translate(fault.Internal, err, "the page library gave another shape")
			}
			return nil
		}
		child, err := p.ChildFrame(ctx, frame, next.Descend)
		if err != nil {
			return err
		}
		frame = child
	}
	return fault.New(fault.Internal, "frames are nested deeper than %d", maxFrameDepth)
}
