package locator

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// CallFocused calls fn in the frame that has the focus, beginning with the main
// frame. A frame whose focused element is itself a frame answers with
// {"descend": handle, "view"} and has changed nothing; the view is passed on to
// the next frame as a member of the arguments.
func CallFocused(ctx context.Context, p primitives.Page, fn string, args map[string]any, out any) error {
	return CallFocusedFrom(ctx, p, "", fn, args, out)
}

// CallFocusedFrom is CallFocused beginning with another frame.
func CallFocusedFrom(
	ctx context.Context, p primitives.Page, frame primitives.FrameID, fn string, args map[string]any, out any,
) error {
	if args == nil {
		args = map[string]any{}
	}
	for range MaxFrameDepth {
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
		args = WithView(args, next.View)
	}
	return fault.New(fault.Internal, "frames are nested deeper than %d", MaxFrameDepth)
}

// WithView is args with the view of a frame; args itself stays as it is.
func WithView(args map[string]any, view json.RawMessage) map[string]any {
	out := maps.Clone(args)
	out["view"] = view
	return out
}
