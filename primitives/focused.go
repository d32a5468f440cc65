package primitives

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/outrider-run/outrider/primitives/fault"
)

// callFocused asks fn in the frame that has the focus, beginning with the main
// frame. A frame whose focused element is itself a frame answers with
// {"descend": handle, "view"} and has changed nothing; the view is passed on to
// the next frame as a member of the arguments.
func callFocused(ctx context.Context, p Page, fn string, args map[string]any, out any) error {
	return callFocusedFrom(ctx, p, "", fn, args, out)
}

// callFocusedFrom is callFocused beginning with another frame.
func callFocusedFrom(ctx context.Context, p Page, frame FrameID, fn string, args map[string]any, out any) error {
	if args == nil {
		args = map[string]any{}
	}
	for range maxFrameDepth {
		var raw json.RawMessage
		if err := p.Call(ctx, frame, fn, args, &raw); err != nil {
			return err
		}
		var next struct {
			Descend string          `json:"descend"`
			View    json.RawMessage `json:"view"`
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
		args = withView(args, next.View)
	}
	return fault.New(fault.Internal, "frames are nested deeper than %d", maxFrameDepth)
}

// withView is args with the view of a frame; args itself stays as it is.
func withView(args map[string]any, view json.RawMessage) map[string]any {
	out := maps.Clone(args)
	out["view"] = view
	return out
}
